/**
 * Several versions of one kind: objects are stored in the form of one of them and shown in the form that is asked for.
 * Objects of custom kinds are also shown as their definition is now, whatever it was when they were stored.
 *
 * Both directions remember their results by identity, so that an object read twice is the same object, and a live
 * object that was shown in another version leads back to what the store holds.
 *
 * A conversion by webhook has to be waited for. Reading an object that was not converted yet throws
 * {@link ConversionPending}: whoever handles the request waits and begins again (`dispatch.ts`). Nothing of a write has
 * happened then; what a write itself has to convert is done by {@link planConversion} before it is stored.
 */
import type { CustomResourceHandler } from '../kinds/custom-resource-handler.js';
import type { StorageVersion } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { invariant } from '../util/invariant.js';
import { copyJson, type MutableRecord, setOwn } from '../util/json.js';
import { chain, isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { seal } from './steps/seal.js';

/** Objects are on their way to another version; begin again when they are there. */
export class ConversionPending extends Error {
  override readonly name = 'ConversionPending';
  /** Rejects with the Status when they cannot be converted. */
  readonly ready: Promise<void>;

  constructor(ready: Promise<void>) {
    super('objects are being converted');
    this.ready = ready;
    // Whoever catches this decides what becomes of it.
    ready.catch(() => undefined);
  }
}

const shown = new WeakMap<ServedKind, WeakMap<ApiObject, ApiObject>>();
const storedForms = new WeakMap<ApiObject, ApiObject>();

/** Whether what is stored may differ from what is shown. */
export function differsFromStored({ storageKind, kind }: ServedKind): boolean {
  return storageKind !== undefined || kind.custom !== undefined;
}

/** A stored object in the version of `served`. */
export function toServed(served: ServedKind, stored: ApiObject): ApiObject {
  if (!differsFromStored(served)) return stored;
  const known = shownBy(served);
  let object = known.get(stored);
  if (object === undefined) {
    const { custom } = served.kind;
    if (custom === undefined) object = convert(stored, served, served.kind.storageVersion?.fromStored);
    else [object] = showNow(served, custom, [stored]) as [ApiObject];
    cacheConverted(served, stored, object);
  }
  return object;
}

/** Many stored objects at once: what has to be asked for is asked for in one go. */
export function presentAll(served: ServedKind, stored: readonly ApiObject[]): readonly ApiObject[] {
  if (!differsFromStored(served)) return stored;
  const { custom } = served.kind;
  if (custom?.mayWait === true) {
    const known = shownBy(served);
    const missing = stored.filter((object) => !known.has(object));
    showNow(served, custom, missing).forEach((object, index) => {
      cacheConverted(served, missing[index] as ApiObject, object);
    });
  }
  return stored.map((object) => toServed(served, object));
}

function showNow(
  served: ServedKind,
  custom: CustomResourceHandler,
  stored: readonly ApiObject[],
): readonly ApiObject[] {
  const objects = custom.convertFromStorage(stored);
  if (!isPromise(objects)) return objects;
  throw new ConversionPending(
    objects.then((converted) => {
      converted.forEach((object, index) => {
        cacheConverted(served, stored[index] as ApiObject, object);
      });
    }),
  );
}

function shownBy(served: ServedKind): WeakMap<ApiObject, ApiObject> {
  let known = shown.get(served);
  if (known === undefined) {
    known = new WeakMap();
    shown.set(served, known);
  }
  return known;
}

/** From now on `stored` is shown as `object`. */
export function cacheConverted(served: ServedKind, stored: ApiObject, object: ApiObject): void {
  shownBy(served).set(stored, object);
  if (object !== stored) storedForms.set(object, stored);
}

/** What the store holds for an object that {@link toServed} showed. */
export function storedObjectOf(shownObject: ApiObject): ApiObject {
  return storedForms.get(shownObject) ?? shownObject;
}

/** Both ends of a write, worked out before it is carried out. */
const planned = new WeakMap<ApiObject, { readonly form: ApiObject; readonly shown: ApiObject }>();

/** Does what of storing an object may have to be waited for. */
export function planConversion(served: ServedKind, sealed: ApiObject): MaybePromise<void> {
  const { custom } = served.kind;
  if (custom?.mayWait !== true) return undefined;
  return chain(custom.convertToStorage(sealed), (form) =>
    chain(custom.convertFromStorage([form]), ([object]) => {
      planned.set(sealed, { form, shown: object as ApiObject });
    }),
  );
}

/** A finished object of the version of `served` in the form it is stored in, at its revision. */
export function toStored(served: ServedKind, sealed: ApiObject, resourceVersion?: string): ApiObject {
  const object = resourceVersion === undefined ? sealed : withRevision(sealed, resourceVersion);
  const { storageKind, kind } = served;
  if (kind.custom === undefined) {
    return storageKind === undefined ? object : convert(object, storageKind, kind.storageVersion?.toStored);
  }
  const plan = planned.get(sealed);
  if (plan === undefined) {
    const form = kind.custom.convertToStorage(object);
    invariant(!isPromise(form), 'a conversion that is waited for is planned');
    return form;
  }
  if (resourceVersion === undefined) return plan.form;
  const form = withRevision(plan.form, resourceVersion);
  cacheConverted(served, form, withRevision(plan.shown, resourceVersion));
  return form;
}

/** The same object at another version; the key keeps its place in wire order. One that is almost sealed is sealed. */
export function withRevision(object: ApiObject, resourceVersion: string): ApiObject {
  if (!Object.isFrozen(object)) {
    (object.metadata as { resourceVersion: string }).resourceVersion = resourceVersion;
    Object.freeze(object.metadata);
    return Object.freeze(object);
  }
  return withMember(object, 'metadata', withMember(object.metadata, 'resourceVersion', resourceVersion));
}

/**
 * A frozen copy with another value in one place. Key by key: where so many forms of objects come by, engines take
 * microseconds for `{ ...record, key: value }`.
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
  // Where the shapes are the same, everything below the top is shared.
  if (change === undefined) return Object.freeze({ ...object, apiVersion: to.apiVersion });
  const draft = copyJson(object) as unknown as DraftObject;
  change(draft, to.dialect);
  draft.apiVersion = to.apiVersion;
  draft.kind = to.gvk.kind;
  return seal(to.schema, draft, object.metadata.resourceVersion);
}
