/**
 * Field managers: parses and writes `metadata.managedFields`. spec: Server-side apply
 *
 * A manager is identified by its name, operation and subresource; an updater also by the version it writes, so that it
 * may occur once per version.
 */

import type { DeepReadonly, ManagedFieldsEntry } from '../../meta/object.js';
import { compareUtf8 } from '../../text/go/go-value.js';
import { isRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import {
  EMPTY_SET,
  type FieldSet,
  FieldSetBuilder,
  hasChildren,
  isEmptySet,
  isMember,
  LEAF,
  SELF,
  unionOf,
  withSelf,
} from './field-set.js';
import { PathElementError, parseElement } from './path-element.js';

/** A `fieldsV1` value from a client is not a valid field set. */
export class FieldsError extends Error {
  override readonly name = 'FieldsError';
}

/** No object has deeper fields. */
const MAX_DEPTH = 1_000;

/** How a manager writes. */
export type Operation = 'Apply' | 'Update';

/** Everything that identifies a manager. */
export interface ManagerIdentity {
  readonly manager: string;
  readonly operation: Operation;
  /** The version of its field set. */
  readonly apiVersion: string;
  /** Empty for the main resource. */
  readonly subresource: string;
}

/** A field manager and the fields that it owns. */
export interface Manager extends ManagerIdentity {
  readonly fields: FieldSet;
  /** The time of its last change; absent if it never changed anything. */
  readonly time?: string;
}

/** By {@link managerKey}. Immutable after creation. */
export type Managers = ReadonlyMap<string, Manager>;

/** No managers. */
export const NO_MANAGERS: Managers = new Map();

/** The identity of a manager as a map key. */
export function managerKey({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  // The separator cannot occur in names.
  return `${operation}\0${operation === 'Apply' ? '' : apiVersion}\0${subresource}\0${manager}`;
}

/** The sort key of managers in messages and within the same second. */
export function managerText({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const version = operation === 'Apply' ? '' : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const below = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`;
  return `{"manager":${JSON.stringify(manager)},"operation":"${operation}"${version}${below}}`;
}

/** A `managedFields` value from a client is invalid. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

/** The entries of `metadata.managedFields`. */
export type Entries = DeepReadonly<readonly ManagedFieldsEntry[]>;

/** Parses `managedFields` from a client. Throws {@link ManagedFieldsError}. */
export function readManagers(entries: Entries | null | undefined): Managers {
  if (entries === undefined || entries === null) return NO_MANAGERS;
  const managers = new Map<string, Manager>();
  entries.forEach((entry, index) => {
    const manager = readEntry(entry, index);
    managers.set(managerKey(manager), manager);
  });
  return managers;
}

/** Parses the output of {@link writeManagers}, which needs no validation. */
export function storedManagers(entries: Entries | undefined): Managers {
  if (entries === undefined) return NO_MANAGERS;
  const managers = new Map<string, Manager>();
  for (const { manager = '', operation = 'Update', apiVersion = '', subresource = '', time, fieldsV1 } of entries) {
    const stored = managerWith(
      { manager, operation, apiVersion, subresource },
      (fieldsV1 ?? EMPTY_SET) as FieldSet,
      time,
    );
    managers.set(managerKey(stored), stored);
  }
  return managers;
}

/** Object literals, because spreading would dominate the cost of a write. */
export function managerWith(
  { manager, operation, apiVersion, subresource }: ManagerIdentity,
  fields: FieldSet,
  time: string | undefined,
): Manager {
  return time === undefined
    ? { manager, operation, apiVersion, subresource, fields }
    : { manager, operation, apiVersion, subresource, fields, time };
}

function readEntry(entry: Entries[number], index: number): Manager {
  const { manager = '', operation, apiVersion = '', subresource = '', time } = entry;
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new ManagedFieldsError('operation must be `Apply` or `Update`');
  }
  if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
  const fieldsType: string | undefined = entry.fieldsType;
  if (!fieldsType) throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') {
    throw new ManagedFieldsError(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`);
  }
  return managerWith({ manager, operation, apiVersion, subresource }, readFields(entry, manager), time);
}

function readFields(entry: Entries[number], manager: string): FieldSet {
  try {
    return readFieldsV1(entry.fieldsV1);
  } catch (error) {
    if (!(error instanceof FieldsError)) throw error;
    throw new ManagedFieldsError(`error decoding versioned set from ${manager}: ${error.message}`, { cause: error });
  }
}

/**
 * Converts managers to `managedFields`, in wire order: appliers first, then by time, then by name. Managers without
 * fields are omitted.
 */
export function writeManagers(managers: Managers): ManagedFieldsEntry[] {
  const shown = [...managers.values()].filter(({ fields }) => !isEmptySet(fields));
  const entries = (shown.length > 1 ? shown.sort(compareEntries) : shown).map(writeEntry);
  written.add(entries);
  return entries;
}

const written = new WeakSet<object>();

/**
 * Reports whether {@link writeManagers} created these entries and they were not changed since; they then need no
 * parsing.
 */
export function isWrittenByServer(entries: object): boolean {
  return Object.isFrozen(entries) && written.has(entries);
}

function writeEntry({ manager, operation, apiVersion, time, fields, subresource }: Manager): ManagedFieldsEntry {
  const fieldsV1 = fields as Record<string, unknown>;
  const fieldsType = 'FieldsV1';
  // The usual entry as one literal.
  if (manager !== '' && time !== undefined) {
    return subresource === ''
      ? { manager, operation, apiVersion, time, fieldsType, fieldsV1 }
      : { manager, operation, apiVersion, time, fieldsType, fieldsV1, subresource };
  }
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType,
    fieldsV1,
    ...(subresource === '' ? {} : { subresource }),
  };
}

