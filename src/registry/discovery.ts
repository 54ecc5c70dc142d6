/**
 * Builds discovery documents: one for each group and version (APIGroup, APIResourceList, …), and the aggregated
 * APIGroupDiscoveryList that newer clients request instead.
 */
import { compareByPriority, groupPriority } from '../kinds/apiregistration/priorities.js';
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { type Dialect, kubernetesDialect, serviceGroup } from '../meta/dialect.js';
import { apiVersionOf, type GroupVersion } from '../meta/gvk.js';
import type { Verb } from '../protocol/request.js';
import { encodeBase64 } from '../util/base64.js';
import { getOrInsertComputed } from '../util/once.js';
import { byKey } from '../util/order.js';
import { sha256 } from '../util/sha256.js';

export interface VersionEntry {
  readonly groupVersion: string;
  readonly version: string;
}

/** A group and the versions in which it is served, the preferred one first. */
export interface GroupEntry {
  readonly name: string;
  readonly versions: readonly VersionEntry[];
  readonly preferredVersion: VersionEntry | undefined;
}

/** The aggregated document that {@link discoveryList} builds. */
export interface DiscoveryDocument {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
  readonly items: readonly {
    readonly metadata: { readonly name?: string; readonly creationTimestamp: null };
    readonly versions: readonly DiscoveryVersion[];
  }[];
}

export interface DiscoveryVersion {
  readonly version: string;
  readonly resources?: readonly unknown[];
  /** Stale: the aggregated API server that serves the version is not reachable. */
  readonly freshness: 'Current' | 'Stale';
}

interface ResourceEntry {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

/** `/api`. `serverAddress` is the address at which clients reach the server. */
export function coreVersions(served: readonly ServedKind[], serverAddress: string): object {
  const versions = versionsOf(served, '').map(({ version }) => version);
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress }];
  return { kind: 'APIVersions', versions, serverAddressByClientCIDRs };
}

