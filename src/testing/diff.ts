/**
 * Compares two objects: as a list of field differences, or as a unified diff of their YAML. List items are matched by
 * their merge keys, so that a moved container does not count as changed.
 */
import { builtInKinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { printPath } from '../merge/apply/field-set.js';
import { fieldElement, type PathElement } from '../merge/apply/path-element.js';
import { elementOrNone } from '../merge/apply/typed.js';
import { type Dialect, dialects } from '../meta/dialect.js';
import { apiVersionOf } from '../meta/gvk.js';
import { schemaInDialect } from '../schema/in-dialect.js';
import type { ListNode, SchemaNode } from '../schema/schema-node.js';
import { writeYaml } from '../text/yaml/index.js';
import { deepEqual, isRecord, own } from '../util/json.js';

/** For more pairs of lines than this, the whole middle part is shown as replaced. */
const MOST_PAIRS = 4_000_000;

const same = (text: string): Line => ({ sign: ' ', text });

const gone = (text: string): Line => ({ sign: '-', text });

const come = (text: string): Line => ({ sign: '+', text });

const CODES: Readonly<Record<Style, string>> = { title: '1', place: '36', '+': '32', '-': '31', ' ': '' };

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

export interface DiffOptions {
  /** The kind that defines the list keys. Built-in kinds are detected; without a kind, items are matched by index. */
  readonly kind?: Kind | undefined;
  /** Includes `metadata.managedFields` and `metadata.resourceVersion`, which change with nearly every write. */
  readonly all?: boolean | undefined;
}

/** An API object, or no object. */
export type Diffable = object | null | undefined;

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

/** The object without the metadata that changes with nearly every write, unless `isAll` is true. */
export function withoutNoise(object: object, isAll: boolean): Readonly<Record<string, unknown>> {
  const record = object as Readonly<Record<string, unknown>>;
  const { metadata } = record;
  if (isAll || !isRecord(metadata)) return record;
  const { managedFields: _managers, resourceVersion: _version, ...rest } = metadata;
  return { ...record, metadata: rest };
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

export interface FormatDiffOptions extends Pick<DiffOptions, 'all'> {
  /** Uses terminal colours. Defaults to false. */
  readonly colour?: boolean | undefined;
  /** The number of context lines around each change. Defaults to 3. */
  readonly context?: number | undefined;
}

/**
 * A unified diff (`diff -u`) without a final line feed; empty if there are no differences.
 *
 * @example
 * for (const { previous, object } of cluster.history(ConfigMap, 'web')) console.log(formatDiff(previous, object));
 */
export function formatDiff(before: Diffable, after: Diffable, options: FormatDiffOptions = {}): string {
  const { colour = false, context = 3, all = false } = options;
  const lines = lineDiff(linesOf(before, all), linesOf(after, all));
  const hunks = hunksOf(lines, context);
  if (hunks.length === 0) return '';
  const paint = colour ? painted : (_style: Style, text: string) => text;
  const header = [paint('title', `--- ${titleOf(before)}`), paint('title', `+++ ${titleOf(after)}`)];
  return [...header, ...hunks.flatMap((hunk) => printHunk(hunk, paint))].join('\n');
}

function linesOf(object: Diffable, isAll: boolean): readonly string[] {
  if (object === null || object === undefined) return [];
  const text = writeYaml(withoutNoise(object, isAll));
  return text.slice(0, -1).split('\n');
}

/** `ConfigMap default/web, version 12` */
function titleOf(object: Diffable): string {
  if (!isRecord(object)) return 'nothing';
  const { kind, metadata } = object;
  const { name, namespace, resourceVersion } = isRecord(metadata) ? metadata : {};
  const place = [namespace, name].filter((part) => typeof part === 'string').join('/');
  const version = typeof resourceVersion === 'string' ? `, version ${resourceVersion}` : '';
  return `${typeof kind === 'string' ? kind : 'object'}${place === '' ? '' : ` ${place}`}${version}`;
}

interface Hunk {
  readonly lines: readonly Line[];
  /** The number of lines before the hunk on each side. */
  readonly before: number;
  readonly after: number;
}

/** The changes with their context lines; changes with overlapping context form one hunk. */
function hunksOf(lines: readonly Line[], context: number): readonly Hunk[] {
  const shown = new Set<number>();
  lines.forEach(({ sign }, index) => {
    if (sign === ' ') return;
    for (let at = Math.max(0, index - context); at <= Math.min(lines.length - 1, index + context); at++) shown.add(at);
  });
  const hunks: { lines: Line[]; before: number; after: number }[] = [];
  let [before, after] = [0, 0];
  lines.forEach((line, index) => {
    if (shown.has(index)) {
      if (!shown.has(index - 1)) hunks.push({ lines: [], before, after });
      hunks[hunks.length - 1]?.lines.push(line);
    }
    if (line.sign !== '+') before++;
    if (line.sign !== '-') after++;
  });
  return hunks;
}

type Style = 'title' | 'place' | '+' | '-' | ' ';

function painted(style: Style, text: string): string {
  return CODES[style] === '' ? text : `\u001b[${CODES[style]}m${text}\u001b[0m`;
}

function printHunk({ lines, before, after }: Hunk, paint: (style: Style, text: string) => string): string[] {
  const left = lines.filter(({ sign }) => sign !== '+').length;
  const right = lines.filter(({ sign }) => sign !== '-').length;
  const place = `@@ -${range(before, left)} +${range(after, right)} @@`;
  return [paint('place', place), ...lines.map(({ sign, text }) => paint(sign, `${sign}${text}`))];
}

/** The range in `diff` format: the first line and the count; an empty range names the line before it. */
function range(linesBefore: number, count: number): string {
  if (count === 1) return String(linesBefore + 1);
  return `${count === 0 ? linesBefore : linesBefore + 1},${count}`;
}

/**
 * Two lists of lines → the shortest way from one to the other, as lines that stay, go and come.
 */

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

export function lineDiff(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const left = before.slice(start, before.length - end);
  const right = after.slice(start, after.length - end);
  return [
    ...before.slice(0, start).map(same),
    ...(left.length * right.length > MOST_PAIRS ? [...left.map(gone), ...right.map(come)] : shortest(left, right)),
    ...before.slice(before.length - end).map(same),
  ];
}

/**
 * Uses the longest common subsequence. `lengths[i][j]` is its length for the lines from i and from j on, so a walk from the
 * start chooses the longer alternative at each step. Removed lines precede added lines.
 */
function shortest(left: readonly string[], right: readonly string[]): Line[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [before, after] = [left[i], right[j]];
    if (before !== undefined && before === after) {
      lines.push(same(before));
      i++;
      j++;
    } else if (before !== undefined && (after === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(gone(before));
      i++;
    } else if (after !== undefined) {
      lines.push(come(after));
      j++;
    }
  }
  return lines;
}
