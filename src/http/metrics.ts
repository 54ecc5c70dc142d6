/**
 * What a handler tells the server's metrics about its requests: from routes and actions to the labels that dashboards
 * look for.
 */
import { deprecationOf } from '../kinds/lifecycle.js';
import { qualifiedResource } from '../meta/gvk.js';
import {
  type RequestFigures,
  type RequestSubject,
  ServerMetrics,
  type ServerMetricsOptions,
} from '../metrics/server-metrics.js';
import type { Answer } from './answer.js';
import type { Action, ServedResource } from './routes.js';
import type { FetchTarget } from './target.js';

/** What a request was about. */
export interface CountedRequest {
  /** Absent: of a page of the server's own. */
  readonly served: ServedResource | undefined;
  readonly action: Action | undefined;
  readonly method: string;
  /** The header, by which applying is told from other patches. */
  readonly contentType?: string | null;
  /** What the query says of it, or only whether it says anything. */
  readonly dryRun: boolean | readonly string[];
  readonly code: number;
  /** How long it took. */
  readonly seconds?: number;
  /** Of the answer; see {@link sizeOf}. */
  readonly bytes?: number | undefined;
}

/**
 * The metrics of a handler: what it tells itself, and what the cluster behind it counts. `more.sources` adds what only
 * the handler knows: its build, its flow control.
 */
export function metricsOf(target: FetchTarget, more: ServerMetricsOptions = {}): Metrics {
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
  return new Metrics(server);
}

/** One for each resource, whatever the number of its versions; what is not stored is not counted. */
function storedObjects({ kinds, inside }: FetchTarget): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, ...served } of kinds()) {
    const { groupResource } = served.storageKind ?? served;
    const count = kind.virtual === undefined ? inside.count(groupResource) : undefined;
    if (count !== undefined) counts.set(qualifiedResource(groupResource), count);
  }
  return counts;
}

export class Metrics {
  /** Where everything is kept: for what others have to tell. */
  readonly server: ServerMetrics;
  /** By what tells requests apart: the labels are worked out once. */
  readonly #requests = new Map<string, (figures: Omit<RequestFigures, 'code'>) => void>();

  constructor(server: ServerMetrics = new ServerMetrics()) {
    this.server = server;
  }

  count(request: CountedRequest): void {
    const { served, action, code, seconds, bytes } = request;
    const { group = '', version = '', resource = '' } = served?.gvr ?? {};
    const subresource = action?.subresource ?? '';
    const verb = verbOf(request);
    const dryRun = dryRunOf(request.dryRun);
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

  /** A request has begun that changes something, or does not. Returns what to call at its end; watches are no part of it. */
  began(method: string): () => void {
    return this.server.inflight(method === 'GET' || method === 'HEAD' ? 'readOnly' : 'mutating');
  }

  /** A watch has begun. Returns what to call when it has ended. */
  watchBegan({ gvr }: ServedResource, action?: Action): () => void {
    const { group, version, resource } = gvr;
    const subresource = action?.subresource ?? '';
    return this.server.longRunning({
      verb: 'WATCH',
      group,
      version,
      resource,
      subresource,
      scope: scopeOf(action),
    });
  }

  /** What counts the events of a watch; called with the length of each. */
  watchEvents({ kind, gvr }: ServedResource): (bytes: number) => void {
    return this.server.watchEvents({ group: gvr.group, version: gvr.version, kind: kind.kind });
  }

  print(): string {
    return this.server.print();
  }

  /** Once for each way in which a version can be asked for: there is no more to be said than that somebody has. */
  #noteDeprecation(served: ServedResource | undefined, subject: RequestSubject): void {
    if (served === undefined) return;
    const deprecation = deprecationOf(served.kind, this.server.dialect, this.server.release);
    if (deprecation !== undefined) this.server.deprecatedRequest(subject, deprecation.removedRelease);
  }
}

/** How long an answer is, where that is known. Texts count by characters, of which nearly all are one byte. */
export function sizeOf({ body }: Answer): number | undefined {
  if (body === null) return 0;
  return typeof body === 'string' || body instanceof Uint8Array ? body.length : undefined;
}

function scopeOf(action: Action | undefined): RequestSubject['scope'] {
  if (action === undefined) return '';
  if (action.name !== undefined || action.verb === 'create') return 'resource';
  return action.namespace === undefined ? 'cluster' : 'namespace';
}

/** What cannot be asked for is one thing, whatever it was. */
function dryRunOf(asked: CountedRequest['dryRun']): string {
  if (typeof asked === 'boolean') return asked ? 'All' : '';
  if (asked.length === 0) return '';
  return asked.every((word) => word === 'All') ? 'All' : 'invalid';
}

const CONNECTIONS: ReadonlySet<string> = new Set(['log', 'exec', 'portforward', 'attach', 'proxy']);

/** By method rather than by verb, as dashboards know it: deleting a collection is a DELETE of another scope. */
const VERBS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT', deletecollection: 'DELETE' };

/** Methods nobody knows are one, or every client could fill the page with its own. */
function verbOf({ action, method, contentType }: CountedRequest): string {
  if (action === undefined) {
    if (method === 'HEAD') return 'GET';
    return /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(method) ? method : 'other';
  }
  if (CONNECTIONS.has(action.subresource ?? '')) return 'CONNECT';
  if (action.verb === 'patch' && contentType === 'application/apply-patch+yaml') return 'APPLY';
  return VERBS[action.verb] ?? action.verb.toUpperCase();
}
