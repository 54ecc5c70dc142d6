/**
 * Who manages which fields of an object: `metadata.managedFields`, read and written. spec: Server-side apply
 *
 * A manager is told from others by its name, its operation and its subresource; one that updates also by the version it
 * writes in, so that it may appear once for each.
 */

import type { DeepReadonly, ManagedFieldsEntry } from '../../meta/object.js';
import { byBytes } from '../../text/go/go-value.js';
import { isRecord } from '../../util/json.js';
import {
  type FieldSet,
  hasBelow,
  isEmptySet,
  isMember,
  LEAF,
  NOTHING,
  SELF,
  Siblings,
  unionOf,
  withSelf,
} from './field-set.js';
import { PathElementError, parseElement } from './path-element.js';

/** What a client wrote is no set of fields. */
export class FieldsError extends Error {
  override readonly name = 'FieldsError';
}

/** Deeper than the fields of any object. */
const MAX_DEPTH = 1_000;

export type Operation = 'Apply' | 'Update';

/** Who writes: everything that tells one manager from another. */
export interface ManagerIdentity {
  readonly manager: string;
  readonly operation: Operation;
  /** The version that its set of fields speaks of. */
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
}

export interface Manager extends ManagerIdentity {
  readonly fields: FieldSet;
  /** When it last changed something; absent when it never did. */
  readonly time?: string;
}

/** By {@link managerKey}. Treated as a value: whoever changes one has made it. */
export type Managers = ReadonlyMap<string, Manager>;

export const NOBODY: Managers = new Map();

