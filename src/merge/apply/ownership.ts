/**
 * Ownership changes: what an update takes over; what an apply claims and gives up, and where it conflicts. Pure
 * functions of the object before and after the write and of its managers. spec: Server-side apply
 *
 * Objects are in wire form. Every manager's field set refers to one version of the kind, so both objects are compared
 * in each of these versions; {@link Versions} converts them.
 */
import type { ObjectNode } from '../../schema/schema-node.js';
import { translateError } from '../../util/catch-error.js';
import { copyJson, deepEqual } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { type Comparison, changedFields, compare, NO_CHANGE } from './compare.js';
import { type Conflict, ConflictError } from './conflict.js';
import {
  difference,
  EMPTY_SET,
  type FieldSet,
  intersection,
  isEmptySet,
  isSubset,
  sameSet,
  union,
  unionOf,
} from './field-set.js';
import { fieldsOfIntent, fieldsOfObject } from './intent-fields.js';
import {
  type Entries,
  isWrittenByServer,
  type Manager,
  type ManagerIdentity,
  type Managers,
  managerKey,
  managerWith,
  withEntryTime,
} from './managers.js';
import { merge } from './merge.js';
import { removeFields } from './remove-fields.js';
import { classifyChange } from './same-owners.js';
import {
  ensureNamedFieldsAreMembers,
  ownsMapWithEmptyList,
  trackedSchema,
  truncateAtAtomics,
  UNTRACKED,
} from './schema-sets.js';

/** An object in one version of its kind. */
export interface Versioned {
  readonly apiVersion: string;
  readonly schema: ObjectNode;
  readonly value: unknown;
}

/** Conversion to other versions of the kind. */
export interface Versions {
  /**
   * Converts an object to another version; undefined if that version is not served. Throws {@link IncompatibleVersionError} if
   * the object cannot be converted.
   */
  convert(object: Versioned, apiVersion: string): Versioned | undefined;
  /**
   * Removes the fields of a version that the endpoint resets, which cannot be owned there.
   * upstream: resetFields of apimachinery/pkg/util/managedfields/internal/structuredmerge.go NewStructuredMergeManager
   */
  filter(fields: FieldSet, apiVersion: string): FieldSet;
}

/** An object has fields that another version of its kind does not have, so that their owners are unknown there. */
export class IncompatibleVersionError extends Error {}

/** A write of the desired object. The writer becomes the owner of all fields that it changes. */
export interface Update {
  readonly before: Versioned;
  readonly after: Versioned;
  readonly managers: Managers;
  readonly by: ManagerIdentity;
  readonly now: string;
}

/** The managers of the object after an update. */
export function managersAfterUpdate(update: Update, versions: Versions): Managers {
  return managersAfterOwnChange(update) ?? managersAfterAnyUpdate(update, versions);
}

/**
 * Fast path: most updates only change fields that the writer already owns, so that only the time changes. Undefined if
 * this update is different.
 */
function managersAfterOwnChange({ before, after, managers, by, now }: Update): Managers | undefined {
  const key = managerKey(by);
  const mine = managers.get(key);
  if (mine === undefined) return undefined;
  const theirs: FieldSet[] = [];
  for (const manager of managers.values()) {
    // Field sets of other versions need the general algorithm.
    if (manager.apiVersion !== before.apiVersion || isEmptySet(manager.fields)) return undefined;
    if (manager !== mine) theirs.push(manager.fields);
  }
  const extent = classifyChange(trackedSchema(before.schema), before.value, after.value, { mine: mine.fields, theirs });
  if (extent === 'other') return undefined;
  if (extent === 'none' || mine.time === now) return managers;
  return new Map(managers).set(key, managerWith(by, mine.fields, now));
}

/**
 * The same fast path on stored entries, without parsing them. `other`: the update is different. Undefined: the
 * entries are not suitable.
 */
export function entriesAfterOwnChange(
  { before, after, by, now }: Omit<Update, 'managers'>,
  entries: Entries,
): Entries | 'other' | undefined {
  if (!isWrittenByServer(entries)) return undefined;
  let mine = -1;
  const theirs: FieldSet[] = [];
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as Entries[number];
    // Without a time it may be one of two entries of the same manager; see `scale-managers.ts`.
    if (entry.apiVersion !== before.apiVersion || entry.time === undefined) return undefined;
    if (isEntryOf(entry, by)) mine = index;
    else theirs.push(entry.fieldsV1 as FieldSet);
  }
  const own = entries[mine];
  if (own === undefined) return undefined;
  const owners = { mine: own.fieldsV1 as FieldSet, theirs };
  const extent = classifyChange(trackedSchema(before.schema), before.value, after.value, owners);
  if (extent === 'other') return extent;
  return extent === 'none' || own.time === now ? entries : withEntryTime(entries, mine, now);
}

function isEntryOf(entry: Entries[number], { manager, operation, subresource }: ManagerIdentity): boolean {
  if ((entry.manager ?? '') !== manager || entry.operation !== operation) return false;
  return (entry.subresource ?? '') === subresource;
}

