/**
 * What those say about their resources who answer for a version in place of this server. They are asked at most once a
 * minute, and again when their APIService changes; who does not answer has a version that is stale, and nothing in it.
 */

import { orderApiServices, type RankedVersion } from '../../kinds/apiregistration/order.js';
import { apiServiceName, priorityOf, REGISTRATION_GROUP } from '../../kinds/apiregistration/priorities.js';
import {
  AGGREGATOR,
  type Aggregation,
  pathOfVersion,
  type Reached,
  reach,
  tellIdentity,
} from '../../kinds/apiregistration/reach.js';
import type { APIService } from '../../kinds/apiregistration/v1/api-service.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { type DiscoveryDocument, type DiscoveryVersion, groupEntry } from '../../registry/discovery.js';
import type { Clock } from '../../util/clock.js';
import { isRecord } from '../../util/json.js';
import type { Apis, RemoteApi } from './api-services.js';

/** A version as the document of all groups has it. */
export interface VersionDiscovery {
  readonly version: string;
  readonly resources?: readonly unknown[];
  readonly freshness: 'Current' | 'Stale';
}

export interface RemoteDiscoveryOptions {
  readonly apis: Apis;
  readonly aggregation: Aggregation | undefined;
  readonly clock: Clock;
  readonly dialect: Dialect;
}

const KEPT_MS = 60_000;
const PATIENCE_MS = 5000;

interface Kept {
  readonly resourceVersion: string;
  readonly isAvailable: boolean;
  readonly sinceMs: number;
  readonly discovery: Promise<VersionDiscovery>;
}

export class RemoteDiscovery {
  readonly #options: RemoteDiscoveryOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: RemoteDiscoveryOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  of(remote: RemoteApi): Promise<VersionDiscovery> {
    const { clock, apis } = this.#options;
    const { name, version } = remote.api;
    const { resourceVersion = '' } = remote.service.metadata;
    const isAvailable = apis.isAvailable(remote);
    const kept = this.#kept.get(name);
    const isFresh = kept !== undefined && clock.now() - kept.sinceMs < KEPT_MS;
    if (isFresh && kept.resourceVersion === resourceVersion && kept.isAvailable === isAvailable) return kept.discovery;
    const stale: VersionDiscovery = { version, freshness: 'Stale' };
    // Why is of no interest to who asks what there is: that nothing is known is what the mark says.
    const discovery = isAvailable ? this.#ask(remote).catch(() => stale) : Promise.resolve(stale);
    this.#kept.set(name, { resourceVersion, isAvailable, sinceMs: clock.now(), discovery });
    return discovery;
  }

  async #ask({ api }: RemoteApi): Promise<VersionDiscovery> {
    const { aggregation, dialect } = this.#options;
    const reached = reach(aggregation, api);
    const group = dialect.group(serviceGroup('apidiscovery'));
    const wanted = (version: string) => `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`;
    const all = await this.#get(reached, '/apis', `${wanted('v2')},${wanted('v2beta1')}`);
    if (all.status === 503) throw new Error('it is unavailable');
    const kind = all.headers.get('content-type') ?? '';
    if (all.status === 200 && kind.includes('as=APIGroupDiscoveryList')) {
      return { ...versionIn(await all.json(), api), version: api.version, freshness: 'Current' };
    }
    const one = await this.#get(reached, pathOfVersion(api), 'application/json');
    if (one.status !== 200) throw new Error(`it answers with ${one.status}`);
    return { version: api.version, resources: resourcesOf(await one.json()), freshness: 'Current' };
  }

  async #get(reached: Reached, path: string, accept: string): Promise<Response> {
    const headers = new Headers({ accept });
    tellIdentity(headers, AGGREGATOR);
    const patience = new AbortController();
    const late = new Promise<never>((_, reject) => {
      patience.signal.addEventListener('abort', () => reject(patience.signal.reason), { once: true });
    });
    const undo = this.#options.clock.after(PATIENCE_MS, () => patience.abort(new Error('request timed out')), {
      background: true,
    });
    try {
      const sent = reached.send(`${reached.address}${path}`, { method: 'GET', headers, signal: patience.signal });
      return await Promise.race([sent, late]);
    } finally {
      undo();
    }
  }
}

/** The version's part of a document of all groups; nothing where it is not in it. */
function versionIn(document: unknown, api: { readonly group: string; readonly version: string }) {
  const items = isRecord(document) && Array.isArray(document['items']) ? document['items'] : [];
  for (const item of items) {
    if (!isRecord(item) || !isRecord(item['metadata']) || !Array.isArray(item['versions'])) continue;
    if ((item['metadata']['name'] ?? '') !== api.group) continue;
    const found = item['versions'].find((one) => isRecord(one) && one['version'] === api.version);
    if (isRecord(found) && Array.isArray(found['resources'])) return { resources: found['resources'] };
  }
  return {};
}

interface ResourceParts {
  readonly resource: string;
  readonly responseKind: object;
  readonly scope: string;
  readonly singularResource: unknown;
  readonly verbs: unknown;
  readonly shortNames?: unknown;
  readonly categories?: unknown;
  subresources?: object[];
}

const NO_KIND = { group: '', version: '', kind: '' };

/** The older document of one version, with what is below a resource put there. */
function resourcesOf(document: unknown): readonly ResourceParts[] {
  const listed = isRecord(document) && Array.isArray(document['resources']) ? document['resources'] : [];
  const entries = listed.filter(isRecord).map((entry) => ({ entry, name: String(entry['name']) }));
  const parents = new Map<string, ResourceParts>();
  for (const { entry, name } of entries) if (!name.includes('/')) parents.set(name, resourceOf(entry, name));
  for (const { entry, name } of entries) {
    const slash = name.indexOf('/');
    if (slash < 0) continue;
    const above = name.slice(0, slash);
    const parent = parents.get(above) ?? {
      ...resourceOf({ namespaced: entry['namespaced'] }, above),
      responseKind: NO_KIND,
    };
    parents.set(above, parent);
    parent.subresources ??= [];
    parent.subresources.push({
      subresource: name.slice(slash + 1),
      responseKind: entry['kind'] ? kindOf(entry) : NO_KIND,
      verbs: entry['verbs'] ?? null,
    });
  }
  return [...parents.values()];
}

function resourceOf(entry: Readonly<Record<string, unknown>>, resource: string): ResourceParts {
  const { shortNames, categories } = entry;
  return {
    resource,
    responseKind: kindOf(entry),
    scope: entry['namespaced'] === true ? 'Namespaced' : 'Cluster',
    singularResource: entry['singularName'] ?? '',
    verbs: entry['verbs'] ?? null,
    ...(shortNames === undefined ? {} : { shortNames }),
    ...(categories === undefined ? {} : { categories }),
  };
}

function kindOf({ group = '', version = '', kind = '' }: Readonly<Record<string, unknown>>): object {
  return { group, version, kind };
}

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
interface RemoteVersion {
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
