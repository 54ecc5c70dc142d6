/**
 * Several versions of one kind: objects are stored in the form of one of them and shown in the form that is asked for.
 *
 * Both directions remember their results by identity, so that an object read twice is the same object, and a live
 * object that was shown in another version leads back to what the store holds.
 */
import type { StoredForm } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { copyJson } from '../util/json.js';
import { seal } from './steps/seal.js';

const shown = new WeakMap<ServedKind, WeakMap<ApiObject, ApiObject>>();
const storedForms = new WeakMap<ApiObject, ApiObject>();

/** A stored object in the version of `served`. */
export function present(served: ServedKind, stored: ApiObject): ApiObject {
  if (served.storedAs === undefined) return stored;
  let known = shown.get(served);
  if (known === undefined) {
    known = new WeakMap();
    shown.set(served, known);
  }
  let object = known.get(stored);
  if (object === undefined) {
    object = convert(stored, served, served.kind.stored?.fromStored);
    known.set(stored, object);
    storedForms.set(object, stored);
  }
  return object;
}

/** What the store holds for an object that {@link present} showed. */
export function storedFormOf(shownObject: ApiObject): ApiObject {
  return storedForms.get(shownObject) ?? shownObject;
}

/** A finished object of the version of `served` in the form it is stored in. */
export function toStored(served: ServedKind, object: ApiObject): ApiObject {
  const { storedAs } = served;
  return storedAs === undefined ? object : convert(object, storedAs, served.kind.stored?.toStored);
}

type Conversion = NonNullable<StoredForm['toStored']>;

function convert(object: ApiObject, to: ServedKind, change: Conversion | undefined): ApiObject {
  // Where the shapes are the same, everything below the top is shared.
  if (change === undefined) return Object.freeze({ ...object, apiVersion: to.apiVersion });
  const draft = copyJson(object) as unknown as DraftObject;
  change(draft, to.dialect);
  draft.apiVersion = to.apiVersion;
  draft.kind = to.gvk.kind;
  return seal(to.schema, draft, object.metadata.resourceVersion);
}
