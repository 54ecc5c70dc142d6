/**
 * Compares an object with a manifest. Fields that the manifest does not have, such as server-side defaults, are ignored.
 *
 * - `null` means that the field must be absent.
 * - List items with a key (the `name` of a container, the `type` of a condition) are matched by it; additional items are
 *   allowed. If several items have the same key, each expected item must match a different one. Other lists must be equal
 *   item by item.
 * - Quantities are compared by value (`1000m` equals `1`), but only in fields that hold quantities.
 * - `stringData` of a Secret is compared with `data`.
 */
import { ManifestError, readDocuments } from '../../manifests/read.js';
import type { Diffable } from '../../meta/format-diff.js';
import { Quantity } from '../../meta/quantity.js';
import type { SchemaNode } from '../../schema/schema-node.js';
import { encodeBase64Text } from '../../util/base64.js';
import { isRecord, own } from '../../util/json.js';
import { schemaFor, schemaOf } from '../diff.js';
import { type MatcherResult, nameOf, objectOf, printValue, resultOf } from './result.js';

/** Fields with free-form content. */
const FREE_TEXTS: ReadonlySet<string> = new Set([
  'data',
  'stringData',
  'binaryData',
  'labels',
  'matchLabels',
  'annotations',
]);

/** The ends of paths to quantities, one name per line. The received value may also be only a `resources` object. */
const AMOUNT = new RegExp(
  `(?:${[
    '(?:^|\nresources\n|^resources\n)(?:limits|requests)\n[^\n]*',
    '(?:^|\n)(?:spec|status)\n(?:hard|used|capacity|allocatable|overhead)\n[^\n]*',
    '(?:^|\n)spec\nlimits\n(?:max|min|default|defaultRequest|maxLimitRequestRatio)\n[^\n]*',
    '(?:^|\n)(?:allocatedResources|podFixed)\n[^\n]*',
    '(?:^|\n)emptyDir\nsizeLimit',
    '(?:^|\n)resourceFieldRef\ndivisor',
  ].join('|')})$`,
);

/** A manifest as text (YAML or JSON), or a partial object. */
export type ManifestPart = string | object;

export function toMatchManifest(received: unknown, manifest: ManifestPart): MatcherResult {
  const object = objectOf('toMatchManifest', received);
  const expected = expectedOf(manifest);
  const place: Place = { path: '', amounts: amountsOf(object, expected) };
  const problems = compare(object, expected, place);
  return resultOf(
    problems,
    `${nameOf(object)} is not what the manifest says:`,
    `${nameOf(object)} is what the manifest says, and should not be`,
    problems.length === 0 ? {} : { actual: part(object, expected, place), expected },
  );
}

function expectedOf(manifest: ManifestPart): Readonly<Record<string, unknown>> {
  const value = typeof manifest === 'string' ? readOne(manifest) : manifest;
  if (!isRecord(value)) throw new TypeError('orchplane: toMatchManifest takes the text of a manifest or an object');
  const { stringData, ...rest } = value;
  if (value['kind'] !== 'Secret' || !isRecord(stringData)) return value;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, encodeBase64Text(String(text))]);
  return { ...rest, data: { ...(isRecord(rest['data']) ? rest['data'] : {}), ...Object.fromEntries(encoded) } };
}

function readOne(text: string): unknown {
  const found = readDocuments({ text });
  const [first] = found;
  if (first === undefined || found.length > 1)
    throw new TypeError(`orchplane: toMatchManifest takes one manifest, and the text has ${found.length}`);
  if (first instanceof ManifestError) throw first;
  return first.value;
}

interface Place {
  readonly path: string;
  readonly amounts: AmountPlace;
}

/** The mismatches, one line each. */
function compare(received: unknown, expected: unknown, place: Place): readonly string[] {
  if (expected === null || expected === undefined)
    return received === undefined || received === null ? [] : other(received, expected, place);
  if (isRecord(expected)) {
    if (!isRecord(received)) return other(received, expected, place);
    return Object.entries(expected).flatMap(([key, value]) => compare(own(received, key), value, below(place, key)));
  }
  if (Array.isArray(expected)) {
    if (Array.isArray(received)) return compareLists(received, expected, place);
    // The server omits empty lists.
    return received === undefined && expected.length === 0 ? [] : other(received, expected, place);
  }
  return isSame(received, expected, place) ? [] : other(received, expected, place);
}

