/**
 * References to objects, and their URL paths.
 */
import type { ApiObject, ServedKind } from 'orchplane';
import type { ObjectRef } from './types.js';

export function refOf({ apiVersion, kind, metadata }: ApiObject): ObjectRef {
  const { namespace, name } = metadata;
  return namespace === undefined ? { apiVersion, kind, name } : { apiVersion, kind, namespace, name };
}

/** A key that is the same for all versions of an object. */
export function refKey({ apiVersion, kind, namespace = '', name }: ObjectRef): string {
  const slash = apiVersion.lastIndexOf('/');
  return `${slash < 0 ? '' : apiVersion.slice(0, slash)}/${kind}/${namespace}/${name}`;
}

export function sameRef(a: ObjectRef | undefined, b: ObjectRef | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && refKey(a) === refKey(b));
}

/** A reference as text: `Deployment default/web`. */
export function refText({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** `/apis/apps/v1/namespaces/default/deployments/web`; without a name, the path of the collection. */
export function pathOf({ gvr, namespaced }: ServedKind, namespace: string | undefined, name?: string): string {
  const { group, version, resource } = gvr;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const place = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${place}/${resource}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
}
