/**
 * How ownership moves: what an update takes over, what an apply claims, gives up and fights about. Pure functions of
 * the object before, the object after, and who managed it. spec: Server-side apply
 *
 * Objects are in wire form. Every manager's set speaks of one version of the kind, so both states are looked at in each
 * version that occurs; {@link Versions} converts.
 */
import type { ListNode, ObjectNode, Structural } from '../../schema/structural.js';
import { deepEqual, type MutableRecord, setOwn } from '../../util/json.js';
import { sameItems } from '../../util/same-items.js';
import { type Comparison, changedFields, compare, NO_CHANGE } from './compare.js';
import { type Conflict, ConflictError } from './conflict.js';
import {
  below,
  difference,
  type FieldSet,
  intersection,
  isEmptySet,
  isMember,
  isSubset,
  NOTHING,
  sameSet,
  union,
  unionOf,
} from './field-set.js';
import { elementOrNone } from './list-elements.js';
import {
  type Entries,
  isWritten,
  type Manager,
  type ManagerIdentity,
  type Managers,
  managerKey,
  managerWith,
  writtenAnew,
} from './managers.js';
import { merge } from './merge.js';
import { fieldsOfIntent, fieldsOfObject } from './owned-fields.js';
import { fieldElement } from './path-element.js';
import { reachOfChange } from './same-owners.js';
import { atomicOnly, namedFieldsToo } from './schema-sets.js';
import { trackedSchema, UNTRACKED } from './tracked.js';
import { hasItems, hasMembers, isEmptyRecord, memberNode, recordOf, UNTYPED } from './typing.js';

/** An object in one version of its kind. */
export interface Versioned {
  readonly apiVersion: string;
  readonly schema: ObjectNode;
  readonly value: unknown;
}

/** What is known about the other versions of a kind. */
export interface Versions {
  /**
   * The object in another version; undefined when that version is not served. Throws {@link UnfitVersionError} when it
   * cannot be one.
   */
  convert(object: Versioned, apiVersion: string): Versioned | undefined;
  /** Leaves of a set what may be owned at the address that is written to. */
  filter(fields: FieldSet): FieldSet;
}

/** An object has fields that another version of its kind does not know, so that nobody can say who owns them there. */
export class UnfitVersionError extends Error {
  override readonly name = 'UnfitVersionError';
}

/** A write that says which state it wants. The fields that it changed are its own from now on. */
export interface Update {
  readonly before: Versioned;
  readonly after: Versioned;
  readonly managers: Managers;
  readonly by: ManagerIdentity;
  readonly now: string;
}

/** Who manages the object after an update. */
export function afterUpdate(update: Update, versions: Versions): Managers {
  return afterChangeOfOwn(update) ?? afterAnyUpdate(update, versions);
}

/** Most updates change what their writer owned already: then nothing is new but the time. Undefined: this one is other. */
function afterChangeOfOwn({ before, after, managers, by, now }: Update): Managers | undefined {
  const key = managerKey(by);
  const mine = managers.get(key);
  if (mine === undefined) return undefined;
  const theirs: FieldSet[] = [];
  for (const manager of managers.values()) {
    // What others say of another version is for the long way to find out.
    if (manager.apiVersion !== before.apiVersion || isEmptySet(manager.fields)) return undefined;
    if (manager !== mine) theirs.push(manager.fields);
  }
  const reach = reachOfChange(trackedSchema(before.schema), before.value, after.value, { mine: mine.fields, theirs });
  if (reach === 'further') return undefined;
  if (reach === 'nowhere' || mine.time === now) return managers;
  return new Map(managers).set(key, managerWith(by, mine.fields, now));
}

/**
 * The same of entries as they are stored, without reading them: those of most objects that are written to. `further`: this
 * update is other. Undefined: the entries are, so that nothing can be said.
 */