/** The general algorithm for updates. */
export function managersAfterAnyUpdate({ before, after, managers, by, now }: Update, versions: Versions): Managers {
  const key = managerKey(by);
  const settled = transferOwnership(managers, { before, after, versions, self: key, mode: 'update' });
  const taken = difference(changedFields(settled.comparison), UNTRACKED);
  if (isEmptySet(taken)) return settled.managers;
  const mine = settled.managers.get(key);
  const fields = union(mine?.fields ?? EMPTY_SET, taken);
  if (mine !== undefined && fields === mine.fields && mine.time === now) return settled.managers;
  return new Map(settled.managers).set(key, managerWith(by, fields, now));
}

/** An applied configuration. */
export interface Apply {
  readonly live: Versioned;
  /** The configuration as sent. */
  readonly intent: unknown;
  readonly managers: Managers;
  readonly by: ManagerIdentity;
  readonly force: boolean;
  readonly now: string;
}

/** The result of an apply. */
export interface Applied {
  /** The resulting object without defaults; undefined if it does not change. */
  readonly object: unknown;
  readonly managers: Managers;
}

/**
 * Applies a configuration. Throws ConflictError if other managers own fields that would change (unless forced), and
 * IntentError if the configuration does not match the schema.
 */
export function applyIntent({ live, intent, managers, by, force, now }: Apply, versions: Versions): Applied {
  const { schema } = live;
  const key = managerKey(by);
  const last = managers.get(key);
  const claim = versions.filter(fieldsOfIntent(schema, intent), by.apiVersion);
  // Fails if the live object cannot be represented in the version of one of its managers.
  const served = new Set(Array.from(managers.values(), (manager) => manager.apiVersion));
  for (const apiVersion of served) versions.convert(live, apiVersion);
  const tracked = difference(claim, UNTRACKED);
  // An unchanged configuration keeps the identical set, which makes later comparisons cheap.
  const isSameClaim = last?.apiVersion === by.apiVersion && sameSet(tracked, last.fields);
  const mine = isSameClaim ? last.fields : tracked;
  const fields = isSameClaim ? mine : claim;
  const claimed = new Map(managers);
  claimed.set(key, managerWith(by, fields, last?.time));
  const merged: Versioned = { ...live, value: merge(schema, live.value, intent) };
  const pruned = last === undefined ? merged : prune(merged, { last, fields, managers: claimed, versions });
  const mode = force ? 'force' : 'apply';
  const settled = transferOwnership(claimed, { before: live, after: pruned, versions, self: key, mode });
  const next = new Map(settled.managers);
  // The comparison ignores the order of items, so the values are compared.
  const isUnchanged = deepEqual(live.value, pruned.value);
  if (isEmptySet(mine)) next.delete(key);
  else next.set(key, managerWith(by, mine, isUnchanged ? last?.time : now));
  return { object: isUnchanged ? undefined : pruned.value, managers: next };
}

interface OwnershipTransfer {
  readonly before: Versioned;
  readonly after: Versioned;
  readonly versions: Versions;
  /** The key of the writing manager. */
  readonly self: string;
  /** Only an apply that is not forced can fail. */
  readonly mode: 'update' | 'apply' | 'force';
}

/**
 * Removes changed and removed fields from the sets of the other managers. Throws ConflictError if that is not allowed.
 * An updater keeps what it changed; the set of an applier is determined by the caller.
 */
function transferOwnership(
  managers: Managers,
  { before, after, versions, self, mode }: OwnershipTransfer,
): { readonly managers: Managers; readonly comparison: Comparison } {
  const comparison = filteredComparison(before, after, versions);
  const comparisons = new Map<string, Comparison | undefined>([[before.apiVersion, comparison]]);
  const conflicts: Conflict[] = [];
  let next: Map<string, Manager> | undefined;
  for (const [key, manager] of managers) {
    if (key === self && mode !== 'update') continue;
    const change = comparisonIn(manager.apiVersion, comparisons, { before, after, versions });
    const changed = change === undefined || key === self ? EMPTY_SET : changedFields(change);
    const lost = intersection(manager.fields, changed);
    if (mode === 'apply' && !isEmptySet(lost)) conflicts.push({ manager, fields: lost });
    const fields = change === undefined ? EMPTY_SET : difference(difference(manager.fields, lost), change.removed);
    if (fields === manager.fields && !isEmptySet(fields)) continue;
    next ??= new Map(managers);
    if (isEmptySet(fields)) next.delete(key);
    else next.set(key, managerWith(manager, fields, manager.time));
  }
  if (conflicts.length > 0) throw new ConflictError(conflicts);
  return { managers: next ?? managers, comparison };
}

/** Compares two objects of one version. */
function filteredComparison(
  { apiVersion, schema, value }: Versioned,
  after: Versioned,
  versions: Versions,
): Comparison {
  const comparison = compare(trackedSchema(schema), value, after.value);
  if (comparison === NO_CHANGE) return comparison;
  const { added, modified, removed } = comparison;
  const filter = (fields: FieldSet) => versions.filter(fields, apiVersion);
  return { added: filter(added), modified: filter(modified), removed: filter(removed) };
}

