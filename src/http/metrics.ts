/**
 * Records a handler's requests in the server metrics, with the reference server's labels.
 */
import { deprecationOf } from '../kinds/lifecycle.js';
import { qualifiedResource } from '../meta/gvk.js';
import {
  type RequestFigures,
  type RequestSubject,
  ServerMetrics,
  type ServerMetricsOptions,
} from '../metrics/server-metrics.js';
import type { Answer } from '../protocol/http.js';
import type { Action, ServedResource } from './routes.js';
import type { FetchTarget } from './target.js';

/** A finished request. */
export interface CountedRequest {
  /** Absent: a non-resource request. */
  readonly served: ServedResource | undefined;
  readonly action: Action | undefined;
  readonly method: string;
  /** The Content-Type header, which distinguishes apply from other patches. */
  readonly contentType?: string | null;
  /** The values of the `dryRun` parameter, or whether it is a dry run. */
  readonly dryRun: boolean | readonly string[];
  readonly code: number;
  /** The duration. */
  readonly seconds?: number;
  /** The size of the response; see {@link answerSize}. */
  readonly bytes?: number | undefined;
}

/**
 * Creates the metrics of a handler, including what the cluster counts. `more.sources` adds the handler's own sources:
 * build information and flow control.
 */
export function createHandlerMetrics(target: FetchTarget, more: ServerMetricsOptions = {}): HandlerMetrics {
  const { dialect, clock, features, audit } = target;
  const server = new ServerMetrics({
    dialect,
    now: () => clock.now(),
    ...more,
    sources: {
      startedMs: clock.now(),
      features: () => features.all(),
      objects: () => storedObjects(target),
      ...(audit === undefined ? {} : { audit: () => audit.counts }),
      ...more.sources,
    },
  });
  return new HandlerMetrics(server);
}

/** The number of stored objects per resource, independent of versions. Virtual resources are not counted. */
function storedObjects({ kinds, storageReader }: FetchTarget): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, ...served } of kinds()) {
    const { groupResource } = served.storageKind ?? served;
    const count = kind.virtual === undefined ? storageReader.count(groupResource) : undefined;
    if (count !== undefined) counts.set(qualifiedResource(groupResource), count);
  }
  return counts;
}

/** Counts the requests and watches of one handler. */
export class HandlerMetrics {
  /** The underlying metrics registry. */
  readonly server: ServerMetrics;
  /** Recorders by label set: the labels are computed once. */
  readonly #requests = new Map<string, (figures: Omit<RequestFigures, 'code'>) => void>();

  constructor(server: ServerMetrics = new ServerMetrics()) {
    this.server = server;
  }

  count(request: CountedRequest): void {
    const { served, action, code, seconds, bytes } = request;
    const { group = '', version = '', resource = '' } = served?.gvr ?? {};
    const subresource = action?.subresource ?? '';
    const verb = metricVerbOf(request);
    const dryRun = dryRunLabel(request.dryRun);
    const key = `${group}/${version}/${resource}/${subresource} ${verb} ${scopeOf(action)} ${code} ${dryRun}`;
    let record = this.#requests.get(key);
    if (record === undefined) {
      const subject: RequestSubject = { verb, group, version, resource, subresource, scope: scopeOf(action), dryRun };
      record = this.server.requestsOf(subject, code);
      this.#requests.set(key, record);
      this.#noteDeprecation(served, subject);
    }
    record({ seconds, bytes });
  }

  /** Counts an in-flight request. Returns the function to call at its end. Watches are excluded. */
  startRequest(method: string): () => void {
    return this.server.inflight(method === 'GET' || method === 'HEAD' ? 'readOnly' : 'mutating');
  }

  /** Counts an open watch or connection. Returns the function to call at its end. */
  startStream({ gvr }: ServedResource, action?: Action): () => void {
    const { group, version, resource } = gvr;
    const subresource = action?.subresource ?? '';
    return this.server.longRunning({
      verb: CONNECT_SUBRESOURCES.has(subresource) ? 'CONNECT' : 'WATCH',
      group,
      version,
      resource,
      subresource,
      scope: scopeOf(action),
    });
  }

  /** Returns the counter for the events of a watch; call it with the length of each event. */
  watchEventCounter({ kind, gvr }: ServedResource): (bytes: number) => void {
    return this.server.watchEvents({ group: gvr.group, version: gvr.version, kind: kind.kind });
  }

  print(): string {
    return this.server.print();
  }

  /** Called once per label set: the metric only records that the deprecated version was requested. */
  #noteDeprecation(served: ServedResource | undefined, subject: RequestSubject): void {
    if (served === undefined) return;
    const deprecation = deprecationOf(served.kind, this.server.dialect, this.server.release);
    if (deprecation !== undefined) this.server.deprecatedRequest(subject, deprecation.removedRelease);
  }
}

/** The size of a response, if known. Texts count characters, nearly all of which are one byte. */
export function answerSize({ body }: Answer): number | undefined {
  if (body === null) return 0;
  return typeof body === 'string' || body instanceof Uint8Array ? body.length : undefined;
}

function scopeOf(action: Action | undefined): RequestSubject['scope'] {
  if (action === undefined) return '';
  if (action.name !== undefined || action.verb === 'create') return 'resource';
  return action.namespace === undefined ? 'cluster' : 'namespace';
}

/** All invalid values share one label. */
function dryRunLabel(dryRun: CountedRequest['dryRun']): string {
  if (typeof dryRun === 'boolean') return dryRun ? 'All' : '';
  if (dryRun.length === 0) return '';
  return dryRun.every((value) => value === 'All') ? 'All' : 'invalid';
}

const CONNECT_SUBRESOURCES: ReadonlySet<string> = new Set(['log', 'exec', 'portforward', 'attach', 'proxy']);

/** Labels use the method, not the verb, as dashboards expect: deletecollection is a DELETE of another scope. */
const METRIC_VERBS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT', deletecollection: 'DELETE' };

/** Unknown methods share one label; otherwise clients could create unlimited label values. */
function metricVerbOf({ action, method, contentType }: CountedRequest): string {
  if (action === undefined) {
    if (method === 'HEAD') return 'GET';
    return /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method) ? method : 'other';
  }
  if (CONNECT_SUBRESOURCES.has(action.subresource ?? '')) return 'CONNECT';
  if (action.verb === 'patch' && contentType === 'application/apply-patch+yaml') return 'APPLY';
  return METRIC_VERBS[action.verb] ?? action.verb.toUpperCase();
}
