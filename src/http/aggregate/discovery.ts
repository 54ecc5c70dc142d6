/**
 * Discovery of aggregated APIs. Backends are queried at most once a minute, and again when their APIService changes; a
 * version whose backend does not respond is listed as stale, without resources.
 */

import {
  apiServiceName,
  orderApiServices,
  priorityOf,
  type RankedVersion,
  REGISTRATION_GROUP,
} from '../../kinds/apiregistration/priorities.js';
import {
  AGGREGATOR,
  type Aggregation,
  pathOfVersion,
  setRemoteUserHeaders,
} from '../../kinds/apiregistration/reach.js';
import type { APIService } from '../../kinds/apiregistration/v1/api-service.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { type DiscoveryDocument, type DiscoveryVersion, groupEntry } from '../../registry/discovery.js';
import { parseJson } from '../../text/json/parse-json.js';
import type { Clock } from '../../util/clock.js';
import { isRecord } from '../../util/json.js';
import { readText } from '../../util/read-text.js';
import { type AggregationTarget, resolveAggregation } from '../../webhook/aggregation.js';
import type { ServiceView } from '../../webhook/service-address.js';
import type { ApiServiceIndex, RemoteApi } from './api-services.js';

/** A version in aggregated discovery. */
export interface VersionDiscovery {
  readonly version: string;
  readonly resources?: readonly unknown[];
  readonly freshness: 'Current' | 'Stale';
}

export interface RemoteDiscoveryOptions {
  readonly apis: ApiServiceIndex;
  readonly aggregation: Aggregation | undefined;
  readonly clock: Clock;
  /** The Services of the backends. */
  readonly view: ServiceView;
}

const CACHE_MS = 60_000;
const TIMEOUT_MS = 5000;
const MAX_DOCUMENT_BYTES = 3 * 1024 * 1024;
/** Every discovery response contains the resources of all versions. */
const MAX_RESOURCES_LENGTH = 512 * 1024;

interface RemoteDocument {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

interface CachedDiscovery {
  readonly resourceVersion: string;
  readonly isAvailable: boolean;
  readonly sinceMs: number;
  readonly discovery: Promise<VersionDiscovery>;
}

/** Caches the discovery entries of aggregated API versions. */
export class RemoteDiscovery {
  readonly #options: RemoteDiscoveryOptions;
  readonly #cache = new Map<string, CachedDiscovery>();

  constructor(options: RemoteDiscoveryOptions) {
    this.#options = options;
  }

  /** The discovery entry of an aggregated API version. Never rejects. */
  get(remote: RemoteApi): Promise<VersionDiscovery> {
    const { clock, apis } = this.#options;
    const { name, version } = remote.api;
    const { resourceVersion = '' } = remote.service.metadata;
    const isAvailable = apis.isAvailable(remote);
    const kept = this.#cache.get(name);
    const isFresh = kept !== undefined && clock.now() - kept.sinceMs < CACHE_MS;
    if (isFresh && kept.resourceVersion === resourceVersion && kept.isAvailable === isAvailable) return kept.discovery;
    const stale: VersionDiscovery = { version, freshness: 'Stale' };
    // The reason is not part of discovery; freshness `Stale` is all it reports.
    const discovery = isAvailable ? this.#fetch(remote).catch(() => stale) : Promise.resolve(stale);
    this.#cache.set(name, { resourceVersion, isAvailable, sinceMs: clock.now(), discovery });
    return discovery;
  }

  async #fetch({ api }: RemoteApi): Promise<VersionDiscovery> {
    const { aggregation, view } = this.#options;
    const reached = resolveAggregation(aggregation, api, view);
    const group = view.dialect.group(serviceGroup('apidiscovery'));
    const acceptFor = (version: string) => `application/json;g=${group};v=${version};as=APIGroupDiscoveryList`;
    const all = await this.#fetchPath(reached, '/apis', `${acceptFor('v2')},${acceptFor('v2beta1')}`);
    if (all.status === 200 && all.contentType.includes('as=APIGroupDiscoveryList')) {
      return { ...findVersion(parseJson(all.text).value, api), version: api.version, freshness: 'Current' };
    }
    if (all.status === 503) throw new Error('the aggregated API is unavailable');
    const one = await this.#fetchPath(reached, pathOfVersion(api), 'application/json');
    if (one.status !== 200) throw new Error(`the aggregated API responded with status ${one.status}`);
    const resources = checked(resourcesOf(parseJson(one.text).value));
    return { version: api.version, resources, freshness: 'Current' };
  }

  /** The time limit includes the body: all clients of discovery wait for it. */
  async #fetchPath(reached: AggregationTarget, path: string, accept: string): Promise<RemoteDocument> {
    const headers = new Headers({ accept });
    setRemoteUserHeaders(headers, AGGREGATOR);
    const timeout = new AbortController();
    const late = new Promise<never>((_, reject) => {
      timeout.signal.addEventListener('abort', () => reject(timeout.signal.reason), { once: true });
    });
    const cancelTimer = this.#options.clock.after(TIMEOUT_MS, () => timeout.abort(new Error('request timed out')), {
      background: true,
    });
    try {
      const read = async (): Promise<RemoteDocument> => {
        const sent = await reached.send(`${reached.address}${path}`, {
          method: 'GET',
          headers,
          signal: timeout.signal,
        });
        const text = await readText(sent, MAX_DOCUMENT_BYTES);
        if (text === undefined) throw new Error('the discovery document is too large');
        return { status: sent.status, contentType: sent.headers.get('content-type') ?? '', text };
      };
      return await Promise.race([read(), late]);
    } finally {
      cancelTimer();
    }
  }
}

