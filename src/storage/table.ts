/**
 * All objects of one resource in key order, at the present and, as far as history reaches, at earlier revisions.
 *
 * Keys are `namespace/name` compared as text, as the reference server's storage does, so `a-b/x` comes before `a/x`.
 * Older states come from two places: a tree that was held when a page of a list was handed out, or the present tree
 * with the log played backwards over it.
 */
import { EmptyBTree } from 'sorted-btree';
import type { ApiObject } from '../meta/object.js';
import { CountedIndex } from './counted-index.js';
import { EventLog, type History, type LogBounds, type LogEntry, NO_HISTORY } from './event-log.js';
import { eventsNewestFirst, historyAt } from './retired-events.js';
import type { KeyIndex, KeysOf, ListPage, ListQuery, ObjectKey, Range } from './types.js';

// The package is CommonJS, and bundlers and Node disagree on where its default export ends up; this export works in
// both, and its constructor is the class.
type BTreeClass = typeof import('sorted-btree', { with: { 'resolution-mode': 'require' }}).default;
const BTree = EmptyBTree.constructor as BTreeClass;
type CompleteTree = InstanceType<typeof BTree<string, ApiObject>>;
/** The build removes all other methods: `TREE_METHODS` in tsup.config.ts. */
interface Tree extends Pick<CompleteTree, 'get' | 'set' | 'delete' | 'forRange' | 'size'> {
  clone(): Tree;
}

/** A state that is kept for the later pages of a list. */
interface HeldState {
  readonly tree: Tree;
  readonly until: number;
  /** The number of objects after a page, by the start of the next page; saves counting them again. */
  readonly remaining: Map<string, number>;
}

/** Each list at another version holds a state, whose tree may be a copy of its own. */
const MAX_HELD_STATES = 64;
/** The objects of all held trees of a table. */
const MAX_HELD_ENTRIES = 2_000_000;

/** The content of a table. Snapshots and forks share it. */
export interface TableState {
  readonly tree: Tree;
  readonly counts: ReadonlyMap<string, number>;
  readonly history: History;
}

/** The key of an object in its table. */
export type NamespacedName = Pick<ObjectKey, 'namespace' | 'name'>;

export class Table {
  readonly log: EventLog;
  #tree: Tree;
  /** The result of the last lookup or write. */
  #lastNamespace: string | undefined;
  #lastName: string | undefined;
  #lastFound: ApiObject | undefined;
  /** Objects per namespace, for the `remainingItemCount` of a first page. */
  readonly #counts: Map<string, number>;
  readonly #heldStates = new Map<number, HeldState>();
  /** Built on first use. A fork or a restored table builds its own. */
  readonly #indexes = new Map<KeysOf<unknown>, CountedIndex<unknown>>();

  /** `initialHistory` is that of a table without a state. */
  constructor(bounds: LogBounds, state?: TableState, initialHistory: History = NO_HISTORY) {
    this.#tree = state === undefined ? new BTree<string, ApiObject>(undefined, compareKeys) : state.tree.clone();
    this.#counts = new Map(state?.counts);
    this.log = new EventLog(bounds, state?.history ?? initialHistory);
  }

  get size(): number {
    return this.#tree.size;
  }

  objects(): readonly ApiObject[] {
    return objectsIn(this.#tree);
  }

  get({ namespace, name }: NamespacedName): ApiObject | undefined {
    // The same object is looked up several times in a row by one write, and the same namespace by all of them.
    if (name !== this.#lastName || namespace !== this.#lastNamespace) {
      this.#remember(namespace, name, this.#tree.get(keyOf(namespace, name)));
    }
    return this.#lastFound;
  }

  #remember(namespace: string, name: string, object: ApiObject | undefined): void {
    this.#lastNamespace = namespace;
    this.#lastName = name;
    this.#lastFound = object;
  }

