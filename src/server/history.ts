/**
 * The kept changes of one object: the result of `cluster.history`.
 */

import { isKind } from '../kinds/build-kind.js';
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { isSubset } from '../merge/apply/field-set.js';
import { type Manager, managerKey, storedManagers } from '../merge/apply/managers.js';
import type { Dialect } from '../meta/dialect.js';
import { parseApiVersion } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import type { Registry } from '../registry/registry.js';
import type { LogEntry } from '../storage/event-log.js';
import type { Store } from '../storage/store.js';
import { recoverFrom } from '../util/catch-error.js';
import { isRecord } from '../util/json.js';
import { unknownKind, unknownResource } from './unknown-resource.js';
import { ConversionPending, toServed } from './versions.js';

/** One change of an object. */
export interface ChangeRecord<Object = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The resourceVersion that the change created. */
  readonly resourceVersion: string;
  /** Milliseconds of the cluster's clock. */
  readonly time: number;
  /** The object after the change; for a deletion, the deleted object with the resourceVersion of the deletion. */
  readonly object: Object;
  /** The object before it; absent for ADDED. */
  readonly previous?: Object;
  /** The field manager of the write, derived from managedFields; absent for deletions and writes that own no field. */
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  /** The subresource that was written: `status`, `scale`. */
  readonly subresource?: string;
}

/** An object that was read, or the part of it that identifies it. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface HistoryOptions {
  /** Absent: the namespace of the cluster's own client. Only for namespaced kinds. */
  readonly namespace?: string | undefined;
}

export interface HistoryContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly dialect: Dialect;
  /** The default namespace. */
  readonly namespace: string;
}

/** All kept changes of one object, oldest first. Throws TypeError on misuse, NotFound for kinds that are not served. */
export function historyOf(
  context: HistoryContext,
  what: Kind | ObjectReference,
  name?: string,
  options: HistoryOptions = {},
): readonly ChangeRecord[] {
  const { served, key } = addressOf(context, what, name, options);
  const changes = context.store.changesOf({ storageKey: served.storageKey, ...key });
  return Object.freeze(changes.map((entry) => recordOf(served, entry)));
}

interface Address {
  readonly served: ServedKind;
  readonly key: { readonly namespace: string; readonly name: string };
}

function addressOf(
  context: HistoryContext,
  what: Kind | ObjectReference,
  name: string | undefined,
  { namespace }: HistoryOptions,
): Address {
  if (isKind(what)) {
    const resource = { group: context.dialect.group(what.group), version: what.version, resource: what.names.plural };
    const served = context.registry.byResource(resource);
    if (served === undefined) throw unknownResource(context.registry, resource);
    return { served, key: keyIn(context, served, { name, namespace }) };
  }
  const { apiVersion, kind, metadata } = (isRecord(what) ? what : {}) as Partial<ObjectReference>;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || !isRecord(metadata)) {
    throw new TypeError("orchplane: history takes a kind and a name, as in history(Pod, 'web'), or an object");
  }
  const gv = parseApiVersion(apiVersion);
  const served = gv === undefined ? undefined : context.registry.byKind({ ...gv, kind });
  if (served === undefined) throw unknownKind(apiVersion, kind);
  return { served, key: keyIn(context, served, metadata) };
}

function keyIn(
  context: HistoryContext,
  { kind, namespaced }: ServedKind,
  { name, namespace }: { readonly name?: unknown; readonly namespace?: unknown },
): Address['key'] {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(`orchplane: history of ${kind.kind} needs the name of an object`);
  }
  if (!namespaced) {
    if (namespace === undefined) return { namespace: '', name };
    throw new TypeError(`orchplane: ${kind.kind} is cluster-scoped: history takes no namespace`);
  }
  const where = namespace ?? context.namespace;
  if (typeof where === 'string' && where !== '') return { namespace: where, name };
  throw new TypeError(`orchplane: history of ${kind.kind} needs the name of a namespace`);
}

function recordOf(served: ServedKind, entry: LogEntry): ChangeRecord {
  const { type, revision, time, object, previous } = entry;
  const writer = type === 'DELETED' ? undefined : writerOf(object, previous);
  return Object.freeze({
    type,
    resourceVersion: String(revision),
    time,
    object: toServedOrStored(served, object),
    ...(previous === undefined ? {} : { previous: toServedOrStored(served, previous) }),
    ...(writer === undefined ? {} : { manager: writer.manager, operation: writer.operation }),
    ...(writer === undefined || writer.subresource === '' ? {} : { subresource: writer.subresource }),
  });
}

/**
 * Converts to the requested version. A custom resource that is stored in that version, or whose conversion would be
 * asynchronous, is returned as it was stored: the current CRD does not describe past states.
 */
function toServedOrStored(served: ServedKind, stored: ApiObject): ApiObject {
  if (served.kind.customResourceHandler !== undefined && stored.apiVersion === served.apiVersion) return stored;
  return recoverFrom(
    ConversionPending,
    () => toServed(served, stored),
    () => stored,
  );
}

/** The manager whose entry gained fields. An entry that lost fields belongs to another manager than the writer. */
function writerOf(object: ApiObject, previous: ApiObject | undefined): Manager | undefined {
  const before = storedManagers(previous?.metadata.managedFields);
  const changed: Manager[] = [];
  const gained: Manager[] = [];
  for (const manager of storedManagers(object.metadata.managedFields).values()) {
    const was = before.get(managerKey(manager));
    const hasGained = was === undefined || !isSubset(manager.fields, was.fields);
    if (hasGained) gained.push(manager);
    if (hasGained || was.time !== manager.time || !isSubset(was.fields, manager.fields)) changed.push(manager);
  }
  const candidates = gained.length > 0 ? gained : changed;
  let newest: Manager | undefined;
  for (const each of candidates) if (newest === undefined || (each.time ?? '') > (newest.time ?? '')) newest = each;
  return newest;
}