function other(received: unknown, expected: unknown, { path }: Place): readonly string[] {
  return [`${path}: expected ${printValue(expected ?? undefined)}, got ${printValue(received)}`];
}

function compareLists(received: readonly unknown[], expected: readonly unknown[], place: Place): readonly string[] {
  const key = keyOfItems(expected);
  if (key === undefined) {
    if (received.length !== expected.length)
      return [`${place.path}: expected ${expected.length} items, got ${received.length}: ${printValue(received)}`];
    return expected.flatMap((item, index) => compare(received[index], item, itemAt(place, `[${index}]`)));
  }
  return itemsByKey(received, expected, { key, place }).flatMap(({ found, problems }, index) => {
    if (found !== undefined) return problems;
    const name = partOf(expected[index], key);
    const isThere = received.some((item) => partOf(item, key) === name);
    const what = isThere ? 'there are not as many such items' : 'there is no such item';
    return [`${place.path}[${key}=${printValue(name)}]: ${what}; there are ${namesOf(received, key)}`];
  });
}

interface FoundItem {
  /** Wrapped in an array, because an item may be any value; undefined if there is none. */
  readonly found: readonly [unknown] | undefined;
  readonly problems: readonly string[];
}

/** The received item with the same key, for each expected item. */
function itemsByKey(
  received: readonly unknown[],
  expected: readonly unknown[],
  { key, place }: { readonly key: string; readonly place: Place },
): readonly FoundItem[] {
  const byName = new Map<unknown, number[]>();
  for (const [at, item] of received.entries()) {
    const name = partOf(item, key);
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [at]);
    else same.push(at);
  }
  const candidates = expected.map((item) => {
    const name = partOf(item, key);
    const there = itemAt(place, `[${key}=${printValue(name)}]`);
    return new Map((byName.get(name) ?? []).map((at) => [at, compare(received[at], item, there)]));
  });
  const assigned = assign(candidates);
  return assigned.map(({ received: at, problems }) => ({
    found: at === undefined ? undefined : [received[at]],
    problems,
  }));
}

/** Candidates for list keys, in order of preference. */
const ITEM_KEYS = ['name', 'type', 'mountPath', 'devicePath', 'containerPort', 'port', 'uid', 'ip', 'key', 'path'];

/** A key that every item has; preferably one whose values are unique. */
function keyOfItems(items: readonly unknown[]): string | undefined {
  if (items.length === 0) return undefined;
  const isKey = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';
  const keys = ITEM_KEYS.filter((key) => items.every((item) => isKey(partOf(item, key))));
  return keys.find((key) => new Set(items.map((item) => partOf(item, key))).size === items.length) ?? keys[0];
}

function partOf(item: unknown, key: string): unknown {
  return isRecord(item) ? own(item, key) : undefined;
}

function namesOf(items: readonly unknown[], key: string): string {
  return items.map((item) => printValue(isRecord(item) ? own(item, key) : item)).join(', ') || 'none';
}