/** Finds the version in an aggregated discovery document. */
function findVersion(document: unknown, api: { readonly group: string; readonly version: string }) {
  const items = isRecord(document) && Array.isArray(document['items']) ? document['items'] : [];
  for (const item of items) {
    if (!isRecord(item) || !isRecord(item['metadata']) || !Array.isArray(item['versions'])) continue;
    if ((item['metadata']['name'] ?? '') !== api.group) continue;
    const found = item['versions'].find((one) => isRecord(one) && one['version'] === api.version);
    if (isRecord(found) && Array.isArray(found['resources'])) return { resources: checked(found['resources']) };
  }
  return {};
}

type Read = (value: unknown) => unknown;

const text: Read = (value) => {
  if (typeof value !== 'string') throw new TypeError('not a string');
  return value;
};

const list =
  (item: Read): Read =>
  (value) => {
    if (!Array.isArray(value)) throw new TypeError('not a list');
    return value.map(item);
  };

/** Omits other fields; the order is that of the reference server. */
const struct =
  (fields: Readonly<Record<string, Read>>): Read =>
  (value) => {
    if (!isRecord(value)) throw new TypeError('not an object');
    const found = Object.entries(fields).filter(([name]) => Object.hasOwn(value, name));
    return Object.fromEntries(found.map(([name, read]) => [name, value[name] === null ? null : read(value[name])]));
  };

const kind = struct({ group: text, version: text, kind: text });
const readResources = list(
  struct({
    resource: text,
    responseKind: kind,
    scope: text,
    singularResource: text,
    verbs: list(text),
    shortNames: list(text),
    categories: list(text),
    subresources: list(struct({ subresource: text, responseKind: kind, acceptedTypes: list(kind), verbs: list(text) })),
  }),
);

/** Clients could not read any discovery with values of other types. Throws. */
function checked(resources: readonly unknown[]): readonly unknown[] {
  const found = readResources(resources) as readonly unknown[];
  if (JSON.stringify(found).length > MAX_RESOURCES_LENGTH) throw new Error('the version has too many resources');
  return found;
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

/** Converts an unaggregated APIResourceList: subresources are nested below their resource. */
function resourcesOf(document: unknown): readonly ResourceParts[] {
  const listed = isRecord(document) && Array.isArray(document['resources']) ? document['resources'] : [];
  const entries = listed.filter(isRecord).map((entry) => ({ entry, name: String(entry['name']) }));
  const parents = new Map<string, ResourceParts>();
  for (const { entry, name } of entries) if (!name.includes('/')) parents.set(name, resourceOf(entry, name));
  for (const { entry, name } of entries) {
    const slash = name.indexOf('/');
    if (slash < 0) continue;
    const parentName = name.slice(0, slash);
    const parent = parents.get(parentName) ?? {
      ...resourceOf({ namespaced: entry['namespaced'] }, parentName),
      responseKind: NO_KIND,
    };
    parents.set(parentName, parent);
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

/** The APIGroupList at `/apis`; undefined when there are no APIServices. */
export function groupListOfApiServices(
  apis: ApiServiceIndex,
  kinds: readonly ServedKind[],
  dialect: Dialect,
): object | undefined {
  const ordered = apis.ordered();
  if (ordered.length === 0) return undefined;
  // The group of the APIServices themselves has no APIService and comes first.
  const own = groupEntry(kinds, dialect.group(REGISTRATION_GROUP));
  const groups = ordered.filter(([first]) => (first?.spec.group ?? '') !== '').map(groupEntryOf);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: own.versions.length === 0 ? groups : [own, ...groups] };
}

/** The APIGroup at `/apis/<group>`; undefined when no APIService names the group. */
export function groupOfApiServices(apis: ApiServiceIndex, group: string): object | undefined {
  const services = apis.ordered().find(([first]) => first?.spec.group === group);
  return services === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupEntryOf(services) };
}

function groupEntryOf(services: readonly APIService[]): object {
  const group = services[0]?.spec.group ?? '';
  const versions = services.map(({ spec: { version = '' } }) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] };
}

/** An aggregated version and its discovery entry. */
interface RemoteVersion {
  readonly service: APIService;
  readonly discovery: VersionDiscovery;
}

interface RankedEntry extends RankedVersion {
  readonly entry: DiscoveryVersion | VersionDiscovery;
}

/** Merges aggregated versions into the discovery document of this server, in discovery order. */
export function mergeRemoteVersions(
  document: DiscoveryDocument,
  remote: readonly RemoteVersion[],
  dialect: Dialect,
): DiscoveryDocument {
  const placed = new Map<string, RankedEntry>();
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
