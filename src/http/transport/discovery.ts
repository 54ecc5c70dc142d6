/**
 * Reads the resources of a server from its discovery documents: the aggregated ones, or one for each version from a server
 * that has no aggregated ones.
 */
import type { Dialect } from '../../meta/dialect.js';
import { serviceGroup } from '../../meta/dialect.js';
import { apiVersionOf, type GroupVersion, type GroupVersionKind, type GroupVersionResource } from '../../meta/gvk.js';
import type { Verb } from '../../protocol/request.js';
import { isRecord } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';

/** A resource in one version. */
export interface ApiResource {
  readonly dialect: Dialect;
  readonly apiVersion: string;
  readonly gvr: GroupVersionResource;
  readonly gvk: GroupVersionKind;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly subresources: readonly string[];
  /** Whether it is the version of the resource that the server prefers. */
  readonly isPreferred: boolean;
}

/** Reads a document of the server: `/apis`. */
export type ReadDocument = (path: string, accept: string) => Promise<unknown>;

/** Called for a group version whose resources the server does not know, such as `metrics.k8s.io/v1beta1`. */
export type SkippedVersion = (groupVersion: string, why: string) => void;

/**
 * All resources without their subresources, the preferred version of each first. A group version that an aggregated server
 * does not answer for is skipped.
 */
export async function discoverResources(
  read: ReadDocument,
  dialect: Dialect,
  onSkipped: SkippedVersion = () => undefined,
): Promise<readonly ApiResource[]> {
  const found: VersionResources[] = [];
  for (const root of ['/api', '/apis']) {
    const document = await read(root, acceptDiscovery(dialect));
    const items = listAt(document, 'items');
    const versions =
      items.length > 0
        ? items.flatMap((item) => aggregatedVersions(item, onSkipped))
        : await plainVersions(read, root, document, onSkipped);
    found.push(...versions);
  }
  const seen = new Set<string>();
  return found.flatMap(({ group, version, resources }) => {
    const subresources = plainSubresources(resources);
    return resources.flatMap((entry) => {
      const resource = resourceOf({ group, version }, entry, subresources, dialect);
      if (resource === undefined) return [];
      const name = `${resource.gvr.resource}.${group}`;
      const isPreferred = !seen.has(name);
      seen.add(name);
      return [{ ...resource, isPreferred }];
    });
  });
}

/** Both versions of the aggregated documents, then the plain ones. */
function acceptDiscovery(dialect: Dialect): string {
  const group = dialect.group(serviceGroup('apidiscovery'));
  const aggregated = ['v2', 'v2beta1'].map((v) => `application/json;g=${group};v=${v};as=APIGroupDiscoveryList`);
  return [...aggregated, 'application/json'].join(',');
}

type Entry = Readonly<Record<string, unknown>>;

interface VersionResources extends GroupVersion {
  readonly resources: readonly Entry[];
}

function aggregatedVersions(item: Entry, onSkipped: SkippedVersion): VersionResources[] {
  const group = textAt(item['metadata'], 'name');
  return listAt(item, 'versions').map((entry) => {
    const version = textAt(entry, 'version');
    const resources = listAt(entry, 'resources');
    const isUnknown = entry['freshness'] === 'Stale' && resources.length === 0;
    if (isUnknown) onSkipped(apiVersionOf({ group, version }), 'its server does not answer');
    return { group, version, resources };
  });
}

/** The versions of the core group (`/api`) or of all groups (`/apis`). */
async function plainVersions(
  read: ReadDocument,
  root: string,
  document: unknown,
  onSkipped: SkippedVersion,
): Promise<VersionResources[]> {
  const core = textsAt(document, 'versions').map((version) => ({ group: '', version }));
  const groups = listAt(document, 'groups').flatMap((group) => {
    const preferred = textAt(group['preferredVersion'], 'version');
    const names = listAt(group, 'versions').map((each) => textAt(each, 'version'));
    const ordered = [...names.filter((name) => name === preferred), ...names.filter((name) => name !== preferred)];
    return ordered.map((version) => ({ group: textAt(group, 'name'), version }));
  });
  const found: VersionResources[] = [];
  for (const gv of [...core, ...groups]) {
    try {
      const list = await read(`${root}/${apiVersionOf(gv)}`, 'application/json');
      found.push({ ...gv, resources: listAt(list, 'resources') });
    } catch (error) {
      // Every server has the core group itself.
      if (gv.group === '') throw error;
      onSkipped(apiVersionOf(gv), messageOf(error));
    }
  }
  return found;
}

/** The subresources of each resource. Plain documents name them `pods/status`. */
function plainSubresources(entries: readonly Entry[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const entry of entries) {
    const [resource = '', name] = textAt(entry, 'name').split('/');
    if (name !== undefined) getOrInsertComputed(found, resource, () => []).push(name);
  }
  return found;
}

/** Undefined for a subresource, which plain documents list beside the resources, and for an incomplete entry. */
function resourceOf(
  gv: GroupVersion,
  entry: Entry,
  subresources: ReadonlyMap<string, readonly string[]>,
  dialect: Dialect,
): Omit<ApiResource, 'isPreferred'> | undefined {
  const resource = textAt(entry, 'resource') || textAt(entry, 'name');
  const kind = textAt(entry['responseKind'], 'kind') || textAt(entry, 'kind');
  if (resource === '' || kind === '' || resource.includes('/')) return undefined;
  return {
    dialect,
    apiVersion: apiVersionOf(gv),
    gvr: { group: gv.group, version: gv.version, resource },
    gvk: { group: gv.group, version: gv.version, kind },
    singular: textAt(entry, 'singularResource') || textAt(entry, 'singularName'),
    shortNames: textsAt(entry, 'shortNames'),
    categories: textsAt(entry, 'categories'),
    namespaced: entry['namespaced'] === true || entry['scope'] === 'Namespaced',
    verbs: textsAt(entry, 'verbs') as readonly Verb[],
    subresources: [
      ...listAt(entry, 'subresources').map((each) => textAt(each, 'subresource')),
      ...(subresources.get(resource) ?? []),
    ],
  };
}

function listAt(value: unknown, key: string): readonly Entry[] {
  const list = isRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function textsAt(value: unknown, key: string): readonly string[] {
  const list = isRecord(value) ? value[key] : undefined;
  return Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];
}

function textAt(value: unknown, key: string): string {
  const text = isRecord(value) ? value[key] : undefined;
  return typeof text === 'string' ? text : '';
}