function isSame(received: unknown, expected: unknown, { amounts }: Place): boolean {
  // JavaScript distinguishes 0 and -0, JSON does not.
  if (received === expected || Object.is(received, expected)) return true;
  if (isNumeric(received) && isNumeric(expected)) return isSameNumber(received, expected);
  if (!isAmountText(received) || !isAmountText(expected) || !isAmount(amounts)) return false;
  const [left, right] = [Quantity.tryParse(String(received)), Quantity.tryParse(String(expected))];
  return left.ok && right.ok && left.quantity.cmp(right.quantity) === 0;
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Integers beyond what a number holds exactly are stored as bigints, and may be expected as either. */
function isSameNumber(left: number | bigint, right: number | bigint): boolean {
  return (
    [left, right].every((each) => typeof each === 'bigint' || Number.isInteger(each)) && BigInt(left) === BigInt(right)
  );
}

function isAmountText(value: unknown): value is string | number | bigint {
  return typeof value === 'string' || isNumeric(value);
}

function below({ path, amounts }: Place, key: string): Place {
  const name = /^[\w-]+$/.test(key) ? `${path === '' ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`;
  return { path: `${path}${name}`, amounts: fieldAmounts(amounts, key) };
}

function itemAt({ path, amounts }: Place, suffix: string): Place {
  return { path: `${path}${suffix}`, amounts: itemAmounts(amounts) };
}

/** What the received object has of what was expected, for a diff without noise. */
function part(received: unknown, expected: unknown, place: Place): unknown {
  if (isRecord(received) && isRecord(expected)) {
    const keys = Object.keys(expected).filter((key) => own(received, key) !== undefined);
    return Object.fromEntries(keys.map((key) => [key, part(received[key], expected[key], below(place, key))]));
  }
  if (!Array.isArray(received) || !Array.isArray(expected)) return received;
  const key = keyOfItems(expected);
  if (key === undefined) return received.map((item, index) => part(item, expected[index], itemAt(place, '')));
  return itemsByKey(received, expected, { key, place }).flatMap(({ found }, index) =>
    found === undefined ? [] : [part(found[0], expected[index], itemAt(place, ''))],
  );
}

/** Where a value stands, as far as that tells whether it is an amount. */
type AmountPlace =
  | { readonly by: 'schema'; readonly node: SchemaNode | undefined }
  | { readonly by: 'names'; readonly names: readonly string[] };

/** Of a whole object; the first of these that says of which kind it is counts. */
function amountsOf(...objects: readonly Diffable[]): AmountPlace {
  const node = schemaFor(undefined, objects);
  return node === undefined ? { by: 'names', names: [] } : { by: 'schema', node };
}

/** Of the field `name`. */
function fieldAmounts(place: AmountPlace, name: string): AmountPlace {
  if (place.by === 'names') return { by: 'names', names: [...place.names, name] };
  return { by: 'schema', node: schemaOf(place.node, name) };
}

function itemAmounts(place: AmountPlace): AmountPlace {
  if (place.by === 'names') return place;
  return { by: 'schema', node: place.node?.type === 'list' ? place.node.items : undefined };
}

function isAmount(place: AmountPlace): boolean {
  if (place.by === 'schema') return place.node?.type === 'scalar' && place.node.scalar === 'quantity';
  const { names } = place;
  return !names.some((name) => FREE_TEXTS.has(name)) && AMOUNT.test(names.join('\n'));
}

/** The received items, by their places, that an expected one may be, with what is wrong where it is taken for that. */
type Candidates = ReadonlyMap<number, readonly string[]>;

interface Assigned {
  /** The index of the received item; undefined if none is left. */
  readonly received: number | undefined;
  readonly problems: readonly string[];
}

/**
 * Assigns a received item to each expected item (bipartite matching by augmenting paths).
 *
 * Example: two items `a` are expected, any `a` and a red `a`; received are a red and a blue one. The first expected item
 * takes the red one. The second matches only the red one, so the first is reassigned to the blue one.
 */
function assign(expected: readonly Candidates[]): readonly Assigned[] {
  /** The expected item by assigned received item. */
  const holders = new Map<number, number>();
  const isPlaced = (wanted: number, tried: Set<number>): boolean => {
    for (const [found, problems] of expected[wanted] ?? []) {
      if (problems.length > 0 || tried.has(found)) continue;
      tried.add(found);
      const holder = holders.get(found);
      if (holder !== undefined && !isPlaced(holder, tried)) continue;
      holders.set(found, wanted);
      return true;
    }
    return false;
  };
  const left = [...expected.keys()].filter((wanted) => !isPlaced(wanted, new Set()));
  for (const wanted of left) {
    const nearest = nearestOf(expected[wanted] ?? new Map(), holders);
    if (nearest !== undefined) holders.set(nearest, wanted);
  }
  const places = new Map(Array.from(holders, ([found, wanted]) => [wanted, found]));
  return expected.map((candidates, wanted) => {
    const received = places.get(wanted);
    return { received, problems: received === undefined ? [] : (candidates.get(received) ?? []) };
  });
}

/** The unassigned item with the fewest problems. */
function nearestOf(candidates: Candidates, taken: ReadonlyMap<number, number>): number | undefined {
  const free = [...candidates].filter(([found]) => !taken.has(found));
  const fewest = free.reduce((least, [, { length }]) => Math.min(least, length), Number.POSITIVE_INFINITY);
  return free.find(([, { length }]) => length === fewest)?.[0];
}