export function entriesAfterChangeOfOwn(
  { before, after, by, now }: Omit<Update, 'managers'>,
  entries: Entries,
): Entries | 'further' | undefined {
  if (!isWritten(entries)) return undefined;
  let mine = -1;
  const theirs: FieldSet[] = [];
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as Entries[number];
    // Without a time it may be one of two by the same manager; see `scale-managers.ts`.
    if (entry.apiVersion !== before.apiVersion || entry.time === undefined) return undefined;
    if (isEntryOf(entry, by)) mine = index;
    else theirs.push(entry.fieldsV1 as FieldSet);
  }
  const own = entries[mine];
  if (own === undefined) return undefined;
  const owners = { mine: own.fieldsV1 as FieldSet, theirs };
  const reach = reachOfChange(trackedSchema(before.schema), before.value, after.value, owners);
  if (reach === 'further') return reach;
  return reach === 'nowhere' || own.time === now ? entries : writtenAnew(entries, mine, now);
}

function isEntryOf(entry: Entries[number], { manager, operation, subresource }: ManagerIdentity): boolean {
  if ((entry.manager ?? '') !== manager || entry.operation !== operation) return false;
  return (entry.subresource ?? '') === subresource;
}

/** The same for any update. */
export function afterAnyUpdate({ before, after, managers, by, now }: Update, versions: Versions): Managers {
  const key = managerKey(by);
  const settled = settle(managers, { before, after, versions, self: key, mode: 'update' });
  const taken = difference(changedFields(settled.comparison), UNTRACKED);
  if (isEmptySet(taken)) return settled.managers;
  const mine = settled.managers.get(key);
  const fields = union(mine?.fields ?? NOTHING, taken);
  if (mine !== undefined && fields === mine.fields && mine.time === now) return settled.managers;
  return new Map(settled.managers).set(key, managerWith(by, fields, now));
}

/** A configuration that a manager stands for. */
export interface Apply {
  readonly live: Versioned;
  /** As it was sent. */
  readonly intent: unknown;
  readonly managers: Managers;
  readonly by: ManagerIdentity;
  readonly force: boolean;
  readonly now: string;
}

export interface Applied {
  /** The object as it is to be, still without defaults; undefined when it is to stay as it is. */
  readonly object: unknown;
  readonly managers: Managers;
}

/**
 * Throws ConflictError when others own what would change, unless forced, and IntentError when the configuration does
 * not fit the schema.
 */
export function applyIntent({ live, intent, managers, by, force, now }: Apply, versions: Versions): Applied {
  const { schema } = live;
  const key = managerKey(by);
  const last = managers.get(key);
  const claim = versions.filter(fieldsOfIntent(schema, intent));
  const tracked = difference(claim, UNTRACKED);
  // Whoever applies the same again keeps the very set, which then need not be looked at any more.
  const isSameClaim = last?.apiVersion === by.apiVersion && sameSet(tracked, last.fields);
  const mine = isSameClaim ? last.fields : tracked;
  const fields = isSameClaim ? mine : claim;
  const claimed = new Map(managers);
  claimed.set(key, managerWith(by, fields, last?.time));
  const merged: Versioned = { ...live, value: merge(schema, live.value, intent) };
  const pruned = last === undefined ? merged : prune(merged, { last, fields, managers: claimed, versions });
  const mode = force ? 'force' : 'apply';
  const settled = settle(claimed, { before: live, after: pruned, versions, self: key, mode });
  const next = new Map(settled.managers);
  // Not by the comparison, which does not see the order of items.
  const isUnchanged = deepEqual(live.value, pruned.value);
  if (isEmptySet(mine)) next.delete(key);
  else next.set(key, managerWith(by, mine, isUnchanged ? last?.time : now));
  return { object: isUnchanged ? undefined : pruned.value, managers: next };
}

interface Settlement {
  readonly before: Versioned;
  readonly after: Versioned;
  readonly versions: Versions;
  /** Who writes. */
  readonly self: string;
  /** An apply that is not forced is the only write that can fail. */
  readonly mode: 'update' | 'apply' | 'force';
}