/** `/apis`: every group but the core one. */
export function groupList(served: readonly ServedKind[], dialect: Dialect): object {
  const members = byGroup(served);
  const groups = groupNames(served, dialect).map((group) => groupEntry(members.get(group) ?? [], group));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/apis/<group>`; undefined when nothing in it is served. */
export function groupDocument(served: readonly ServedKind[], group: string): object | undefined {
  const entry = groupEntry(served, group);
  return entry.versions.length === 0 ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...entry };
}

/** `/api/v1`, `/apis/<group>/<version>`; undefined when nothing in it is served. */
export function resourceList(served: readonly ServedKind[], gv: GroupVersion): object | undefined {
  const resources = inVersion(served, gv)
    .sort(byResource)
    .flatMap((kind) => resourceEntries(kind, publishesStorageVersion(kind, served)));
  if (resources.length === 0) return undefined;
  // Entries of a custom resource are not sorted: status comes before scale.
  const isCustom = inVersion(served, gv).some(({ kind }) => kind.customResourceHandler !== undefined);
  const list = { groupVersion: apiVersionOf(gv), resources: isCustom ? resources : resources.sort(byName) };
  // The document of the core group has no apiVersion.
  return gv.group === ''
    ? { kind: 'APIResourceList', ...list }
    : { kind: 'APIResourceList', apiVersion: 'v1', ...list };
}

/** The aggregated document of `/api` or `/apis` with all groups, versions and resources below it. */
export function discoveryList(
  served: readonly ServedKind[],
  dialect: Dialect,
  root: 'api' | 'apis',
): DiscoveryDocument {
  const groups = root === 'api' ? [''] : groupNames(served, dialect);
  const members = byGroup(served);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: apiVersionOf({ group: dialect.group(serviceGroup('apidiscovery')), version: 'v2' }),
    metadata: {},
    items: groups.map((group) => ({
      metadata: { ...(group === '' ? {} : { name: group }), creationTimestamp: null },
      versions: versionsOf(members.get(group) ?? [], group).map(({ version }) => ({
        version,
        resources: inVersion(members.get(group) ?? [], { group, version })
          .sort(byResource)
          .map(resourceDiscovery),
        freshness: 'Current',
      })),
    })),
  };
}

/** The names of all groups except the core group, sorted by priority and then by name. */
export function groupNames(served: readonly ServedKind[], dialect: Dialect): string[] {
  const groups = new Set(served.map(({ gvr }) => gvr.group));
  groups.delete('');
  const ranked = [...groups].map((name) => ({ name, priority: groupPriority(name, dialect) }));
  return ranked
    .sort((left, right) => right.priority - left.priority || (left.name < right.name ? -1 : 1))
    .map(({ name }) => name);
}

/** The versions of a group, the preferred one first. */
export function versionsOf(served: readonly ServedKind[], group: string): VersionEntry[] {
  const inGroup = served.filter(({ gvr }) => gvr.group === group);
  const [first] = inGroup;
  if (first === undefined) return [];
  const versions = new Set(inGroup.map(({ gvr }) => gvr.version));
  return [...versions]
    .map((version) => ({ group, version }))
    .sort((left, right) => compareByPriority(left, right, first.dialect))
    .map((gv) => ({ groupVersion: apiVersionOf(gv), version: gv.version }));
}

/** The entry of a group in an APIGroup or APIGroupList. */
export function groupEntry(served: readonly ServedKind[], name: string): GroupEntry {
  const versions = versionsOf(served, name);
  return { name, versions, preferredVersion: versions[0] };
}

/** The kinds by group: with many CRDs, a search of all kinds for each group takes long. */
function byGroup(served: readonly ServedKind[]): ReadonlyMap<string, readonly ServedKind[]> {
  const groups = new Map<string, ServedKind[]>();
  for (const kind of served) getOrInsertComputed(groups, kind.gvr.group, () => []).push(kind);
  return groups;
}

function inVersion(served: readonly ServedKind[], { group, version }: GroupVersion): ServedKind[] {
  return served.filter(({ gvr }) => gvr.group === group && gvr.version === version);
}

/** Whether the entry has a storageVersionHash: not for virtual kinds, nor if the storage version is not served. */
function publishesStorageVersion({ kind }: ServedKind, served: readonly ServedKind[]): boolean {
  if (kind.virtual !== undefined) return false;
  const { storageVersion: stored } = kind;
  return (
    kind.customResourceHandler === undefined ||
    stored === undefined ||
    served.some((other) => other.kind === stored.kind)
  );
}

function resourceEntries(served: ServedKind, hasStorageHash: boolean): ResourceEntry[] {
  const { kind, gvr, namespaced, verbs } = served;
  const { shortNames, categories, singular } = kind.names;
  const main: ResourceEntry = {
    name: gvr.resource,
    singularName: singular,
    namespaced,
    kind: kind.kind,
    verbs: publishedVerbs(kind, verbs),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(hasStorageHash ? { storageVersionHash: storageVersionHash(kind) } : {}),
  };
  const subresources = subresourcesOf(served).map(
    ([name, subresource, { group, version, kind: payload }]): ResourceEntry => {
      const isOtherVersion = group !== gvr.group || version !== gvr.version;
      return {
        name: `${gvr.resource}/${name}`,
        singularName: '',
        namespaced,
        ...(isOtherVersion ? { group, version } : {}),
        kind: payload,
        verbs: [...subresource.verbs].sort(),
      };
    },
  );
  return [main, ...subresources];
}

function resourceDiscovery(served: ServedKind): object {
  const { kind, gvr, namespaced, verbs } = served;
  const { shortNames, categories, singular } = kind.names;
  // Built-in kinds leave out a group and version that equal those of the enclosing entry.
  const responseKind = (payload: { group: string; version: string; kind: string }) =>
    kind.customResourceHandler === undefined && payload.group === gvr.group && payload.version === gvr.version
      ? { group: '', version: '', kind: payload.kind }
      : payload;
  const subresources = subresourcesOf(served).map(([subresource, { verbs: allowed }, payload]) => ({
    subresource,
    responseKind: responseKind(payload),
    verbs: [...allowed].sort(),
  }));
  return {
    resource: gvr.resource,
    responseKind: responseKind({ group: gvr.group, version: gvr.version, kind: kind.kind }),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs: publishedVerbs(kind, verbs),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** The verbs of custom resources, in the reference server's order. */
const CUSTOM_VERBS: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
];
/** The verbs of custom resources while their CRD is being deleted. */
const TERMINATING_VERBS: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch'];

function publishedVerbs({ customResourceHandler: custom }: Kind, verbs: readonly Verb[]): readonly Verb[] {
  if (custom === undefined) return [...verbs].sort();
  return custom.isTerminating ? TERMINATING_VERBS : CUSTOM_VERBS;
}

/** The subresources of a kind by name, each with the kind of its request and response bodies. */
function subresourcesOf(
  served: ServedKind,
): (readonly [string, { readonly verbs: readonly Verb[] }, { group: string; version: string; kind: string }])[] {
  const { gvr, kind, dialect } = served;
  const here = { group: gvr.group, version: gvr.version };
  const connections = Object.entries(kind.connectSubresources ?? {}).map(
    ([name, connection]) => [name, connection, { ...here, kind: connection.optionsKind }] as const,
  );
  const subresources = Object.entries(kind.subresources).map(([name, subresource]) => {
    const payload = 'kind' in subresource ? subresource.kind : undefined;
    const payloadKind =
      payload === undefined
        ? { ...here, kind: kind.kind }
        : { group: dialect.group(payload.group), version: payload.version, kind: payload.kind };
    return [name, subresource, payloadKind] as const;
  });
  if (kind.customResourceHandler !== undefined) return subresources;
  return [...connections, ...subresources].sort(byKey);
}

/** Clients compare the hash to detect that two versions share a storage version. It is the same in both dialects. */
function storageVersionHash(kind: Kind): string {
  const {
    group,
    version,
    kind: name,
    referenceStorageVersion: storageVersion = version,
  } = kind.storageVersion?.kind ?? kind;
  return encodeBase64(sha256(`${kubernetesDialect.group(group)}/${storageVersion}/${name}`).subarray(0, 8));
}

function byResource({ gvr: left }: ServedKind, { gvr: right }: ServedKind): number {
  return left.resource < right.resource ? -1 : 1;
}

function byName(left: ResourceEntry, right: ResourceEntry): number {
  return left.name < right.name ? -1 : 1;
}
