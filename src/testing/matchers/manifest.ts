/**
 * Whether an object is what a manifest says, as far as it says anything: what the server filled in does not count.
 *
 * - Fields that the manifest does not have may be anything; `null` means absent.
 * - Items of a list that carry a key (a container its `name`, a condition its `type`) are found by it, and there may be
 *   others besides. All other lists have to be the same, item by item.
 * - Amounts are compared by value: `1000m` is `1`.
 * - `stringData` of a Secret is compared with `data`.
 */
import { ManifestError, readDocuments } from '../../manifests/read.js';
import { Quantity } from '../../meta/quantity.js';
import { encodeBase64Text } from '../../util/base64.js';
import { isRecord } from '../../util/json.js';
import { type MatcherResult, nameOf, resultOf, show } from './result.js';

/** The text of one manifest (YAML or JSON), or any part of an object. */
export type ManifestPart = string | object;

export function toMatchManifest(received: unknown, manifest: ManifestPart): MatcherResult {
  const expected = expectedOf(manifest);
  const problems: string[] = [];
  if (isRecord(received)) compare(received, expected, { path: '', problems, isAmount: false });
  else problems.push(`it is ${show(received)}, and no object`);
  return resultOf(
    problems,
    `${nameOf(received)} is not what the manifest says:`,
    `${nameOf(received)} is what the manifest says, and should not be`,
    { actual: isRecord(received) ? part(received, expected) : received, expected },
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
  readonly problems: string[];
  /** Texts here are amounts. */
  readonly isAmount: boolean;
}

/** Below these, every text is an amount. */
const AMOUNTS = ['limits', 'requests', 'capacity', 'allocatable', 'hard', 'used', 'overhead', 'allocatedResources'];

function compare(received: unknown, expected: unknown, place: Place): void {
  if (expected === null || expected === undefined) {
    if (received !== undefined && received !== null) tell(place, `expected nothing, got ${show(received)}`);
  } else if (isRecord(expected)) {
    if (!isRecord(received)) tell(place, `expected ${show(expected)}, got ${show(received)}`);
    else for (const [key, value] of Object.entries(expected)) compare(received[key], value, below(place, key));
  } else if (Array.isArray(expected)) {
    if (Array.isArray(received)) compareLists(received, expected, place);
    // An empty list is left out where it is stored.
    else if (received !== undefined || expected.length > 0)
      tell(place, `expected ${show(expected)}, got ${show(received)}`);
  } else if (!isSame(received, expected, place.isAmount)) {
    tell(place, `expected ${show(expected)}, got ${show(received)}`);
  }
}

function compareLists(received: readonly unknown[], expected: readonly unknown[], place: Place): void {
  const key = keyOfItems(expected);
  if (key === undefined) {
    if (received.length !== expected.length)
      tell(place, `expected ${expected.length} items, got ${received.length}: ${show(received)}`);
    else for (const [index, item] of expected.entries()) compare(received[index], item, at(place, `[${index}]`));
    return;
  }
  for (const item of expected) {
    const name = (item as Record<string, unknown>)[key];
    const found = received.find((other) => isRecord(other) && other[key] === name);
    const there = at(place, `[${key}=${show(name)}]`);
    if (found === undefined) tell(there, `there is no such item; there are ${namesOf(received, key)}`);
    else compare(found, item, there);
  }
}

/** What tells items of a list apart, in the order in which it is looked for. */
const ITEM_KEYS = ['name', 'type', 'mountPath', 'devicePath', 'containerPort', 'port', 'uid', 'ip', 'key', 'path'];

/** A key that every item has, each with a value of its own. */
function keyOfItems(items: readonly unknown[]): string | undefined {
  if (items.length === 0) return undefined;
  return ITEM_KEYS.find((key) => {
    const values = items.map((item) => (isRecord(item) ? item[key] : undefined));
    return (
      values.every((value) => typeof value === 'string' || typeof value === 'number') &&
      new Set(values).size === values.length
    );
  });
}

function namesOf(items: readonly unknown[], key: string): string {
  return items.map((item) => show(isRecord(item) ? item[key] : item)).join(', ') || 'none';
}

function isSame(received: unknown, expected: unknown, isAmount: boolean): boolean {
  if (Object.is(received, expected)) return true;
  if (!isAmount || received === undefined) return false;
  const [left, right] = [Quantity.tryParse(String(received)), Quantity.tryParse(String(expected))];
  return left.ok && right.ok && left.quantity.cmp(right.quantity) === 0;
}

function below({ path, problems, isAmount }: Place, key: string): Place {
  const name = /^[\w-]+$/.test(key) ? `${path === '' ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`;
  return { path: `${path}${name}`, problems, isAmount: isAmount || AMOUNTS.includes(key) };
}

function at(place: Place, suffix: string): Place {
  return { ...place, path: `${place.path}${suffix}` };
}

function tell({ path, problems }: Place, what: string): void {
  problems.push(`${path}: ${what}`);
}

/** What the received object has of what was expected, for a diff without noise. */
function part(received: unknown, expected: unknown): unknown {
  if (isRecord(received) && isRecord(expected)) {
    const keys = Object.keys(expected).filter((key) => received[key] !== undefined);
    return Object.fromEntries(keys.map((key) => [key, part(received[key], expected[key])]));
  }
  if (!Array.isArray(received) || !Array.isArray(expected)) return received;
  const key = keyOfItems(expected);
  if (key === undefined) return received.map((item, index) => part(item, expected[index]));
  return expected.flatMap((item) => {
    const name = (item as Record<string, unknown>)[key];
    const found = received.find((other) => isRecord(other) && other[key] === name);
    return found === undefined ? [] : [part(found, item)];
  });
}