/**
 * Takes away from managers what was changed or removed under them. Throws ConflictError where that is not allowed. Who
 * writes keeps what it changed; what an applier owns is for its caller to say.
 */
function settle(
  managers: Managers,
  { before, after, versions, self, mode }: Settlement,
): { readonly managers: Managers; readonly comparison: Comparison } {
  const comparison = filtered(compare(trackedSchema(before.schema), before.value, after.value), versions);
  const comparisons = new Map([[before.apiVersion, comparison]]);
  const conflicts: Conflict[] = [];
  let next: Map<string, Manager> | undefined;
  for (const [key, manager] of managers) {
    if (key === self && mode !== 'update') continue;
    const change = comparisonIn(manager.apiVersion, comparisons, { before, after, versions });
    const changed = change === undefined || key === self ? NOTHING : changedFields(change);
    const lost = intersection(manager.fields, changed);
    if (mode === 'apply' && !isEmptySet(lost)) conflicts.push({ manager, fields: lost });
    const fields = change === undefined ? NOTHING : difference(difference(manager.fields, lost), change.removed);
    if (fields === manager.fields && !isEmptySet(fields)) continue;
    next ??= new Map(managers);
    if (isEmptySet(fields)) next.delete(key);
    else next.set(key, managerWith(manager, fields, manager.time));
  }
  if (conflicts.length > 0) throw new ConflictError(conflicts);
  return { managers: next ?? managers, comparison };
}

function filtered(comparison: Comparison, versions: Versions): Comparison {
  if (comparison === NO_CHANGE) return comparison;
  const { added, modified, removed } = comparison;
  return { added: versions.filter(added), modified: versions.filter(modified), removed: versions.filter(removed) };
}

/** The change in another version; undefined when that version is gone, and with it every claim that was made in it. */
function comparisonIn(
  apiVersion: string,
  comparisons: Map<string, Comparison>,
  { before, after, versions }: Pick<Settlement, 'before' | 'after' | 'versions'>,
): Comparison | undefined {
  const present = comparisons.get(apiVersion);
  if (present !== undefined) return present;
  const was = convertedTo(apiVersion, before, { versions, name: 'old' });
  const is = convertedTo(apiVersion, after, { versions, name: 'new' });
  if (was === undefined || is === undefined) return undefined;
  const comparison = filtered(compare(trackedSchema(was.schema), was.value, is.value), versions);
  comparisons.set(apiVersion, comparison);
  return comparison;
}

function convertedTo(
  apiVersion: string,
  object: Versioned,
  { versions, name }: { readonly versions: Versions; readonly name: 'old' | 'new' },
): Versioned | undefined {
  try {
    return versions.convert(object, apiVersion);
  } catch (error) {
    if (!(error instanceof UnfitVersionError)) throw error;
    throw new UnfitVersionError(`failed to convert ${name} object: ${error.message}`);
  }
}

/**
 * Sets that go deeper than the schema lets anybody own are cut where it says so. For sets that were not made by the
 * schema as it is: a client wrote them, or the schema has changed since.
 */
export function reconciled(managers: Managers, live: Versioned, versions: Versions): Managers {
  let next: Map<string, Manager> | undefined;
  for (const [key, manager] of managers) {
    const version = manager.apiVersion === live.apiVersion ? live : versions.convert(live, manager.apiVersion);
    const fields = version === undefined ? manager.fields : atomicOnly(version.schema, manager.fields);
    if (fields === manager.fields) continue;
    next ??= new Map(managers);
    next.set(key, managerWith(manager, fields, manager.time));
  }
  return next ?? managers;
}

interface Pruning {
  readonly last: Manager;
  /** What the manager claims now. */
  readonly fields: FieldSet;
  readonly managers: Managers;
  readonly versions: Versions;
}

/**
 * Takes out of the merged object what the manager had claimed, no longer claims, and nobody else claims either.
 */
