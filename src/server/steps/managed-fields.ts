/**
 * Field ownership of a write: sets `metadata.managedFields` of the draft. Runs before mutating admission and before the
 * kind prepares the object, so fields that they add have no owner. spec: Server-side apply
 */

import type { CustomResourceHandler } from '../../kinds/custom-resource-handler.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { FieldSet } from '../../merge/apply/field-set.js';
import { schemaProblem } from '../../merge/apply/intent-fields.js';
import {
  capUpdaters,
  type Entries,
  entriesSize,
  ManagedFieldsError,
  type ManagerIdentity,
  type Managers,
  managerKey,
  managerWith,
  NO_MANAGERS,
  readManagers,
  storedManagers,
  writeManagers,
} from '../../merge/apply/managers.js';
import {
  entriesAfterOwnChange,
  IncompatibleVersionError,
  managersAfterAnyUpdate,
  managersAfterUpdate,
  reconcileFieldSets,
  type Versioned,
  type Versions,
} from '../../merge/apply/ownership.js';
import { isExactAddition } from '../../merge/apply/same-owners.js';
import { trackedSchema } from '../../merge/apply/schema-sets.js';
import { RestoreError, restore } from '../../merge/restore.js';
import { errors } from '../../meta/errors.js';
import { parseApiVersion, printGvk } from '../../meta/gvk.js';
import type { ApiObject, DraftMeta, DraftObject, ManagedFieldsEntry } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import { withoutDefaults } from '../../schema/without-defaults.js';
import { recoverFrom, translateError } from '../../util/catch-error.js';
import { copyJson, deepEqual } from '../../util/json.js';
import { isPromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';
import { asDraft, decodeAs } from '../decode-body.js';
import { managerOf } from '../manager-name.js';
import { nonOwnableParts, ownableFilter } from '../ownable-fields.js';
import { ConversionPending, toServed, toStored } from '../versions.js';
import type { WriteOperation } from '../write-operation.js';
import { zeroFields } from './prepare.js';
import { sameButTime } from './same-as-live.js';
import { isTrackable, untrackableReason } from './trackable.js';

/** The creator owns all fields of a new object, besides the managers that the client sends. */
export function trackOwnershipOnCreate(draft: DraftObject, write: WriteOperation): void {
  const { served } = write;
  if (!isTrackable(draft, write)) {
    draft.metadata.managedFields = undefined;
    return;
  }
  const before = emptyObject(served);
  const managers = startingManagers(draft, undefined, write);
  // A plugin may change the entries before they are stored, so they are not shared then.
  const hasUntrustedPlugins = write.server.hasUntrustedPlugins(served);
  const last = hasUntrustedPlugins ? undefined : lastManagers.get(served);
  const like = managersOfLastCreated(draft, { before, managers, last }, write);
  const next = like ?? updateOrDropManagers(draft, before, { managers, after: managersAfterUpdate }, write);
  setManagers(draft.metadata, capUpdaters(next), last);
  if (hasUntrustedPlugins) return;
  if (draft.metadata.managedFields !== undefined) lastManagers.set(served, draft.metadata.managedFields);
}

/** The managedFields of the last created object per kind: consecutive objects often have equal entries and share them. */
const lastManagers = new WeakMap<ServedKind, ManagedFieldsEntry[]>();

/** The managers, if this object has the same fields and manager as the last created one. */
function managersOfLastCreated(
  draft: DraftObject,
  state: { readonly before: object; readonly managers: Managers; readonly last: Entries | undefined },
  write: WriteOperation,
): Managers | undefined {
  const { before, managers, last } = state;
  const { served, hookContext } = write;
  const [entry] = last ?? [];
  if (entry === undefined || last?.length !== 1 || managers.size > 0 || served.kind.customResourceHandler !== undefined)
    return undefined;
  const by = writerOf(write);
  const { manager = '', operation, apiVersion, subresource = '', fieldsV1 } = entry;
  if (manager !== by.manager || operation !== 'Update' || apiVersion !== by.apiVersion) return undefined;
  if (subresource !== by.subresource || fieldsV1 === undefined) return undefined;
  const fields = fieldsV1 as FieldSet;
  if (!isExactAddition(trackedSchema(served.schema), before, ownablePartsOnly(draft, before, write), fields))
    return undefined;
  return new Map([[managerKey(by), managerWith(by, fields, hookContext.now)]]);
}

function writerOf({ served, request }: WriteOperation): ManagerIdentity {
  const { apiVersion } = served;
  return { manager: managerOf(request), operation: 'Update', apiVersion, subresource: request.subresource ?? '' };
}

/** The writer owns the fields that an update changes. */
export function trackOwnershipOnUpdate(draft: DraftObject, live: ApiObject, write: WriteOperation): void {
  if (!isTrackable(draft, write) || !isTrackableVersion(live, write.served)) {
    draft.metadata.managedFields = undefined;
    return;
  }
  const again = fastPathEntries(draft, live, write);
  if (again !== undefined && again !== 'other') {
    draft.metadata.managedFields = again as ManagedFieldsEntry[];
    return;
  }
  const managers = startingManagers(draft, live, write);
  const after = again === 'other' ? managersAfterAnyUpdate : managersAfterUpdate;
  // The object is not tracked: a client has reset its managedFields.
  if (managers.size === 0) draft.metadata.managedFields = undefined;
  else {
    const next = capUpdaters(updateOrDropManagers(draft, live, { managers, after }, write));
    setManagers(draft.metadata, next, live.metadata.managedFields);
  }
}

/**
 * False if the live object does not match the schema of the requested version: it was written in another version, or with
 * another schema of the CRD.
 */
function isTrackableVersion(live: ApiObject, served: ServedKind): boolean {
  if (served.storageKind === undefined && served.kind.customResourceHandler === undefined) return true;
  return untrackableReason(live, served) === undefined;
}

/** `other`: entries of other managers change too. Undefined: the general path computes the managers. */
function fastPathEntries(draft: DraftObject, live: ApiObject, write: WriteOperation): Entries | 'other' | undefined {
  const { served, request, hookContext } = write;
  const entries = live.metadata.managedFields;
  const given = request.subresource === undefined ? draft.metadata.managedFields : undefined;
  if (entries === undefined || (given !== undefined && given !== entries)) return undefined;
  if (served.kind.customResourceHandler !== undefined) return undefined;
  const before = asVersioned(served, live);
  const after = asVersioned(served, ownablePartsOnly(draft, live, write));
  return entriesAfterOwnChange({ before, after, by: writerOf(write), now: hookContext.now }, entries);
}

/** An update succeeds without managers when ownership cannot be computed. */
function updateOrDropManagers(
  draft: DraftObject,
  before: unknown,
  { managers, after }: ManagersBefore,
  write: WriteOperation,
): Managers {
  const { served, hookContext } = write;
  const update = () => {
    const was = asVersioned(served, before);
    const is = asVersioned(served, ownablePartsOnly(draft, before, write));
    return after({ before: was, after: is, managers, by: writerOf(write), now: hookContext.now }, versionsOf(write));
  };
  return recoverFrom(IncompatibleVersionError, update, () => NO_MANAGERS);
}

/** The managers before the update, and the function that computes them after it. */
interface ManagersBefore {
  readonly managers: Managers;
  readonly after: typeof managersAfterUpdate;
}

/**
 * The draft with its non-ownable parts replaced by the previous ones, so that they do not count as changed. In other versions of
 * a custom resource they count; the filter removes them in the requested one.
 * upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go GetResetFields
 */
function ownablePartsOnly(draft: DraftObject, before: unknown, { served, request }: WriteOperation): unknown {
  const parts = nonOwnableParts(served, request.subresource ?? '');
  if (parts.length === 0 || served.kind.customResourceHandler !== undefined) return draft;
  const known = before as Readonly<Record<string, unknown>>;
  const out: Record<string, unknown> = { ...draft };
  for (const part of parts) {
    if (Object.hasOwn(known, part)) out[part] = known[part];
    else if (Object.hasOwn(out, part)) delete out[part];
  }
  return out;
}

export function asVersioned({ apiVersion, schema }: ServedKind, value: unknown): Versioned {
  return { apiVersion, schema, value };
}

/** The managers that the client sends, or those of the live object. Subresource writes cannot set them. */
function startingManagers(draft: DraftObject, live: ApiObject | undefined, write: WriteOperation): Managers {
  const given = write.request.subresource === undefined ? draft.metadata.managedFields : undefined;
  if (given !== undefined && given !== live?.metadata.managedFields) {
    if (isReset(given)) return NO_MANAGERS;
    // Clients usually send the entries that they have read.
    const isLive = live !== undefined && deepEqual(given, live.metadata.managedFields);
    const parse = () => (isLive ? managersIn(live) : readManagers(given));
    const sent = recoverFrom(ManagedFieldsError, parse, () => NO_MANAGERS);
    const state = asVersioned(write.served, live ?? draft);
    // Entries of versions that the object cannot be converted to are kept.
    const reconcile = () => reconcileFieldSets(sent, state, versionsOf(write));
    if (sent.size > 0) return recoverFrom(IncompatibleVersionError, reconcile, () => sent);
  }
  return live === undefined ? NO_MANAGERS : managersIn(live);
}

/** A client resets ownership with an empty list or one empty entry. */
function isReset(given: readonly ManagedFieldsEntry[]): boolean {
  const [first] = given;
  return first === undefined || (given.length === 1 && Object.keys(first).length === 0);
}

export function managersIn(object: ApiObject): Managers {
  return storedManagers(object.metadata.managedFields);
}

/**
 * Any number of appliers may own the same fields. The reference server's limit is the size of a request to etcd, 1.5 MiB for the
 * whole object.
 */
const MAX_ENTRIES_SIZE = 4 * 1024 * 1024;

/**
 * `before`: entries to reuse if they are equal. Reused entries are neither compared nor encoded nor frozen again. Throws 413 for
 * entries that are too large, unless they shrink.
 */
export function setManagers(
  metadata: DraftMeta,
  managers: Managers,
  before: ApiObject['metadata']['managedFields'] | undefined,
): void {
  const entries = managers.size === 0 ? [] : writeManagers(managers);
  const size = entriesSize(entries);
  if (size > MAX_ENTRIES_SIZE && size > entriesSize(before ?? [])) {
    throw errors.requestTooLarge(`metadata.managedFields: limit is ${MAX_ENTRIES_SIZE} characters`);
  }
  if (entries.length === 0) metadata.managedFields = undefined;
  else metadata.managedFields = before === undefined ? entries : sharedEntries(before, entries);
}

/** The previous entries if they are equal; otherwise the new ones, with the previous field sets where only the time differs. */
function sharedEntries(before: Entries, entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  if (before.length !== entries.length) return entries;
  let isSame = true;
  for (let index = 0; index < entries.length; index++) {
    const was = before[index] as Entries[number];
    const entry = entries[index] as ManagedFieldsEntry;
    if (!sameButTime(was, entry)) isSame = false;
    else {
      if (was.time !== entry.time) isSame = false;
      if (was.fieldsV1 !== undefined) entry.fieldsV1 = was.fieldsV1 as FieldSet;
    }
  }
  return isSame ? (before as ManagedFieldsEntry[]) : entries;
}

/**
 * Gives plugins a copy of the managedFields. The result takes over their changes; malformed entries are discarded with a
 * warning. The copy itself is never stored.
 */
export function detachManagedFields(draft: DraftObject, write: WriteOperation): (returned: DraftObject) => void {
  const own = draft.metadata.managedFields;
  // The built-in plugins do not touch managedFields.
  if (!write.server.hasUntrustedPlugins(write.served)) return () => undefined;
  draft.metadata.managedFields = copyJson(own);
  return ({ metadata }) => {
    const accept = () => setManagers(metadata, readManagers(metadata.managedFields), own);
    recoverFrom(ManagedFieldsError, accept, ({ message }) => {
      metadata.managedFields = own;
      write.warnings.push(
        `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${message}`,
      );
    });
  };
}

const emptyObjects = new WeakMap<ObjectNode, object>();

/** An object with zero values only. */
export function emptyObject({ schema }: ServedKind): object {
  return getOrInsertComputed(emptyObjects, schema, (node) =>
    node.representation === 'struct' ? zeroFields(node) : {},
  );
}

export function versionsOf(write: WriteOperation): Versions {
  const { served, request } = write;
  const filter = ownableFilter(served, request.subresource ?? '');
  const isCustom = served.kind.customResourceHandler !== undefined;
  return {
    filter: (fields, apiVersion) => (isCustom && apiVersion !== served.apiVersion ? fields : filter(fields)),
    convert(object, apiVersion) {
      if (object.apiVersion === apiVersion) return object;
      const from = servedIn(write, object.apiVersion);
      const to = servedIn(write, apiVersion);
      if (from === undefined || to === undefined) return undefined;
      if (to.kind.customResourceHandler !== undefined) {
        return inCustomVersion(to, to.kind.customResourceHandler, { object: object.value as ApiObject, request });
      }
      const converted = toServed(to, toStorageVersion(from, object.value as ApiObject));
      requireTrackable(to.schema, converted);
      return asVersioned(to, converted);
    },
  };
}

/** The asynchronous conversions of a request, by version and object. Each of them starts the request again. */
const conversions = new WeakMap<ApiRequest, Map<string, () => ApiObject>>();

/**
 * For ownership, a field that a version does not declare makes the object incompatible with it, where a conversion for reads
 * would drop the field.
 */
function inCustomVersion(
  to: ServedKind,
  custom: CustomResourceHandler,
  { object, request }: { readonly object: ApiObject; readonly request: ApiRequest },
): Versioned {
  // Pruning may have removed all metadata.
  const { managedFields: _, ...metadata }: Partial<ApiObject['metadata']> = object.metadata ?? {};
  const input = { ...object, metadata } as ApiObject;
  const key = custom.mayBeAsynchronous ? `${to.apiVersion} ${JSON.stringify(input)}` : '';
  const known = conversions.get(request)?.get(key);
  const converted = known === undefined ? custom.convertUnpruned(input) : known();
  if (isPromise(converted)) {
    const finished = getOrInsertComputed(conversions, request, () => new Map<string, () => ApiObject>());
    const onFailure = (error: unknown): void => {
      finished.set(key, () => {
        throw new IncompatibleVersionError(messageOf(error));
      });
    };
    throw new ConversionPending(converted.then((result) => void finished.set(key, () => result), onFailure));
  }
  requireTrackable(to.schema, converted);
  return asVersioned(to, converted);
}

/** Rejects undeclared fields, and items of a set or a keyed list that occur twice. */
function requireTrackable(schema: ObjectNode, { metadata, ...body }: ApiObject): void {
  const object = { ...body, metadata: { ...metadata, managedFields: undefined } };
  const problem = schemaProblem(schema, object, { allowsDuplicates: false });
  if (problem !== undefined) throw new IncompatibleVersionError(problem);
}

function toStorageVersion(from: ServedKind, object: ApiObject): ApiObject {
  // The stored object of the live one may have more than its version can represent, which the draft has lost too.
  if (Object.isFrozen(object)) return toStored(from, object);
  // The result of a merge may have values of the wrong type, and lack fields that conversions expect. Decoding also copies,
  // because conversions are cached by identity and a draft may still change.
  const refuse = (why: string) =>
    new IncompatibleVersionError(`unable to convert unstructured object to ${printGvk(from.gvk)}: ${why}`);
  const restored = () => restore(from.schema, object).value;
  const document = { value: translateError(RestoreError, restored, ({ message }) => refuse(message)) };
  const { value } = decodeAs({ kind: from.kind, schema: withoutDefaults(from.schema) }, document, refuse);
  return toStored(from, asDraft(value, object, from) as unknown as ApiObject);
}

/** Another served version of the kind; undefined if it is not served. */
export function servedIn({ served, server }: WriteOperation, apiVersion: string): ServedKind | undefined {
  if (apiVersion === served.apiVersion) return served;
  const gv = parseApiVersion(apiVersion);
  if (gv === undefined) return undefined;
  const other = server.registry.byKind({ ...gv, kind: served.gvk.kind });
  return other?.storageKey === served.storageKey ? other : undefined;
}
