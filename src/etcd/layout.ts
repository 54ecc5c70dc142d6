/**
 * The keys under which kube-apiserver keeps its objects in etcd. Built-in kinds are filed under their resource without
 * the group (`/registry/deployments/default/web`), custom resources, CRDs and APIServices under group and resource.
 * upstream: pkg/kubeapiserver/default_storage_factory_builder.go SpecialDefaultResourcePrefixes
 */

import { type Dialect, serviceGroup } from '../meta/dialect.js';
import { type GroupResource, qualifiedResource } from '../meta/gvk.js';
import type { ObjectKey } from '../storage/types.js';
import { getOrInsertComputed } from '../util/once.js';
import { trimRight } from '../util/trim.js';
import { builtInKindsIn } from './built-in-kinds.js';

/** The prefix that kube-apiserver uses by default. */
export const DEFAULT_PREFIX = '/registry';

/** The key in which kube-apiserver coordinates compactions. It is outside of the prefix. */
export const COMPACT_REVISION_KEY = 'compact_rev_key';

/** What a key contains. */
export type ParsedKey =
  | ({ readonly type: 'object' } & GroupResource & ObjectKey)
  /** Not an object of the API: allocations, leases of servers. */
  | { readonly type: 'internal'; readonly what: InternalKey }
  /** A resource of no built-in kind, or a key of another program. */
  | { readonly type: 'unknown' };

export type InternalKey =
  | 'allocation of cluster IPs'
  | 'allocation of node ports'
  | 'address of an API server'
  | 'peer address of an API server'
  | 'health check'
  | 'compaction';

/** Keys in both directions, for one prefix and dialect. */
export interface EtcdLayout {
  /** Ends with a slash; all keys of objects start with it. */
  readonly prefix: string;
  /** The key of an object. */
  keyOf(key: ObjectKey): string;
  /** What all keys of a table, or of a namespace in it, start with. Ends with a slash. */
  prefixOf(storageKey: string, namespace?: string): string;
  parse(key: string): ParsedKey;
}

/** Paths that are not the name of the resource, by storage key of the core group and of `networking`. */
const SPECIAL_PATHS: Readonly<Record<string, string>> = {
  replicationcontrollers: 'controllers',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  services: 'services/specs',
};

/** The servers of these groups file their objects under group and resource, as for custom resources. */
const FILED_BY_GROUP: ReadonlySet<string> = new Set([serviceGroup('apiextensions'), serviceGroup('apiregistration')]);

const INTERNAL_PATHS: readonly (readonly [RegExp, InternalKey])[] = [
  [/^ranges\/(?:secondary)?serviceips$/, 'allocation of cluster IPs'],
  [/^ranges\/servicenodeports$/, 'allocation of node ports'],
  [/^masterleases\/[^/]+$/, 'address of an API server'],
  [/^peerserverleases\/[^/]+$/, 'peer address of an API server'],
  [/^health$/, 'health check'],
];

/** The prefix of all keys, with a slash at the end. */
export function rootOf(prefix: string): string {
  const trimmed = trimRight(prefix.replace(/^\/+/, ''), '/');
  return trimmed === '' ? '/' : `/${trimmed}/`;
}

/** The key that health checks read. It does not exist. */
export function healthKeyOf(prefix: string): Uint8Array {
  return Buffer.from(`${rootOf(prefix)}health`);
}

/** `prefix` is what the flag `--etcd-prefix` of kube-apiserver takes: slashes around it do not count. */
export function etcdLayout(prefix: string, dialect: Dialect): EtcdLayout {
  const { paths, resources } = builtInPaths(dialect);
  const root = rootOf(prefix);
  const prefixOf = (storageKey: string, namespace = ''): string =>
    `${root}${paths.get(storageKey) ?? pathByGroup(resourceOf(storageKey))}/${namespace === '' ? '' : `${namespace}/`}`;

  function parse(key: string): ParsedKey {
    if (key === COMPACT_REVISION_KEY) return { type: 'internal', what: 'compaction' };
    if (!key.startsWith(root)) return { type: 'unknown' };
    const path = key.slice(root.length);
    const internal = INTERNAL_PATHS.find(([pattern]) => pattern.test(path));
    if (internal !== undefined) return { type: 'internal', what: internal[1] };
    const parts = path.split('/');
    const [first = '', second = ''] = parts;
    const short = resources.get(first);
    const builtIn = short ?? resources.get(`${first}/${second}`);
    // The group of a CRD has a dot, the resource of a built-in kind has none.
    const resource = builtIn ?? (first.includes('.') ? { group: first, resource: second } : undefined);
    const [one = '', name, ...more] = parts.slice(short === undefined ? 2 : 1);
    if (resource === undefined || one === '' || name === '' || more.length > 0) return { type: 'unknown' };
    const place = name === undefined ? { namespace: '', name: one } : { namespace: one, name };
    return { type: 'object', ...resource, storageKey: qualifiedResource(resource), ...place };
  }

  return {
    prefix: root,
    keyOf: ({ storageKey, namespace, name }) => prefixOf(storageKey, namespace) + name,
    prefixOf,
    parse,
  };
}

/** `deployments.apps` → the group `apps` and the resource `deployments`. */
export function resourceOf(storageKey: string): GroupResource {
  const dot = storageKey.indexOf('.');
  if (dot < 0) return { group: '', resource: storageKey };
  return { group: storageKey.slice(dot + 1), resource: storageKey.slice(0, dot) };
}

function pathByGroup({ group, resource }: GroupResource): string {
  return `${group}/${resource}`;
}

interface BuiltInPaths {
  /** By storage key. */
  readonly paths: ReadonlyMap<string, string>;
  readonly resources: ReadonlyMap<string, GroupResource>;
}

const pathsByDialect = new WeakMap<Dialect, BuiltInPaths>();

function builtInPaths(dialect: Dialect): BuiltInPaths {
  return getOrInsertComputed(pathsByDialect, dialect, () => {
    const paths = new Map<string, string>();
    for (const [storageKey, { kind, groupResource }] of builtInKindsIn(dialect).storageKinds) {
      paths.set(storageKey, FILED_BY_GROUP.has(kind.group) ? pathByGroup(groupResource) : shortPath(groupResource));
    }
    const resources = new Map([...paths].map(([storageKey, path]) => [path, resourceOf(storageKey)]));
    return { paths, resources };
  });
}

function shortPath({ group, resource }: GroupResource): string {
  // Ingresses belonged to another group, under whose path they stay.
  if (resource === 'ingresses') return 'ingress';
  return (group === '' ? SPECIAL_PATHS[resource] : undefined) ?? resource;
}
