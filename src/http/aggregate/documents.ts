/**
 * Discovery where others answer for some versions: the groups as APIServices put them, and the document of everything
 * with what the others say put in its place.
 */
import { orderApiServices, type RankedVersion } from '../../kinds/apiregistration/order.js';
import { apiServiceName, priorityOf, REGISTRATION_GROUP } from '../../kinds/apiregistration/priorities.js';
import type { APIService } from '../../kinds/apiregistration/v1/api-service.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { type DiscoveryDocument, type DiscoveryVersion, groupEntry } from '../../registry/discovery.js';
import type { Apis } from './apis.js';
import type { VersionDiscovery } from './remote-discovery.js';

/** `/apis`; undefined where there are no APIServices to say what is in it. */
export function listedGroups(apis: Apis, kinds: readonly ServedKind[], dialect: Dialect): object | undefined {
  const ordered = apis.ordered();
  if (ordered.length === 0) return undefined;
  // The group that they are in themselves has none, and comes first.
  const own = groupEntry(kinds, dialect.group(REGISTRATION_GROUP));
  const groups = ordered.filter(([first]) => (first?.spec.group ?? '') !== '').map(entryOf);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: own.versions.length === 0 ? groups : [own, ...groups] };
}

/** `/apis/<group>`; undefined where no APIService names the group. */
export function listedGroup(apis: Apis, group: string): object | undefined {
  const services = apis.ordered().find(([first]) => first?.spec.group === group);
  return services === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...entryOf(services) };
}

function entryOf(services: readonly APIService[]): object {
  const group = services[0]?.spec.group ?? '';
  const versions = services.map(({ spec: { version = '' } }) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] };
}

/** What is known of a version for which somebody else answers. */
export interface RemoteVersion {
  readonly service: APIService;
  readonly discovery: VersionDiscovery;
}

interface Placed extends RankedVersion {
  readonly entry: DiscoveryVersion | VersionDiscovery;
}

/** The document of all groups with the versions of others in it. */
export function withRemote(
  document: DiscoveryDocument,
  remote: readonly RemoteVersion[],
  dialect: Dialect,
): DiscoveryDocument {
  const placed = new Map<string, Placed>();
  for (const { metadata, versions } of document.items) {
    const group = metadata.name ?? '';
    for (const entry of versions) {
      const gv = { group, version: entry.version };
      const priority = priorityOf(gv, dialect);
      const name = apiServiceName(gv);
      placed.set(name, {
        metadata: { name },
        spec: { ...gv, groupPriorityMinimum: priority.group, versionPriority: priority.version },
        entry,
      });
    }
  }
  for (const { service, discovery } of remote) {
    const { metadata, spec } = service;
    placed.set(metadata.name, { metadata, spec, entry: discovery });
  }
  return {
    ...document,
    items: orderApiServices([...placed.values()]).map((versions) => ({
      metadata: { name: versions[0]?.spec.group ?? '', creationTimestamp: null },
      versions: versions.map(({ entry }) => entry),
    })),
  };
}
