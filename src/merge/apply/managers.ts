/**
 * Who manages which fields of an object: `metadata.managedFields`, read and written. spec: Server-side apply
 *
 * A manager is told from others by its name, its operation and its subresource; one that updates also by the version it
 * writes in, so that it may appear once for each.
 */

import { byBytes } from '../../meta/go-value.js';
import type { DeepReadonly, ManagedFieldsEntry } from '../../meta/object.js';
import { timeToMs } from '../../meta/time.js';
import { type FieldSet, isEmptySet, NOTHING, union } from './field-set.js';
import { FieldsError, readFieldsV1 } from './fields-v1.js';

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

/** What managers are told apart by, and sorted by in messages. */
export function managerKey({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const version = operation === 'Apply' ? '' : `,"apiVersion":${JSON.stringify(apiVersion)}`;
  const below = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`;
  return `{"manager":${JSON.stringify(manager)},"operation":"${operation}"${version}${below}}`;
}

/** `managedFields` as somebody sent it says nothing that could be tracked. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

type Entries = DeepReadonly<readonly ManagedFieldsEntry[]>;

const known = new WeakMap<object, Managers>();

/** Throws {@link ManagedFieldsError}. Entries that are frozen, as those of stored objects are, are read once. */
export function readManagers(entries: Entries | null | undefined): Managers {
  if (entries === undefined || entries === null) return NOBODY;
  const present = known.get(entries);
  if (present !== undefined) return present;
  const managers = new Map<string, Manager>();
  entries.forEach((entry, index) => {
    const manager = readEntry(entry, index);
    managers.set(managerKey(manager), manager);
  });
  if (Object.isFrozen(entries)) known.set(entries, managers);
  return managers;
}

const NOBODY: Managers = new Map();

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
  const fields = readFields(entry, manager);
  return { manager, operation, apiVersion, subresource, fields, ...(time === undefined ? {} : { time }) };
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
  return [...managers.values()]
    .filter(({ fields }) => !isEmptySet(fields))
    .sort(byPlace)
    .map(writeEntry);
}

function writeEntry({ manager, operation, apiVersion, time, fields, subresource }: Manager): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = manager === '' ? { operation, apiVersion } : { manager, operation, apiVersion };
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = fields as Record<string, unknown>;
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

function byPlace(left: Manager, right: Manager): number {
  return (
    byBytes(left.operation, right.operation) ||
    seconds(left) - seconds(right) ||
    byBytes(left.manager, right.manager) ||
    byBytes(left.apiVersion, right.apiVersion) ||
    byBytes(left.subresource, right.subresource)
  );
}

function seconds({ time }: Manager): number {
  return time === undefined ? 0 : Math.floor(timeToMs(time) / 1000);
}

/** What the oldest of too many managers become. */
const ANCIENT = 'ancient-changes';
const MAX_UPDATERS = 10;

/**
 * Keeps the number of managers that update within bounds: the oldest of a version become one, without a subresource.
 * Those that apply are never touched.
 */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([leftKey, left], [rightKey, right]) => seconds(left) - seconds(right) || byBytes(leftKey, rightKey));
  return new Collapse(managers).run(updaters);
}

class Collapse {
  readonly #managers: Map<string, Manager>;
  /** The first manager of each version: there is nothing yet to merge it with. */
  readonly #first = new Map<string, string>();

  constructor(managers: Managers) {
    this.#managers = new Map(managers);
  }

  run(oldestFirst: readonly (readonly [key: string, manager: Manager])[]): Managers {
    let left = oldestFirst.length;
    for (const [key, manager] of oldestFirst) {
      if (left <= MAX_UPDATERS) break;
      const first = this.#first.get(manager.apiVersion);
      if (first === undefined) {
        this.#first.set(manager.apiVersion, key);
        continue;
      }
      this.#merge(first, key, manager);
      left--;
    }
    return this.#managers;
  }

  /** Puts a manager into the bucket of its version, and the first one before it if there was no bucket. */
  #merge(first: string, key: string, manager: Manager): void {
    const { apiVersion, time } = manager;
    const bucket: ManagerIdentity = { manager: ANCIENT, operation: 'Update', apiVersion, subresource: '' };
    const bucketKey = managerKey(bucket);
    const gathered = this.#managers.get(bucketKey)?.fields ?? this.#take(first)?.fields ?? NOTHING;
    this.#take(key);
    const fields = union(gathered, manager.fields);
    this.#managers.set(bucketKey, { ...bucket, fields, ...(time === undefined ? {} : { time }) });
  }

  #take(key: string): Manager | undefined {
    const manager = this.#managers.get(key);
    this.#managers.delete(key);
    return manager;
  }
}