function prune(merged: Versioned, { last, fields, managers, versions }: Pruning): Versioned {
  if (isEmptySet(last.fields)) return merged;
  // Nothing is given up. Not so when others speak of another version: their fields are put back after items were emptied.
  if (isOfOneVersion(last, managers) && isSubset(last.fields, fields)) return merged;
  const whole = versions.convert(merged, last.apiVersion);
  // Nobody knows any more what those claims meant.
  if (whole === undefined) return merged;
  const lastFields = namedFieldsToo(whole.schema, last.fields);
  const cut = { ...whole, value: removeFields(whole.schema, whole.value, lastFields) };
  const kept = keepOwned(whole, cut, { managers, versions });
  const lost = difference(allFields(whole), allFields(versions.convert(kept, last.apiVersion) ?? kept));
  const value = removeFields(whole.schema, whole.value, intersection(lost, lastFields));
  return versions.convert({ ...whole, value }, merged.apiVersion) ?? merged;
}

function isOfOneVersion({ apiVersion }: Manager, managers: Managers): boolean {
  for (const manager of managers.values()) if (manager.apiVersion !== apiVersion) return false;
  return true;
}

/** Puts back what some manager owns, version by version; the one of the object first. */
function keepOwned(whole: Versioned, cut: Versioned, about: Pick<Pruning, 'managers' | 'versions'>): Versioned {
  const owned = new Map<string, FieldSet[]>([[whole.apiVersion, []]]);
  for (const { apiVersion, fields } of about.managers.values()) {
    const sets = owned.get(apiVersion);
    if (sets === undefined) owned.set(apiVersion, [fields]);
    else sets.push(fields);
  }
  let kept = cut;
  for (const [apiVersion, sets] of owned) {
    const fields = unionOf(sets);
    const all = about.versions.convert(whole, apiVersion);
    const some = about.versions.convert(kept, apiVersion);
    if (all === undefined || some === undefined) continue;
    const keep = union(allFields(some), namedFieldsToo(all.schema, fields));
    kept = { ...all, value: removeFields(all.schema, all.value, difference(allFields(all), keep)) };
  }
  return kept;
}

function allFields({ schema, value }: Versioned): FieldSet {
  return namedFieldsToo(schema, fieldsOfObject(schema, value));
}

/** The same document when nothing of it is in the set. A map or list that loses all it had becomes null. */
export function removeFields(node: Structural, value: unknown, fields: FieldSet): unknown {
  if (isEmptySet(fields)) return value;
  if (hasMembers(node, value)) {
    const record = recordOf(value);
    return isEmptyRecord(record) ? null : removeMembers((name) => memberNode(node, name) ?? UNTYPED, record, fields);
  }
  if (hasItems(node) && Array.isArray(value)) return removeItems(node, value, fields);
  // What is owned as a whole has no fields of its own: a set that names some means all of it.
  return typeof value === 'object' ? null : value;
}

function removeItems(list: ListNode, items: readonly unknown[], fields: FieldSet): unknown {
  const kept: unknown[] = [];
  for (const item of items) {
    const element = elementOrNone(list, item);
    const inner = element === undefined ? undefined : below(fields, element);
    if (isMember(inner)) continue;
    kept.push(inner === undefined ? item : removeFields(list.items, item, inner));
  }
  if (kept.length === 0) return null;
  return sameItems(kept, items) ? items : kept;
}

function removeMembers(
  childOf: (name: string) => Structural,
  record: Readonly<Record<string, unknown>>,
  fields: FieldSet,
): unknown {
  const out: MutableRecord = {};
  let isChanged = false;
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (value === undefined) continue;
    const inner = below(fields, fieldElement(name));
    if (isMember(inner)) {
      isChanged = true;
      continue;
    }
    const kept = inner === undefined ? value : removeFields(childOf(name), value, inner);
    if (kept !== value) isChanged = true;
    setOwn(out, name, kept);
  }
  if (!isChanged) return record;
  return isEmptyRecord(out) ? null : out;
}
