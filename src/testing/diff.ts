/**
 * Compares two objects as a list of field differences. List items are matched by their merge keys, so that a moved
 * container does not count as changed.
 */
import { builtInKinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { printPath } from '../merge/apply/field-set.js';
import { fieldElement, type PathElement } from '../merge/apply/path-element.js';
import { elementOrNone } from '../merge/apply/typed.js';
import { type Dialect, dialects } from '../meta/dialect.js';
import { type Diffable, type FormatDiffOptions, withoutNoise } from '../meta/format-diff.js';
import { apiVersionOf } from '../meta/gvk.js';
import { schemaInDialect } from '../schema/in-dialect.js';
import type { ListNode, SchemaNode } from '../schema/schema-node.js';
import { deepEqual, isRecord, own } from '../util/json.js';

export interface FieldDifference {
  /** The path as in messages of the server: `.spec.containers[name="web"].image`; items without keys by index. */
  readonly path: string;
  /** `moved`: list items are in another order; `before` and `after` are the whole list. */
  readonly type: 'added' | 'removed' | 'changed' | 'moved';
  /** Absent for `added`. */
  readonly before?: unknown;
  /** Absent for `removed`. */
  readonly after?: unknown;
}

export interface DiffOptions extends Pick<FormatDiffOptions, 'all'> {
  /** The kind that defines the list keys. Built-in kinds are detected; without a kind, items are matched by index. */
  readonly kind?: Kind | undefined;
}

/**
 * The differences between two objects in field order; empty if there are none. A value that exists on one side only is one
 * difference. No object counts as an object without fields.
 *
 * @example
 * diffObjects(before, after) // [{ path: '.data.size', type: 'changed', before: 's', after: 'm' }]
 */
export function diffObjects(before: Diffable, after: Diffable, options: DiffOptions = {}): readonly FieldDifference[] {
  const found: FieldDifference[] = [];
  const schema = schemaFor(options.kind, [after, before]);
  const [left, right] = [before, after].map((object) => withoutNoise(object ?? {}, options.all === true));
  compareRecords(left ?? {}, right ?? {}, { path: [], schema, found });
  return Object.freeze(found);
}

interface Place {
  readonly path: readonly PathElement[];
  readonly schema: SchemaNode | undefined;
  readonly found: FieldDifference[];
}

function compareValues(before: unknown, after: unknown, place: Place): void {
  if (before === after) return;
  if (before === undefined) note('added', { after }, place);
  else if (after === undefined) note('removed', { before }, place);
  else if (isRecord(before) && isRecord(after)) compareRecords(before, after, place);
  else if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, place);
  else if (!deepEqual(before, after)) note('changed', { before, after }, place);
}

function compareRecords(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  { path, schema, found }: Place,
): void {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of names) {
    const field = { path: [...path, fieldElement(name)], schema: schemaOf(schema, name), found };
    compareValues(own(before, name), own(after, name), field);
  }
}

/** The schema of a field or of a map key. */
export function schemaOf(schema: SchemaNode | undefined, name: string): SchemaNode | undefined {
  if (schema?.type === 'object') return schema.fields.get(name)?.node;
  return schema?.type === 'map' ? schema.values : undefined;
}

function compareLists(before: readonly unknown[], after: readonly unknown[], place: Place): void {
  const { path, schema, found } = place;
  const list = schema?.type === 'list' ? schema : undefined;
  const items = list?.items;
  const [left, right] = [keyed(list, before), keyed(list, after)];
  if (left !== undefined && right !== undefined) {
    for (const element of new Set([...left.keys(), ...right.keys()])) {
      compareValues(left.get(element), right.get(element), { path: [...path, element], schema: items, found });
    }
    if (isOtherOrder(left, right)) note('moved', { before, after }, place);
    return;
  }
  for (let index = 0; index < Math.max(before.length, after.length); index++) {
    compareValues(before[index], after[index], { path: [...path, `i:${index}`], schema: items, found });
  }
}

/** The items by merge key; undefined if the items have no unique keys. */
function keyed(list: ListNode | undefined, items: readonly unknown[]): ReadonlyMap<PathElement, unknown> | undefined {
  if (list === undefined || list.listType === 'atomic') return undefined;
  const found = new Map<PathElement, unknown>();
  for (const item of items) {
    const element = elementOrNone(list, item);
    if (element === undefined || found.has(element)) return undefined;
    found.set(element, item);
  }
  return found;
}

function isOtherOrder(left: ReadonlyMap<string, unknown>, right: ReadonlyMap<string, unknown>): boolean {
  const before = [...left.keys()].filter((element) => right.has(element));
  const after = [...right.keys()].filter((element) => left.has(element));
  return before.some((element, index) => element !== after[index]);
}

function note(type: FieldDifference['type'], values: Pick<FieldDifference, 'before' | 'after'>, place: Place): void {
  place.found.push(Object.freeze({ path: printPath(place.path), type, ...values }));
}

/** The schema of the kind, or of the first object that is of a built-in kind. */
export function schemaFor(kind: Kind | undefined, objects: readonly Diffable[]): SchemaNode | undefined {
  for (const object of objects) {
    const { apiVersion, kind: name } = (object ?? {}) as { readonly apiVersion?: unknown; readonly kind?: unknown };
    const known = builtIns().get(`${String(apiVersion)} ${String(name)}`);
    const dialect = known?.dialect ?? dialects[0];
    if (kind !== undefined && dialect !== undefined) return schemaInDialect(kind.schema, dialect);
    if (known !== undefined) return schemaInDialect(known.kind.schema, known.dialect);
  }
  return undefined;
}

interface KnownKind {
  readonly kind: Kind;
  readonly dialect: Dialect;
}

let byName: ReadonlyMap<string, KnownKind> | undefined;

/** Every built-in kind under its names in every dialect. */
function builtIns(): ReadonlyMap<string, KnownKind> {
  byName ??= new Map(
    dialects.flatMap((dialect) =>
      builtInKinds.map((kind): [string, KnownKind] => [
        `${apiVersionOf({ group: dialect.group(kind.group), version: kind.version })} ${kind.kind}`,
        { kind, dialect },
      ]),
    ),
  );
  return byName;
}
