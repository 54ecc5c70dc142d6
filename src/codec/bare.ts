/**
 * Items of lists of built-in kinds leave out the kind and apiVersion that the list has said already. Such an item is made
 * once for each object, so that encodings can be kept by its identity as they are for the object.
 */
import type { ApiObject } from '../meta/object.js';

const bareItems = new WeakMap<ApiObject, object>();
const wholeObjects = new WeakMap<object, ApiObject>();

/** The object as an item of a list of its kind. */
export function bareItem(object: ApiObject): object {
  const known = bareItems.get(object);
  if (known !== undefined) return known;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  if (!Object.isFrozen(object)) return rest;
  const bare = Object.freeze(rest);
  bareItems.set(object, bare);
  wholeObjects.set(bare, object);
  return bare;
}

/** The object that a bare item was made of. */
export function wholeObject(bare: object): ApiObject | undefined {
  return wholeObjects.get(bare);
}
