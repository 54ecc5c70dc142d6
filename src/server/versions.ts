/**
 * Conversion between the storage version and the served versions of a kind. Custom resources are also brought up to the
 * current schema of their CRD when they are read.
 *
 * Results are cached by identity in both directions: an object that is read twice is the same object, and a served object
 * leads back to the stored one.
 *
 * A conversion webhook is asynchronous. Reading an object that is not converted yet throws {@link ConversionPending}; the
 * dispatcher waits and starts the request again. No write has changed anything at that point; a write converts its own
 * result with {@link convertBeforeCommit} before the commit.
 */
import type { CustomResourceHandler } from '../kinds/custom-resource-handler.js';
import type { StorageVersion } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { invariant } from '../util/invariant.js';
import { copyJson, type MutableRecord, setOwn } from '../util/json.js';
import { unsharedBytes } from '../util/json-bytes.js';
import { chain, isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { getOrInsertComputed } from '../util/once.js';
import { seal } from './steps/seal.js';

/** More than real contention causes: objects that are written faster than they are converted. */
export const MAX_CONVERSIONS = 100;

/** Objects are being converted; start the request again when `ready` resolves. */
export class ConversionPending extends Error {
  override readonly name = 'ConversionPending';
  /** Rejects with a StatusError when the conversion fails. */
  readonly ready: Promise<void>;

  constructor(ready: Promise<void>) {
    super('objects are being converted');
    this.ready = ready;
    // The handler of this error reports the failure; without this, an unhandled rejection would be reported as well.
    ready.catch(() => undefined);
  }
}

const servedByStored = new WeakMap<ServedKind, WeakMap<ApiObject, ApiObject>>();
const storedByServed = new WeakMap<ApiObject, ApiObject>();

/** Whether a served object may differ from the stored one. */
export function differsFromStored({ storageKind, kind }: ServedKind): boolean {
  return storageKind !== undefined || kind.customResourceHandler !== undefined;
}

/** A stored object in the version of `served`. */
export function toServed(served: ServedKind, stored: ApiObject): ApiObject {
  if (!differsFromStored(served)) return stored;
  const known = servedObjectCache(served);
  let object = known.get(stored);
  if (object === undefined) {
    const { customResourceHandler: custom } = served.kind;
    if (custom === undefined) {
      object = convert(stored, served, served.kind.storageVersion?.fromStored);
      cacheConverted(served, stored, object);
    } else {
      convertNow(served, custom, [stored]);
      object = known.get(stored) as ApiObject;
    }
  }
  return object;
}

/** Converts many stored objects, with one webhook call for all objects of a usual list. */
export function toServedAll(served: ServedKind, stored: readonly ApiObject[]): readonly ApiObject[] {
  if (!differsFromStored(served)) return stored;
  const { customResourceHandler: custom } = served.kind;
  if (custom?.mayBeAsynchronous === true) {
    const known = servedObjectCache(served);
    convertNow(
      served,
      custom,
      stored.filter((object) => object.apiVersion !== served.apiVersion && !known.has(object)),
    );
  }
  return stored.map((object) => toServed(served, object));
}

/** Converts and caches objects, one batch after the other. Throws {@link ConversionPending} if that is asynchronous. */
function convertNow(served: ServedKind, custom: CustomResourceHandler, stored: readonly ApiObject[]): void {
  let done: MaybePromise<void> = void 0;
  for (const batch of batchesOf(stored)) {
    const cache = (objects: readonly ApiObject[]): void => {
      objects.forEach((object, index) => {
        cacheConverted(served, batch[index] as ApiObject, object);
      });
    };
    done = chain(done, () => chain(custom.convertFromStorage(batch), cache));
  }
  if (isPromise(done)) throw new ConversionPending(done);
}

/** The estimated size of the objects that are converted at the same time: about eight million characters. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024;

function batchesOf(objects: readonly ApiObject[]): readonly (readonly ApiObject[])[] {
  if (objects.length <= 1) return objects.length === 0 ? [] : [objects];
  const batches: ApiObject[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const object of objects) {
    const size = unsharedBytes(object);
    bytes += size;
    if (bytes <= MAX_BATCH_BYTES) batches.at(-1)?.push(object);
    else {
      batches.push([object]);
      bytes = size;
    }
  }
  return batches;
}

function servedObjectCache(served: ServedKind): WeakMap<ApiObject, ApiObject> {
  return getOrInsertComputed(servedByStored, served, newCache);
}

const newCache = () => new WeakMap<ApiObject, ApiObject>();

/** Records that `stored` is served as `object`. */
export function cacheConverted(served: ServedKind, stored: ApiObject, object: ApiObject): void {
  servedObjectCache(served).set(stored, object);
  if (object !== stored) storedByServed.set(object, stored);
}

/** The stored object behind a result of {@link toServed}. */
export function storedObjectOf(servedObject: ApiObject): ApiObject {
  return storedByServed.get(servedObject) ?? servedObject;
}

/** By sealed object: the stored and the served version of a write, converted before its commit. */
const convertedWrites = new WeakMap<ApiObject, { readonly stored: ApiObject; readonly served: ApiObject }>();

/** Runs the asynchronous conversions of a write before its commit. */
export function convertBeforeCommit(served: ServedKind, sealed: ApiObject): MaybePromise<void> {
  const { customResourceHandler: custom } = served.kind;
  if (custom?.mayBeAsynchronous !== true) return undefined;
  return chain(custom.convertToStorage(sealed), (stored) =>
    chain(custom.convertFromStorage([stored]), ([object]) => {
      convertedWrites.set(sealed, { stored, served: object as ApiObject });
    }),
  );
}

/** What {@link convertBeforeCommit} made of an object; the object itself if it converts nothing. */
export function convertedForm(sealed: ApiObject): ApiObject {
  return convertedWrites.get(sealed)?.stored ?? sealed;
}

/**
 * Converts a sealed object to its storage version, with its resourceVersion. `known`: the result without the
 * resourceVersion, if the caller has it.
 */
export function toStored(
  served: ServedKind,
  sealed: ApiObject,
  resourceVersion?: string,
  known?: ApiObject,
): ApiObject {
  const object = resourceVersion === undefined ? sealed : withResourceVersion(sealed, resourceVersion);
  const { storageKind, kind } = served;
  if (kind.customResourceHandler === undefined) {
    return storageKind === undefined ? object : convert(object, storageKind, kind.storageVersion?.toStored);
  }
  const converted = convertedWrites.get(sealed);
  if (converted === undefined) {
    if (known !== undefined && resourceVersion !== undefined) return withResourceVersion(known, resourceVersion);
    const stored = kind.customResourceHandler.convertToStorage(object);
    invariant(!isPromise(stored), 'convertBeforeCommit has run the asynchronous conversion');
    return stored;
  }
  if (resourceVersion === undefined) {
    cacheConverted(served, converted.stored, converted.served);
    return converted.stored;
  }
  const stored = withResourceVersion(converted.stored, resourceVersion);
  cacheConverted(served, stored, withResourceVersion(converted.served, resourceVersion));
  return stored;
}

/** The object with another resourceVersion. An object that is not frozen yet is changed in place and frozen. */
export function withResourceVersion(object: ApiObject, resourceVersion: string): ApiObject {
  if (!Object.isFrozen(object)) {
    (object.metadata as { resourceVersion: string }).resourceVersion = resourceVersion;
    Object.freeze(object.metadata);
    return Object.freeze(object);
  }
  return withMember(object, 'metadata', withMember(object.metadata, 'resourceVersion', resourceVersion));
}

/**
 * A frozen copy with one changed member. Copied key by key: `{ ...record, key: value }` takes microseconds at a call site
 * that sees many hidden classes.
 */
function withMember<Type extends object, Key extends keyof Type & string>(
  record: Type,
  key: Key,
  value: NonNullable<Type[Key]>,
): Type {
  const copy: MutableRecord = {};
  for (const name in record) {
    if (name === '__proto__') setOwn(copy, name, record[name]);
    else copy[name] = record[name];
  }
  copy[key] = value;
  return Object.freeze(copy) as Type;
}

type Conversion = NonNullable<StorageVersion['toStored']>;

function convert(object: ApiObject, to: ServedKind, change: Conversion | undefined): ApiObject {
  // Versions with the same schema share everything but apiVersion.
  if (change === undefined) return Object.freeze({ ...object, apiVersion: to.apiVersion });
  // Conversions change nothing in deeper values, of which it remains known what the client sent.
  const draft = { ...object, metadata: copyJson(object.metadata) } as unknown as DraftObject;
  change(draft, to.dialect);
  draft.apiVersion = to.apiVersion;
  draft.kind = to.gvk.kind;
  return seal(to.schema, draft, object.metadata.resourceVersion);
}
