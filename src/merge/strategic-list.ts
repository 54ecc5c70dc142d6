/**
 * Lists in strategic merge patches: matches items by merge key (scalars by value) and orders the result.
 * strategic-merge.ts decides which lists are merged and merges the items. spec: Media types and encodings
 *
 * Order, by example: live `[a, b, c]`, patch `[c, x, a]`. Items of the patch keep the order of the patch, and other
 * items keep the live order. Where one of each could come next, the other item comes first only if both are live and it
 * precedes in the live list. So `b` comes before `c`, and the result is `[b, c, x, a]`.
 */
import { errors } from '../meta/errors.js';
import { goKind, goType, printGoValue } from '../text/go/go-value.js';
import { isRecord, own } from '../util/json.js';

/** The directive of a map or a list item. */
export const DIRECTIVE = '$patch';

type Items = readonly unknown[];
type Item = Readonly<Record<string, unknown>>;

/** How the schema declares a list. */
export interface ListRules {
  /** The merge key; empty if none is declared. */
  readonly mergeKey: string;
  /** False if a patch replaces the whole list. */
  readonly merges: boolean;
  /** The Go kind of items: `struct`, `string`. */
  readonly itemKind: string;
  mergeItems(live: Item, patch: Item): Item;
}

/** A merged list, and the items that count as live when it is ordered again. */
interface Merged {
  readonly items: Items;
  readonly liveOrder: Items;
}

/** Merges two lists. Throws the server's errors for lists that cannot be merged. */
export function mergeLists(live: Items, patch: Items, rules: ListRules): Items {
  return rules.merges ? merge(live, patch, rules).items : patch;
}

/** Removes the scalars of one list from another. Lists of objects are merged instead, as in the server. */
export function deleteFromList(live: Items, unwanted: Items, rules: ListRules): Items {
  if (live.length === 0 && unwanted.length === 0) return live;
  if (kindOfItems(live, unwanted) === 'map') return merge(live, unwanted, rules).items;
  const gone = new Set(unwanted);
  return live.filter((item) => !gone.has(item));
}

/** The lists of a `$setElementOrder/<field>` directive; absent if they do not exist. */
export interface OrderedLists {
  readonly live?: Items;
  readonly patch?: Items;
  readonly order: Items;
}

/** Merges the lists and puts them in the given order; undefined if there is no list. */
export function mergeOrdered({ live, patch, order }: OrderedLists, rules: ListRules): Items | undefined {
  const { mergeKey } = rules;
  checkOrder(patch ?? [], order, mergeKey);
  if (live === undefined && patch === undefined) return undefined;
  const merged = mergeForOrder(live, patch, rules);
  const [named, others] =
    mergeKey === '' ? splitScalars(merged.items, order) : splitByKey(merged.items, order, mergeKey);
  const kind = kindOfItems(live ?? [], patch ?? []);
  return arrange({ named, others }, { named: order, others: merged.liveOrder }, kind === 'map' ? mergeKey : undefined);
}

function mergeForOrder(live: Items | undefined, patch: Items | undefined, rules: ListRules): Merged {
  if (live === undefined) return { items: patch ?? [], liveOrder: [] };
  if (patch === undefined) return { items: live, liveOrder: live };
  return rules.merges ? merge(live, patch, rules) : { items: patch, liveOrder: live };
}

function merge(live: Items, patch: Items, rules: ListRules): Merged {
  if (live.length === 0 && patch.length === 0) return { items: live, liveOrder: live };
  if (kindOfItems(live, patch) === 'map') return mergeObjects(live as readonly Item[], patch as readonly Item[], rules);
  const all = [...new Set([...live, ...patch])];
  const [named, others] = rules.mergeKey === '' ? splitScalars(all, patch) : splitByKey(all, patch, rules.mergeKey);
  return { items: arrange({ named, others }, { named: patch, others: live }, undefined), liveOrder: live };
}

function mergeObjects(live: readonly Item[], patch: readonly Item[], rules: ListRules): Merged {
  const { mergeKey } = rules;
  if (mergeKey === '') throw errors.plain(`cannot merge lists without merge key for ${rules.itemKind}`);
  const { deleted, replaces, changes } = readDirectives(patch, mergeKey);
  const remaining = live.filter((item) => !(Object.hasOwn(item, mergeKey) && deleted.has(item[mergeKey])));
  const start = replaces ? changes : remaining;
  const wanted = replaces ? [] : changes;
  const { items, added } = mergeByKey(start, wanted, rules);
  const [named, others] = splitByKey(items, wanted, mergeKey);
  // In the reference server, deletions and additions reuse the backing array of the live list, which is then read again
  // for the order: each deletion leaves room for one addition to count as live.
  const liveOrder = (replaces ? remaining : [...remaining, ...added]).slice(0, live.length);
  return { items: arrange({ named, others }, { named: wanted, others: start }, mergeKey), liveOrder };
}

