/**
 * Who manages the fields of an object that is written: `metadata.managedFields` of the draft. Runs on what the client
 * asked for, before plugins and the kind have their say: what they add belongs to nobody. spec: Server-side apply
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import {
  capUpdaters,
  ManagedFieldsError,
  type Managers,
  readManagers,
  writeManagers,
} from '../../merge/apply/managers.js';
import { afterUpdate, type Versioned, type Versions } from '../../merge/apply/ownership.js';
import { parseApiVersion } from '../../meta/gvk.js';
import type { ApiObject, DraftMeta, DraftObject, ManagedFieldsEntry } from '../../meta/object.js';
import { untouchedFields } from '../../schema/decode.js';
import type { ObjectNode } from '../../schema/structural.js';
import { deepEqual } from '../../util/json.js';
import { claimFilter } from '../claims.js';
import type { WriteJob } from '../job.js';
import { managerOf } from '../manager-name.js';
import { present, storedFormOf, toStored } from '../versions.js';

/** A new object belongs to who creates it. Says that it had owners before only if the client says so. */
export function ownNew(draft: DraftObject, job: WriteJob): void {
  const { served } = job;
  const given = draft.metadata.managedFields;
  setManagers(
    draft.metadata,
    capUpdaters(updated(draft, emptyObject(served), startingManagers(given, undefined), job)),
  );
}

/** What an update changes belongs to who updates. */
export function ownUpdated(draft: DraftObject, live: ApiObject, job: WriteJob): void {
  const before = live.metadata.managedFields;
  const given = job.request.subresource === undefined ? draft.metadata.managedFields : undefined;
  const managers = startingManagers(given, before);
  // Nobody tracks this object: it was written before anybody did, or a client has put an end to it.
  if (managers.size === 0) draft.metadata.managedFields = undefined;
  else setManagers(draft.metadata, capUpdaters(updated(draft, live, managers, job)), before);
}

function updated(draft: DraftObject, before: unknown, managers: Managers, job: WriteJob): Managers {
  const { served, moment, request } = job;
  const { apiVersion } = served;
  const by = {
    manager: managerOf(request),
    operation: 'Update',
    apiVersion,
    subresource: request.subresource ?? '',
  } as const;
  const update = {
    before: asVersioned(served, before),
    after: asVersioned(served, draft),
    managers,
    by,
    now: moment.now,
  };
  return afterUpdate(update, versionsOf(job));
}

export function asVersioned({ apiVersion, schema }: ServedKind, value: unknown): Versioned {
  return { apiVersion, schema, value };
}

/** Who the client says the managers are; who they were, unless it says something that can be read. */
function startingManagers(given: DraftMeta['managedFields'], before: ApiObject['metadata']['managedFields']): Managers {
  if (given !== undefined && isReset(given)) return NOBODY;
  const said = readable(given);
  return said.size > 0 ? said : readable(before);
}

/** How a client takes everything from everybody: an empty list, or one entry with nothing in it. */
function isReset(given: readonly ManagedFieldsEntry[]): boolean {
  const [first] = given;
  return first === undefined || (given.length === 1 && Object.keys(first).length === 0);
}

/** Those of a stored object. */
export function managersIn(object: ApiObject): Managers {
  return readable(object.metadata.managedFields);
}

function readable(entries: ApiObject['metadata']['managedFields'] | undefined): Managers {
  try {
    return readManagers(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return NOBODY;
    throw error;
  }
}

const NOBODY: Managers = new Map();

/** Keeps the entries as they are where they are to stay: what is shared is compared, encoded and frozen for nothing. */
export function setManagers(
  metadata: DraftMeta,
  managers: Managers,
  before?: ApiObject['metadata']['managedFields'],
): void {
  if (managers.size === 0) metadata.managedFields = undefined;
  else if (before !== undefined && managers === readable(before))
    metadata.managedFields = before as ManagedFieldsEntry[];
  else metadata.managedFields = writeManagers(managers);
}

const emptyObjects = new WeakMap<ObjectNode, object>();

/** An object of the kind before anybody has said anything: structs that are always there are there, and empty. */
export function emptyObject({ schema }: ServedKind): object {
  let empty = emptyObjects.get(schema);
  if (empty === undefined) {
    empty = schema.manner === 'struct' ? untouchedFields(schema) : {};
    emptyObjects.set(schema, empty);
  }
  return empty;
}

export function versionsOf(job: WriteJob): Versions {
  const { served, request } = job;
  return {
    filter: claimFilter(served, request.subresource ?? ''),
    convert(object, apiVersion) {
      if (object.apiVersion === apiVersion) return object;
      const from = servedIn(job, object.apiVersion);
      const to = servedIn(job, apiVersion);
      if (from === undefined || to === undefined) return undefined;
      return asVersioned(to, present(to, inStore(from, object.value as ApiObject)));
    },
  };
}

function inStore(from: ServedKind, object: ApiObject): ApiObject {
  const stored = storedFormOf(object);
  if (stored !== object) return stored;
  // A copy at the top: conversions are remembered by identity, and a draft still changes.
  return toStored(from, Object.isFrozen(object) ? object : { ...object });
}

/** Another version of the kind that is written; undefined when it is not served. */
export function servedIn({ served, context }: WriteJob, apiVersion: string): ServedKind | undefined {
  if (apiVersion === served.apiVersion) return served;
  const gv = parseApiVersion(apiVersion);
  if (gv === undefined) return undefined;
  const other = context.registry.byKind({ ...gv, kind: served.gvk.kind });
  return other?.storage === served.storage ? other : undefined;
}

/**
 * An object that has not changed keeps the times of its managers: that somebody applied the same once more is no reason
 * to store it again.
 */
export function withTimesOf(live: ApiObject, next: ApiObject): ApiObject {
  const before = live.metadata.managedFields;
  const after = next.metadata.managedFields;
  if (before === undefined || after === undefined || before === after || before.length !== after.length) return next;
  const isSame = after.every((entry, index) =>
    deepEqual({ ...entry, time: undefined }, { ...before[index], time: undefined }),
  );
  if (!isSame) return next;
  const kept = { ...next, metadata: { ...next.metadata, managedFields: before } };
  return deepEqual(kept, live) ? live : next;
}