/** What managers are told apart by. */
export function managerKey({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  // The separator is no part of any name.
  return `${operation}\0${operation === 'Apply' ? '' : apiVersion}\0${subresource}\0${manager}`;
}

/** What managers are sorted by in messages, and among those of the same second. */
export function managerText({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const version = operation === 'Apply' ? '' : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const below = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`;
  return `{"manager":${JSON.stringify(manager)},"operation":"${operation}"${version}${below}}`;
}

/** `managedFields` as somebody sent it says nothing that could be tracked. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

export type Entries = DeepReadonly<readonly ManagedFieldsEntry[]>;

/** From what a client sent, whatever that may be. Throws {@link ManagedFieldsError}. */
export function readManagers(entries: Entries | null | undefined): Managers {
  if (entries === undefined || entries === null) return NOBODY;
  const managers = new Map<string, Manager>();
  entries.forEach((entry, index) => {
    const manager = readEntry(entry, index);
    managers.set(managerKey(manager), manager);
  });
  return managers;
}

/** From what {@link writeManagers} wrote: it needs no judging, and its sets are in canonical form. */
export function storedManagers(entries: Entries | undefined): Managers {
  if (entries === undefined) return NOBODY;
  const managers = new Map<string, Manager>();
  for (const { manager = '', operation = 'Update', apiVersion = '', subresource = '', time, fieldsV1 } of entries) {
    const stored = managerWith(
      { manager, operation, apiVersion, subresource },
      (fieldsV1 ?? NOTHING) as FieldSet,
      time,
    );
    managers.set(managerKey(stored), stored);
  }
  return managers;
}

/** Written out: copying an object and adding to the copy is what a write would spend most of its time on. */
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

/** In the order in which they are shown: appliers first, then by time, then by name. Managers of nothing are left out. */
export function writeManagers(managers: Managers): ManagedFieldsEntry[] {
  const shown = [...managers.values()].filter(({ fields }) => !isEmptySet(fields));
  const entries = (shown.length > 1 ? shown.sort(byPlace) : shown).map(writeEntry);
  written.add(entries);
  return entries;
}

const written = new WeakSet<object>();

/** Whether {@link writeManagers} made it, and nobody since: what comes back as it was given out needs no reading. */
export function isWritten(entries: object): boolean {
  return Object.isFrozen(entries) && written.has(entries);
}

function writeEntry({ manager, operation, apiVersion, time, fields, subresource }: Manager): ManagedFieldsEntry {
  const fieldsV1 = fields as Record<string, unknown>;
  const fieldsType = 'FieldsV1';
  // The usual entry in one piece.
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

/** Entries that {@link writeManagers} wrote, with another time for one of them. */
export function writtenAnew(entries: Entries, index: number, time: string): Entries {
  const anew = [...entries];
  const { manager = '', operation = 'Update', apiVersion = '', fieldsV1, subresource = '' } = anew[index] ?? {};
  const fields = (fieldsV1 ?? NOTHING) as FieldSet;
  anew[index] = writeEntry({ manager, operation, apiVersion, time, fields, subresource });
  if (!isInPlace(anew, index)) anew.sort(byPlace);
  written.add(anew);
  return anew;
}

/** Whether one of them stands where it belongs; the others do. */
function isInPlace(entries: Entries, index: number): boolean {
  const entry = entries[index] as Entries[number];
  const before = entries[index - 1];
  const after = entries[index + 1];
  if (before !== undefined && byPlace(before, entry) > 0) return false;
  return after === undefined || byPlace(entry, after) <= 0;
}

function byPlace(left: Entries[number], right: Entries[number]): number {
  return (
    byBytes(left.operation ?? '', right.operation ?? '') ||
    byTime(left, right) ||
    byBytes(left.manager ?? '', right.manager ?? '') ||
    byBytes(left.apiVersion ?? '', right.apiVersion ?? '') ||
    byBytes(left.subresource ?? '', right.subresource ?? '')
  );
}

/** Times are in whole seconds of one zone, so they sort as text; who has none comes first. */
function byTime({ time: left = '' }: Entries[number], { time: right = '' }: Entries[number]): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** What the oldest of too many managers become. */
const ANCIENT = 'ancient-changes';
const MAX_UPDATERS = 10;

/**
 * Keeps the number of managers that update within bounds: the oldest of a version become one, without a subresource.
 * Those that apply are never touched.
 */
export function capUpdaters(managers: Managers): Managers {
  if (managers.size <= MAX_UPDATERS) return managers;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([, left], [, right]) => byTime(left, right) || byBytes(managerText(left), managerText(right)));
  return new Collapse(managers).run(updaters);
}

/** The oldest managers of one version, to become one. */
interface Bucket {
  readonly keys: string[];
  readonly sets: FieldSet[];
  /** Of the manager that went in last. */
  time: string | undefined;
}

class Collapse {
  readonly #managers: Map<string, Manager>;
  readonly #buckets = new Map<string, Bucket>();

  constructor(managers: Managers) {
    this.#managers = new Map(managers);
  }

  run(oldestFirst: readonly (readonly [key: string, manager: Manager])[]): Managers {
    let left = oldestFirst.length;
    for (const [key, manager] of oldestFirst) {
      if (left <= MAX_UPDATERS) break;
      // The first of a version has nobody yet to be merged with.
      if (this.#gather(key, manager) > 1) left--;
    }
    for (const [apiVersion, bucket] of this.#buckets) {
      if (bucket.keys.length > 1) this.#merge(apiVersion, bucket);
    }
    return this.#managers;
  }

  #gather(key: string, { apiVersion, fields, time }: Manager): number {
    const bucket = this.#buckets.get(apiVersion) ?? { keys: [], sets: [], time: undefined };
    this.#buckets.set(apiVersion, bucket);
    bucket.sets.push(fields);
    bucket.time = time;
    return bucket.keys.push(key);
  }

  #merge(apiVersion: string, { keys, sets, time }: Bucket): void {
    const identity: ManagerIdentity = { manager: ANCIENT, operation: 'Update', apiVersion, subresource: '' };
    const bucketKey = managerKey(identity);
    const present = this.#managers.get(bucketKey)?.fields ?? NOTHING;
    for (const key of keys) this.#managers.delete(key);
    this.#managers.set(bucketKey, managerWith(identity, unionOf([present, ...sets]), time));
  }
}

/**
 * Throws {@link FieldsError}.
 *
 * @example
 * readFieldsV1({ 'f:data': { 'f:b': {}, 'f:a': {} } }) // { 'f:data': { 'f:a': {}, 'f:b': {} } }
 */
export function readFieldsV1(value: unknown): FieldSet {
  if (value === undefined || value === null) return NOTHING;
  try {
    return readNode(value, false, 0) ?? NOTHING;
  } catch (error) {
    if (error instanceof PathElementError) throw new FieldsError(error.message, { cause: error });
    throw error;
  }
}

/** A node without any step that we know is a leaf, whatever it says. */
function readNode(value: unknown, isStep: boolean, depth: number): FieldSet | undefined {
  if (value === null) return LEAF;
  if (!isRecord(value)) throw new FieldsError('ReadObjectCB: expect { or n');
  if (depth > MAX_DEPTH) throw new FieldsError('exceeded max depth');
  const siblings = new Siblings(isStep && Object.hasOwn(value, SELF));
  for (const [text, inner] of Object.entries(value)) {
    if (text === SELF) continue;
    const element = parseElement(text);
    if (element === undefined) continue;
    const node = readNode(inner, true, depth + 1) ?? LEAF;
    const twin = siblings.get(element);
    siblings.add(element, twin === undefined ? node : united(twin, node));
  }
  const node = siblings.finish();
  return node ?? (isStep ? LEAF : undefined);
}

/** Of one step that was written twice, in two ways: what is below it is as it was written last. */
function united(first: FieldSet, last: FieldSet): FieldSet {
  if (!hasBelow(last)) return withSelf(first);
  return isMember(first) ? withSelf(last) : last;
}