interface Directives {
  /** The keys of deleted items. */
  readonly deleted: ReadonlySet<unknown>;
  /** True if the rest of the patch replaces the list. */
  readonly replaces: boolean;
  /** The items without a directive. */
  readonly changes: readonly Item[];
}

function readDirectives(patch: readonly Item[], mergeKey: string): Directives {
  const deleted = new Set<unknown>();
  const changes: Item[] = [];
  let replaces = false;
  for (const item of patch) {
    const directive = own(item, DIRECTIVE);
    if (directive === undefined) changes.push(item);
    else if (directive === 'delete') deleted.add(keyOf(item, mergeKey));
    else if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw errors.plain('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(directive, item);
  }
  return { deleted, replaces, changes };
}

function mergeByKey(
  live: readonly Item[],
  patch: readonly Item[],
  { mergeKey, mergeItems }: ListRules,
): { readonly items: readonly Item[]; readonly added: readonly Item[] } {
  const items = [...live];
  const added: Item[] = [];
  const indexes = firstIndexes(items, mergeKey);
  for (const change of patch) {
    const key = keyOf(change, mergeKey);
    const index = indexes.get(key);
    const present = index === undefined ? undefined : items[index];
    if (index !== undefined && present !== undefined) {
      items[index] = mergeItems(present, change);
    } else {
      indexes.set(key, items.length);
      items.push(change);
      added.push(change);
    }
  }
  return { items, added };
}

/** The items that are in the other list, and those that are not. */
type Split = readonly [named: Items, others: Items];

function splitScalars(items: Items, by: Items): Split {
  // The server uses a hash map here, which panics for maps and lists.
  if ([...by, ...items].some((item) => isRecord(item) || Array.isArray(item))) throw serverPanic();
  const names = new Set(by);
  return [items.filter((item) => names.has(item)), items.filter((item) => !names.has(item))];
}

function splitByKey(items: Items, by: Items, mergeKey: string): Split {
  const indexes = firstIndexes(by, mergeKey);
  // Each search reads the other list from its start and fails at the first item that is not an object.
  const obstacle = by.findIndex((item) => !isRecord(item));
  const named: unknown[] = [];
  const others: unknown[] = [];
  for (const item of items) {
    const index = indexes.get(keyOf(item, mergeKey));
    if (obstacle >= 0 && (index === undefined || index > obstacle)) {
      throw errors.plain(`value for key ${obstacle} is not a map`);
    }
    (index === undefined ? others : named).push(item);
  }
  return [named, others];
}

/**
 * Combines both parts in the order of the example above. `order` gives the order inside each part; that of the others
 * also decides between the parts. `mergeKey` is absent for scalars.
 */
function arrange(
  parts: { readonly named: Items; readonly others: Items },
  order: { readonly named: Items; readonly others: Items },
  mergeKey: string | undefined,
): Items {
  const named = sortLike(parts.named, order.named, mergeKey);
  const others = sortLike(parts.others, order.others, mergeKey);
  const live = firstIndexes(order.others, mergeKey);
  const indexOf = (item: unknown) => live.get(identityOf(item, mergeKey)) ?? -1;
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    const limit = indexOf(item);
    while (next < others.length && limit >= 0 && isBefore(indexOf(others[next]), limit)) result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function isBefore(index: number, limit: number): boolean {
  return index >= 0 && index < limit;
}

/** Sorts items by their positions in `order`. Items with a delete directive that was not applied come last. */
function sortLike(items: Items, order: Items, mergeKey: string | undefined): Items {
  if (mergeKey !== undefined) for (const item of [...items, ...order]) keyOf(item, mergeKey);
  const isDeleted = (item: unknown) => mergeKey !== undefined && isRecord(item) && own(item, DIRECTIVE) === 'delete';
  const kept = items.filter((item) => !isDeleted(item));
  const indexes = firstIndexes(order, mergeKey);
  const indexOf = (item: unknown) => indexes.get(identityOf(item, mergeKey)) ?? Number.POSITIVE_INFINITY;
  const positioned = kept.map((item) => ({ item, index: indexOf(item) }));
  const sorted = positioned.every(({ index }) => index !== Number.POSITIVE_INFINITY)
    ? positioned.sort((left, right) => left.index - right.index)
    : insertUnplaced(positioned);
  return [...sorted.map(({ item }) => item), ...items.filter(isDeleted)];
}

interface Placed {
  readonly item: unknown;
  readonly index: number;
}

/** Go's sort uses insertion sort up to this length. */
const INSERTION_SORT_LIMIT = 20;

/**
 * An item without a position is less than every other, and every other is less than it. The result depends on the
 * server's insertion sort; in longer lists such items come last.
 */
function insertUnplaced(items: readonly Placed[]): readonly Placed[] {
  const isLess = (left: Placed, right: Placed) =>
    left.index === Number.POSITIVE_INFINITY || right.index === Number.POSITIVE_INFINITY || left.index < right.index;
  if (items.length > INSERTION_SORT_LIMIT)
    return [...items].sort((left, right) => comparePositions(left.index, right.index));
  const sorted: Placed[] = [];
  for (const item of items) {
    let at = sorted.length;
    for (let before = sorted[at - 1]; before !== undefined && isLess(item, before); before = sorted[at - 1]) at--;
    sorted.splice(at, 0, item);
  }
  return sorted;
}

/** Infinities cannot be subtracted. */
function comparePositions(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** The order must contain every remaining item of the patch, in the order of the patch. */
function checkOrder(patch: Items, order: Items, mergeKey: string): void {
  if (order.length === 0 || patch.length === 0) return;
  const staying = mergeKey === '' ? patch : patch.filter((item) => own(requireObject(item), DIRECTIVE) !== 'delete');
  let next = 0;
  let at = 0;
  while (next < staying.length && at < order.length) {
    const item = staying[next];
    if (isRecord(item) && Object.hasOwn(item, DIRECTIVE)) {
      next++;
      continue;
    }
    if (isSame(item, order[at], mergeKey)) next++;
    at++;
  }
  if (next === staying.length) return;
  throw errors.plain(
    `The order in patch list:\n${printGoValue(patch)}\n doesn't match $setElementOrder list:\n${printGoValue(order)}\n`,
  );
}

function isSame(left: unknown, right: unknown, mergeKey: string): boolean {
  if (mergeKey !== '') {
    const [one, other] = [requireObject(left), requireObject(right)];
    return keyOf(one, mergeKey) === keyOf(other, mergeKey);
  }
  if (isRecord(left) ? isRecord(right) : Array.isArray(left) && Array.isArray(right)) throw serverPanic();
  return left === right;
}

/** The first index of each key or scalar. */
function firstIndexes(items: Items, mergeKey: string | undefined): Map<unknown, number> {
  const indexes = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    if (mergeKey !== undefined && !(isRecord(item) && Object.hasOwn(item, mergeKey))) continue;
    const identity = identityOf(item, mergeKey);
    if (!indexes.has(identity)) indexes.set(identity, index);
  }
  return indexes;
}

function identityOf(item: unknown, mergeKey: string | undefined): unknown {
  return mergeKey !== undefined && isRecord(item) ? own(item, mergeKey) : item;
}

function keyOf(item: unknown, mergeKey: string): unknown {
  const value = own(requireObject(item), mergeKey);
  if (value !== undefined) return value;
  throw errors.plain(`map: ${printGoValue(item)} does not contain declared merge key: ${mergeKey}`);
}

function requireObject(item: unknown): Item {
  if (isRecord(item)) return item;
  throw wrongType('map[string]interface {}', item);
}

/** The Go kind of all items of both lists. Throws if they differ or are lists. */
function kindOfItems(live: Items, patch: Items): ReturnType<typeof goKind> {
  const all = [...live, ...patch];
  if (all.length === 0) throw errors.plain('no elements in any of the given slices');
  const kind = goKind(all[0]);
  if (kind === 'slice') throw errors.genericServerResponse('Invalid');
  // The server panics if the first item is null; a later null has another kind than the first item.
  if (kind === 'nil') throw serverPanic();
  if (all.some((item) => goKind(item) !== kind)) {
    throw errors.plain(`list element types are not identical: ${printGoValue([live, patch])}`);
  }
  return kind;
}

/** The server's error for a value of the wrong type. */
export function wrongType(expected: string, actual: unknown): Error {
  return errors.plain(`expected a ${expected}, but received a ${goType(actual)}`);
}

/** The server's error for an unknown `$patch` directive. */
export function unknownDirective(directive: unknown, holder: Item): Error {
  return errors.plain(`unknown patch type: ${printGoValue(directive, { as: 'text' })} in map: ${printGoValue(holder)}`);
}

/** The response for a request that makes the reference server panic. */
function serverPanic(): Error {
  return errors.plain('This request caused apiserver to panic. Look in the logs for details.');
}