/** What an entry adds to the size besides its field set: about the length of its other fields. */
const ENTRY_SIZE = 200;
/** The same for a path element: quotes, a colon, braces and a comma. */
const ELEMENT_SIZE = 6;

const setSizes = new WeakMap<FieldSet, number>();

/**
 * The approximate number of characters of encoded entries. 0 unless there are several appliers: others do not share fields, so the
 * size of the object limits their sets.
 */
export function entriesSize(entries: Entries): number {
  // Appliers are sorted first.
  if (entries[1]?.operation !== 'Apply') return 0;
  let size = 0;
  for (const { manager = '', fieldsV1 = EMPTY_SET } of entries) {
    const set = fieldsV1 as FieldSet;
    size += ENTRY_SIZE + manager.length + getOrInsertComputed(setSizes, set, () => sizeBelow(set));
  }
  return size;
}

function sizeBelow(set: FieldSet): number {
  let size = 0;
  for (const element in set) size += ELEMENT_SIZE + element.length + sizeBelow(set[element] as FieldSet);
  return size;
}

/** Entries created by {@link writeManagers} with another time for one of them. */
export function withEntryTime(entries: Entries, index: number, time: string): Entries {
  const anew = [...entries];
  const { manager = '', operation = 'Update', apiVersion = '', fieldsV1, subresource = '' } = anew[index] ?? {};
  const fields = (fieldsV1 ?? EMPTY_SET) as FieldSet;
  anew[index] = writeEntry({ manager, operation, apiVersion, time, fields, subresource });
  if (!isSortedAt(anew, index)) anew.sort(compareEntries);
  written.add(anew);
  return anew;
}

/** Reports whether one entry is at its sorted position; all others are. */
function isSortedAt(entries: Entries, index: number): boolean {
  const entry = entries[index] as Entries[number];
  const before = entries[index - 1];
  const after = entries[index + 1];
  if (before !== undefined && compareEntries(before, entry) > 0) return false;
  return after === undefined || compareEntries(entry, after) <= 0;
}

