/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Logs the requests of a cluster with their senders and results: from all clients, HTTP and controllers, in sending order.
 * Also detects writes that changed nothing.
 */
import type { Cluster } from '../cluster/cluster.js';
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { StatusError } from '../meta/errors.js';
import { qualifiedResource } from '../meta/gvk.js';
import type { StatusReason } from '../meta/status.js';
import { type ApiRequest, type PatchType, sourceOf, type Verb } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { managerOf } from '../server/manager-name.js';
import type { Middleware } from '../server/middleware.js';
import { formatTime } from '../text/time/time.js';
import { isRecord } from '../util/json.js';
import { chain, isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { isWrite, nameIn, type RequestMatch, requestMatcher, userOf } from './faults/match.js';
import { type TraceOptions, traceOf } from './trace.js';

/** The result of a request. */
export interface RequestOutcome {
  /** 200 for a watch that was opened. */
  readonly code: number;
  /** The reason of a rejection. */
  readonly reason?: StatusReason;
  readonly message?: string;
}

export interface LoggedRequest {
  readonly verb: Verb;
  /** Present for a patch. */
  readonly patchType?: PatchType;
  /** `Pod`; empty if the resource is not served. */
  readonly kind: string;
  /** `pods`, `deployments.apps`. */
  readonly resource: string;
  readonly subresource?: string;
  /** Absent for cluster-scoped kinds and across all namespaces. */
  readonly namespace?: string;
  /** Absent on collections. For a create: the name that the object got. */
  readonly name?: string;
  /** For a create without a name. */
  readonly generateName?: string;
  readonly user: string;
  /** The field manager of a write. */
  readonly manager?: string;
  /** `local`, `http`, the name of a controller, or `controllers` for the informers that all controllers share. */
  readonly source: string;
  readonly dryRun: boolean;
  /** The sending time on the cluster's clock. */
  readonly time: string;
  /** Undefined while the request is in progress. */
  readonly outcome: RequestOutcome | undefined;
  /** The version of the object before the request; absent if it did not exist. */
  readonly versionBefore?: string;
  /** The version in the response, or of an object that remains after a delete. */
  readonly versionAfter?: string;
  /** Whether the stored state changed. Always false for reads, dry runs and rejected requests. */
  readonly changed: boolean;
  /** An update or patch removed the last finalizer of an object that was being deleted, and so deleted it. */
  readonly gone?: true;
}

/** A filter: all requests of a kind, or a {@link RequestMatch}. */
export type RequestFilter = Kind | RequestMatch;

/** A log that records until it is closed. `String(log)` is its trace. */
export interface RequestLog extends Disposable {
  /** All matching requests in sending order. */
  requests(filter?: RequestFilter): readonly LoggedRequest[];
  reads(filter?: RequestFilter): readonly LoggedRequest[];
  writes(filter?: RequestFilter): readonly LoggedRequest[];
  /** Accepted writes that changed nothing, which a controller should not send. Dry runs are excluded. */
  noOpWrites(filter?: RequestFilter): readonly LoggedRequest[];
  /** Rejected requests. */
  failures(filter?: RequestFilter): readonly LoggedRequest[];
  /** One line for each request, stable between runs: generated names are numbered, versions are omitted. */
  trace(options?: TraceOptions): string;
  /** Removes all entries. */
  clear(): void;
  /** Stops recording; the entries are kept. */
  close(): void;
  toString(): string;
}

type Logged = Pick<Cluster, 'use' | 'storageReader' | 'resolve' | 'clock' | 'dialect' | 'resourceVersion'>;

/**
 * Starts to log the requests of a cluster: all of them, or those that match.
 *
 * @example
 * using log = recordRequests(cluster, { verb: 'write' });
 * await cluster.settle();
 * console.log(log.trace());
 */
export function recordRequests(cluster: Logged, match: RequestMatch = {}): RequestLog {
  return new Recording(cluster, match);
}

interface Entry {
  readonly request: ApiRequest;
  logged: LoggedRequest;
}

class Recording implements RequestLog {
  readonly #cluster: Logged;
  readonly #stop: () => void;
  #entries: Entry[] = [];
  /** The versions that recorded writes created; each version has one writer. */
  readonly #written = new Set<string>();

  constructor(cluster: Logged, match: RequestMatch) {
    const matches = requestMatcher('recordRequests', match);
    this.#cluster = cluster;
    const follow: Middleware = (request, next) =>
      matches(request, cluster.dialect) ? this.#logRequest(request, next) : this.#passUnlogged(request, next);
    // Outside of all faults, also later ones, so that the log contains what callers see.
    this.#stop = cluster.use(Object.assign(follow, { isOutermost: true }));
  }

  requests(filter: RequestFilter = {}): readonly LoggedRequest[] {
    return this.#found('requests', filter).map(({ logged }) => logged);
  }

  reads(filter: RequestFilter = {}): readonly LoggedRequest[] {
    return this.requests(filter).filter(({ verb }) => !isWrite(verb));
  }

  writes(filter: RequestFilter = {}): readonly LoggedRequest[] {
    return this.requests(filter).filter(({ verb }) => isWrite(verb));
  }

  noOpWrites(filter: RequestFilter = {}): readonly LoggedRequest[] {
    return this.writes(filter).filter((write) => isNoOp(write));
  }

  failures(filter: RequestFilter = {}): readonly LoggedRequest[] {
    return this.requests(filter).filter(({ outcome }) => outcome !== undefined && outcome.code >= 400);
  }

  trace({ versions, times, ...match }: TraceOptions = {}): string {
    const wanted = new Set(this.#found('trace', match).map(({ logged }) => logged));
    const all = this.#entries.map(({ logged }) => logged);
    return traceOf(all, (each) => wanted.has(each), { versions, times });
  }

  clear(): void {
    this.#entries = [];
  }

  close(): void {
    this.#stop();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  toString(): string {
    return this.trace();
  }

  #found(where: string, filter: RequestFilter): readonly Entry[] {
    const match = 'names' in filter ? { kind: filter } : filter;
    const matches = requestMatcher(`the log's ${where}`, match);
    return this.#entries.filter(({ request }) => matches(request, this.#cluster.dialect));
  }

  /** Passes a request that is not logged, but records the version that it writes. */
  #passUnlogged(request: ApiRequest, next: () => MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    if (!isWrite(request.verb)) return next();
    const revision = this.#cluster.resourceVersion;
    return chain(next(), (response) => {
      const version = versionIn(response);
      if (version !== undefined && Number(version) > Number(revision)) this.#written.add(version);
      return response;
    });
  }

  #logRequest(request: ApiRequest, next: () => MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    const began = this.#begin(request);
    const entry: Entry = { request, logged: began };
    this.#entries.push(entry);
    const revision = this.#cluster.resourceVersion;
    const answered = (response: ApiResponse): ApiResponse => {
      entry.logged = { ...began, ...this.#outcome(entry, response, revision) };
      return response;
    };
    const failed = (error: unknown): never => {
      entry.logged = { ...began, outcome: outcomeOf(error) };
      throw error;
    };
    let response: MaybePromise<ApiResponse>;
    try {
      response = next();
    } catch (error) {
      return failed(error);
    }
    return isPromise(response) ? response.then(answered, failed) : answered(response);
  }

  #begin(request: ApiRequest): LoggedRequest {
    const { verb, resource, subresource, namespace, patchType, options } = request;
    const served = this.#cluster.resolve(resource);
    const isCreation = verb === 'create' && request.name === undefined;
    const name = request.name ?? (isCreation ? nameIn(request.body) : undefined);
    const generateName = isCreation && name === undefined ? nameIn(request.body, 'generateName') : undefined;
    const before = isWrite(verb) ? this.#versionOf(served, namespace, name) : undefined;
    return {
      verb,
      ...(patchType === undefined ? {} : { patchType }),
      kind: served?.gvk.kind ?? '',
      resource: qualifiedResource(resource),
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      ...(generateName === undefined ? {} : { generateName }),
      user: userOf(request),
      ...(isWrite(verb) ? { manager: managerOf(request) } : {}),
      source: sourceOf(request),
      dryRun: (options.dryRun ?? []).length > 0,
      time: formatTime(this.#cluster.clock.now()),
      outcome: undefined,
      ...(before === undefined ? {} : { versionBefore: before }),
      changed: false,
    };
  }

  /** A write changed something if its object has a newer version than the cluster had before the request. */
  #outcome({ request, logged: began }: Entry, response: ApiResponse, revision: string): Partial<LoggedRequest> {
    if (response.type !== 'object') return { outcome: { code: 200 } };
    const metadata = isRecord(response.object) ? response.object['metadata'] : undefined;
    const { name, resourceVersion, deletionTimestamp } = (isRecord(metadata) ? metadata : {}) as Partial<
      Record<string, string>
    >;
    const version = name === undefined ? this.#versionAfterDelete(began, request) : resourceVersion;
    const now = version ?? this.#cluster.resourceVersion;
    const isNewer = Number(now) > Number(revision);
    // A concurrent write may have created this version; it was then recorded already.
    const isOtherWrite = version !== undefined && this.#written.has(version);
    const isGone = deletionTimestamp !== undefined && this.#hasGone(began, request);
    const changed = isWrite(began.verb) && !began.dryRun && (isGone || (isNewer && !isOtherWrite));
    if (changed && version !== undefined) this.#written.add(version);
    return {
      outcome: { code: response.code },
      ...(began.name === undefined && began.verb === 'create' && name !== undefined ? { name } : {}),
      ...(version === undefined ? {} : { versionAfter: version }),
      changed,
      ...(isGone ? { gone: true as const } : {}),
    };
  }

  /** A delete that returned a Status; the object remains while it has finalizers. */
  #versionAfterDelete({ verb, dryRun }: LoggedRequest, { resource, namespace, name }: ApiRequest): string | undefined {
    if (verb !== 'delete' || dryRun) return undefined;
    return this.#versionOf(this.#cluster.resolve(resource), namespace, name);
  }

  /** The response contains the last state of the object with its old version; only the store shows the deletion. */
  #hasGone({ verb, dryRun, versionBefore }: LoggedRequest, { resource, namespace, name }: ApiRequest): boolean {
    if ((verb !== 'update' && verb !== 'patch') || dryRun || versionBefore === undefined) return false;
    return this.#versionOf(this.#cluster.resolve(resource), namespace, name) === undefined;
  }

  #versionOf(
    served: ServedKind | undefined,
    namespace: string | undefined,
    name: string | undefined,
  ): string | undefined {
    if (served === undefined || name === undefined) return undefined;
    const { group, names } = served.kind;
    const address = { group, resource: names.plural, namespace: namespace ?? '', name };
    return this.#cluster.storageReader.objects.get(address)?.metadata.resourceVersion;
  }
}

/** An accepted write that changed nothing. Creates of subresources (a token, a review) never store anything and are excluded. */
export function isNoOp({ verb, outcome, changed, dryRun, versionAfter }: LoggedRequest): boolean {
  if (outcome === undefined || outcome.code >= 400 || changed || dryRun) return false;
  return verb === 'update' || verb === 'patch' || (verb === 'delete' && versionAfter !== undefined);
}

function outcomeOf(error: unknown): RequestOutcome {
  if (!StatusError.is(error)) return { code: 500, message: messageOf(error) };
  const { code, reason, message } = error;
  return { code, ...(reason === undefined ? {} : { reason }), message };
}

function versionIn(response: ApiResponse): string | undefined {
  if (response.type !== 'object' || !isRecord(response.object)) return undefined;
  const { metadata } = response.object;
  const version = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}