  set({ namespace, name }: NamespacedName, object: ApiObject): void {
    const key = keyOf(namespace, name);
    this.#remember(namespace, name, object);
    if (this.#indexes.size > 0) this.#reindex(this.#tree.get(key), object);
    if (this.#tree.set(key, object)) count(this.#counts, namespace, 1);
  }

  delete({ namespace, name }: NamespacedName): void {
    const key = keyOf(namespace, name);
    this.#remember(namespace, name, undefined);
    if (this.#indexes.size > 0) this.#reindex(this.#tree.get(key), undefined);
    if (this.#tree.delete(key)) count(this.#counts, namespace, -1);
  }

  /** An index of the current objects, kept current. */
  index<Key>(keysOf: KeysOf<Key>): KeyIndex<Key> {
    // The function determines the key type of its index.
    const known = this.#indexes.get(keysOf) as CountedIndex<Key> | undefined;
    if (known !== undefined) return known;
    const index = new CountedIndex(keysOf, this.objects());
    this.#indexes.set(keysOf, index as CountedIndex<unknown>);
    return index;
  }

  /** Reads a page at the current or an older revision. Throws CompactedError. */
  list(query: ListQuery, revision: number): ListPage {
    const held = this.#heldStates.get(revision);
    const isPresent = revision >= this.log.lastRevision;
    const tree = isPresent ? this.#tree : (held?.tree ?? this.#treeAt(revision));
    const page = scan(tree, query);
    if (page.lastKey === undefined) return { items: page.items, revision };
    const nextAfter = page.lastKey;
    if (query.matches !== undefined) return { items: page.items, revision, nextAfter };
    const before = held?.remaining.get(memoKey(query, query.after)) ?? this.#countFrom(tree, query, isPresent);
    const remaining = before - page.items.length;
    held?.remaining.set(memoKey(query, nextAfter), remaining);
    return { items: page.items, revision, nextAfter, remaining };
  }

  /** Keeps a revision readable until a time, or until too many others were used after it. */
  hold(revision: number, until: number): void {
    const held = this.#heldStates.get(revision);
    const tree = held?.tree ?? (revision >= this.log.lastRevision ? this.#tree.clone() : this.#treeAt(revision));
    const remaining = held?.remaining ?? new Map<string, number>();
    // The last one in the order of use.
    this.#heldStates.delete(revision);
    this.#heldStates.set(revision, { tree, until: Math.max(until, held?.until ?? 0), remaining });
    const most = Math.min(MAX_HELD_STATES, Math.max(1, Math.floor(MAX_HELD_ENTRIES / Math.max(1, tree.size))));
    for (const oldest of this.#heldStates.keys()) {
      if (this.#heldStates.size <= most) break;
      this.#heldStates.delete(oldest);
    }
  }

  /** Releases held states that have expired. */
  release(now: number): void {
    for (const [revision, held] of this.#heldStates) if (held.until < now) this.#heldStates.delete(revision);
  }

  /** Drops events up to a revision, and held states that the remaining events do not lead to: only these keep old objects. */
  dropHistoryUpTo(revision: number): void {
    this.log.dropUpTo(revision);
    for (const held of this.#heldStates.keys())
      if (held <= revision || held < this.log.oldestStart) this.#heldStates.delete(held);
  }

  state(): TableState {
    return { tree: this.#tree.clone(), counts: new Map(this.#counts), history: this.log.shareHistory() };
  }

  #reindex(before: ApiObject | undefined, after: ApiObject | undefined): void {
    for (const index of this.#indexes.values()) {
      if (before !== undefined) index.remove(before);
      if (after !== undefined) index.add(after);
    }
  }

  /** The current tree with all later changes undone. */
  #treeAt(revision: number): Tree {
    const tree = this.#tree.clone();
    undoEvents(this.log.entriesNewestFirst(revision), tree, new Map());
    return tree;
  }

  /** The number of objects from the start of the query. */
  #countFrom(tree: Tree, query: ListQuery, isPresent: boolean): number {
    if (query.after === undefined && query.namespace === undefined) return tree.size;
    if (query.after === undefined && isPresent) return this.#counts.get(query.namespace ?? '') ?? 0;
    const [low, high] = bounds(query);
    let count = 0;
    tree.forRange(query.after === undefined ? low : afterKey(query.after), high, false, () => {
      count++;
    });
    return count;
  }
}

/** Undoes events, given newest first. */
function undoEvents(events: Iterable<LogEntry>, tree: Tree, counts: Map<string, number>): void {
  for (const { namespace, name, previous } of events) {
    const key = keyOf(namespace, name);
    if (previous === undefined) {
      if (tree.delete(key)) count(counts, namespace, -1);
    } else if (tree.set(key, previous)) count(counts, namespace, 1);
  }
}

function count(counts: Map<string, number>, namespace: string, by: 1 | -1): void {
  const now = (counts.get(namespace) ?? 0) + by;
  if (now > 0) counts.set(namespace, now);
  else counts.delete(namespace);
}

export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

function compareKeys(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Above every key, because no name contains this character. */
const AFTER_ALL_KEYS = '\uffff';

/** The bounds of a range: low is inclusive, high exclusive. '0' is the character after '/'. */
function bounds(range: Range): [string, string] {
  return range.namespace === undefined ? ['', AFTER_ALL_KEYS] : [`${range.namespace}/`, `${range.namespace}0`];
}

/** The least key greater than this one. */
function afterKey(key: string): string {
  return `${key}\u0000`;
}

interface Scanned {
  readonly items: readonly ApiObject[];
  /** The key of the last item, when another object follows it. */
  readonly lastKey?: string;
}

function scan(tree: Tree, query: ListQuery): Scanned {
  if (query.name !== undefined) return scanOne(tree, query, query.name);
  const [low, high] = bounds(query);
  const items: ApiObject[] = [];
  const { matches } = query;
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  let lastKey = '';
  let more = false;
  tree.forRange(query.after === undefined ? low : afterKey(query.after), high, false, (key, object) => {
    // The next object is not tested: the reference server returns a continue token even if no later object matches.
    if (items.length >= limit) {
      more = true;
      return STOP;
    }
    if (matches !== undefined && !matches(object)) return undefined;
    items.push(object);
    lastKey = key;
    return undefined;
  });
  return more ? { items, lastKey } : { items };
}

const STOP = { break: true };

/** All objects of a tree, in key order. */
export function objectsIn(tree: Tree): readonly ApiObject[] {
  const objects: ApiObject[] = [];
  tree.forRange('', AFTER_ALL_KEYS, true, (_key, object) => {
    objects.push(object);
  });
  return objects;
}

function scanOne(tree: Tree, query: ListQuery, name: string): Scanned {
  const key = keyOf(query.namespace ?? '', name);
  const object = query.after !== undefined && key <= query.after ? undefined : tree.get(key);
  const counts = object !== undefined && (query.matches === undefined || query.matches(object));
  return { items: counts ? [object] : [] };
}

function memoKey(query: ListQuery, start: string | undefined): string {
  return `${query.namespace ?? '*'} ${start ?? ''}`;
}

/** The state right after a revision, with the history that it had then. Throws CompactedError. */
export function rewind(state: TableState, revision: number, bounds: LogBounds): TableState {
  const tree = state.tree.clone();
  const counts = new Map(state.counts);
  undoEvents(eventsNewestFirst(state.history, revision, bounds), tree, counts);
  return { tree, counts, history: historyAt(state.history, revision, bounds) };
}