function compareEntries(left: Entries[number], right: Entries[number]): number {
  return (
    compareUtf8(left.operation ?? '', right.operation ?? '') ||
    byTime(left, right) ||
    compareUtf8(left.manager ?? '', right.manager ?? '') ||
    compareUtf8(left.apiVersion ?? '', right.apiVersion ?? '') ||
    compareUtf8(left.subresource ?? '', right.subresource ?? '')
  );
}

/** Times are in whole seconds UTC, so they sort as text; entries without a time come first. */
function byTime({ time: left = '' }: Entries[number], { time: right = '' }: Entries[number]): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** The manager that the oldest updaters are merged into. */
const ANCIENT = 'ancient-changes';
const MAX_UPDATERS = 10;

/**
 * Limits the number of updaters: the oldest ones of each version are merged into one without a subresource. Appliers
 * are not affected.
 */
export function capUpdaters(managers: Managers): Managers {
  if (managers.size <= MAX_UPDATERS) return managers;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([, left], [, right]) => byTime(left, right) || compareUtf8(managerText(left), managerText(right)));
  const buckets = new Map<string, Bucket>();
  let left = updaters.length;
  for (const [key, { apiVersion, fields, time }] of updaters) {
    if (left <= MAX_UPDATERS) break;
    const bucket = buckets.get(apiVersion) ?? { keys: [], sets: [], time };
    buckets.set(apiVersion, bucket);
    bucket.sets.push(fields);
    bucket.time = time;
    // The first updater of a version has no other one to be merged with.
    if (bucket.keys.push(key) > 1) left--;
  }
  const capped = new Map(managers);
  for (const [apiVersion, { keys, sets, time }] of buckets) {
    if (keys.length < 2) continue;
    const identity: ManagerIdentity = { manager: ANCIENT, operation: 'Update', apiVersion, subresource: '' };
    const bucketKey = managerKey(identity);
    const present = capped.get(bucketKey)?.fields ?? EMPTY_SET;
    for (const key of keys) capped.delete(key);
    capped.set(bucketKey, managerWith(identity, unionOf([present, ...sets]), time));
  }
  return capped;
}

/** The oldest updaters of one version, which are merged. */
interface Bucket {
  readonly keys: string[];
  readonly sets: FieldSet[];
  /** The time of the last updater that was added. */
  time: string | undefined;
}

/**
 * Parses a `fieldsV1` value. Throws {@link FieldsError}.
 *
 * @example
 * readFieldsV1({ 'f:data': { 'f:b': {}, 'f:a': {} } }) // { 'f:data': { 'f:a': {}, 'f:b': {} } }
 */
export function readFieldsV1(value: unknown): FieldSet {
  if (value === undefined || value === null) return EMPTY_SET;
  try {
    return readNode(value, false, 0) ?? EMPTY_SET;
  } catch (error) {
    if (error instanceof PathElementError) throw new FieldsError(error.message, { cause: error });
    throw error;
  }
}

/** A node without known elements is a leaf. */
function readNode(value: unknown, isStep: boolean, depth: number): FieldSet | undefined {
  if (value === null) return LEAF;
  if (!isRecord(value)) throw new FieldsError('ReadObjectCB: expect { or n');
  if (depth > MAX_DEPTH) throw new FieldsError('exceeded max depth');
  const siblings = new FieldSetBuilder(isStep && Object.hasOwn(value, SELF));
  for (const [text, inner] of Object.entries(value)) {
    if (text === SELF) continue;
    const element = parseElement(text);
    if (element === undefined) continue;
    const node = readNode(inner, true, depth + 1) ?? LEAF;
    const previous = siblings.get(element);
    siblings.add(element, previous === undefined ? node : mergeDuplicateElements(previous, node));
  }
  const node = siblings.finish();
  return node ?? (isStep ? LEAF : undefined);
}

/** Combines two spellings of the same element: the members below it are those of the last one. */
function mergeDuplicateElements(first: FieldSet, last: FieldSet): FieldSet {
  if (!hasChildren(last)) return withSelf(first);
  return isMember(first) ? withSelf(last) : last;
}
