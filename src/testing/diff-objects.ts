/**
 * What is different between two objects, field by field. Items of lists are matched by their keys where the kind has
 * some, so that a container that moved is not a container that changed.
 */
import { builtInKinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { printPath } from '../merge/apply/field-set.js';
import { elementOrNone } from '../merge/apply/typed.js';
import { fieldElement, type PathElement } from '../merge/apply/path-element.js';
import { type Dialect, dialects } from '../meta/dialect.js';
import { apiVersionOf } from '../meta/gvk.js';
import { schemaInDialect } from '../schema/in-dialect.js';
import type { ListNode, Structural } from '../schema/structural.js';
import { deepEqual, isRecord, own } from '../util/json.js';

export interface FieldDifference {
  /** As the server's own messages write it: `.spec.containers[name="web"].image`; items without keys by their place. */
  readonly path: string;
  /** `moved`: the items of a list are in another order; `before` and `after` are the whole list. */
  readonly type: 'added' | 'removed' | 'changed' | 'moved';
  /** Absent when it was added. */
  readonly before?: unknown;
  /** Absent when it was removed. */
  readonly after?: unknown;
}

export interface DiffOptions {
  /** Whose keys of lists count. Built-in kinds are known by their names; without a kind, items are matched by place. */
  readonly kind?: Kind | undefined;
  /** Also `metadata.managedFields` and `metadata.resourceVersion`, which differ with nearly every write. */
  readonly all?: boolean | undefined;
}

/** Anything that looks like an object of the API. */
export type Diffable = object | null | undefined;

/**
 * The differences between two objects, in the order of their fields; empty when there are none. What is there on one side
 * only is one difference, however much is in it. No object at all counts as one without fields.
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

/** The object without what differs with nearly every write, unless that is wanted. */
export function withoutNoise(object: object, isAll: boolean): Readonly<Record<string, unknown>> {
  const record = object as Readonly<Record<string, unknown>>;
  const { metadata } = record;
  if (isAll || !isRecord(metadata)) return record;
  const { managedFields: _managers, resourceVersion: _version, ...rest } = metadata;
  return { ...record, metadata: rest };
}

interface Place {
  readonly path: readonly PathElement[];
  readonly schema: Structural | undefined;
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

/** What the schema says of a field, or of a key of a map. */
export function schemaOf(schema: Structural | undefined, name: string): Structural | undefined {
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

/** The items by what tells them apart; undefined where nothing does. */
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
export function schemaFor(kind: Kind | undefined, objects: readonly Diffable[]): Structural | undefined {
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