/**
 * The comparison in another version; undefined if that version is not served any more, in which case its field sets are
 * dropped.
 */
function comparisonIn(
  apiVersion: string,
  comparisons: Map<string, Comparison | undefined>,
  { before, after, versions }: Pick<OwnershipTransfer, 'before' | 'after' | 'versions'>,
): Comparison | undefined {
  return getOrInsertComputed(comparisons, apiVersion, () => {
    const was = convertedTo(apiVersion, before, { versions, what: 'convert old object' });
    const is = convertedTo(apiVersion, after, { versions, what: 'convert new object' });
    return was && is && filteredComparison(was, is, versions);
  });
}

/** `what` names the object in the error. */
function convertedTo(
  apiVersion: string,
  object: Versioned,
  { versions, what }: { readonly versions: Versions; readonly what: string },
): Versioned | undefined {
  const convert = () => versions.convert(object, apiVersion);
  const explain = ({ message }: Error) => new IncompatibleVersionError(`failed to ${what}: ${message}`);
  return translateError(IncompatibleVersionError, convert, explain);
}

/**
 * Truncates field sets at atomic nodes of the schema. Needed for sets that were not created with the current schema: a
 * client wrote them, or the schema has changed since.
 */
export function reconcileFieldSets(managers: Managers, live: Versioned, versions: Versions): Managers {
  let next: Map<string, Manager> | undefined;
  for (const [key, manager] of managers) {
    const version = manager.apiVersion === live.apiVersion ? live : versions.convert(live, manager.apiVersion);
    const fields = version === undefined ? manager.fields : truncateAtAtomics(version.schema, manager.fields);
    if (fields === manager.fields) continue;
    next ??= new Map(managers);
    next.set(key, managerWith(manager, fields, manager.time));
  }
  return next ?? managers;
}

interface Pruning {
  readonly last: Manager;
  /** The fields that the manager claims now. */
  readonly fields: FieldSet;
  readonly managers: Managers;
  readonly versions: Versions;
}

/**
 * Removes fields from the merged object that the manager claimed before, no longer claims, and no other manager claims.
 */
function prune(merged: Versioned, { last, fields, managers, versions }: Pruning): Versioned {
  if (isEmptySet(last.fields)) return merged;
  // Nothing is given up. With managers of several versions the full algorithm is needed, because fields are added back
  // after items were emptied.
  const isKept = isSubset(last.fields, fields) && !ownsMapWithEmptyList(merged.schema, last.fields, merged.value);
  const all = [...managers.values()];
  if (isKept && all.every(({ apiVersion }) => apiVersion === last.apiVersion)) return merged;
  const convert = (object: Versioned, apiVersion: string, step: string) =>
    convertedTo(apiVersion, object, { versions, what: `prune fields${step}` });
  const whole = convert(merged, last.apiVersion, ': failed to convert merged object to last applied version');
  // The version of the old claims is not served any more.
  if (whole === undefined) return merged;
  const lastFields = ensureNamedFieldsAreMembers(whole.schema, last.fields);
  const cut = { ...whole, value: removeFields(whole.schema, whole.value, lastFields) };
  const kept = addBackOwned(whole, cut, { managers: all, convert });
  const step = ': failed add back dangling items: failed to convert pruned object to last applied version';
  const lost = difference(allFields(whole), allFields(convert(kept, last.apiVersion, step) ?? kept));
  const value = removeFields(whole.schema, whole.value, intersection(lost, lastFields));
  if (whole.apiVersion === merged.apiVersion) return { ...whole, value };
  // A copy does not contain the empty lists that the client sent, as in the reference after two conversions.
  return convert({ ...whole, value: copyJson(value) }, merged.apiVersion, '') ?? merged;
}

interface Restoration {
  readonly managers: readonly Manager[];
  readonly convert: (object: Versioned, apiVersion: string, step: string) => Versioned | undefined;
}

/** Adds back what some manager owns, version by version, starting with the version of the object. */
function addBackOwned(whole: Versioned, cut: Versioned, { managers, convert }: Restoration): Versioned {
  let kept = cut;
  for (const apiVersion of new Set([whole, ...managers].map((each) => each.apiVersion))) {
    const sets = managers.filter((manager) => manager.apiVersion === apiVersion);
    const owned = unionOf(sets.map(({ fields }) => fields));
    const step = (name: string) =>
      `: failed add back owned items: failed to convert ${name} object at version ${apiVersion}`;
    const all = convert(whole, apiVersion, step('merged'));
    const some = convert(kept, apiVersion, step('pruned'));
    if (all === undefined || some === undefined) continue;
    const keep = union(allFields(some), ensureNamedFieldsAreMembers(all.schema, owned));
    kept = { ...all, value: removeFields(all.schema, all.value, difference(allFields(all), keep)) };
  }
  return kept;
}

function allFields({ schema, value }: Versioned): FieldSet {
  return ensureNamedFieldsAreMembers(schema, fieldsOfObject(schema, value));
}
