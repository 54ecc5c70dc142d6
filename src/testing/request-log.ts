/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What was asked of a cluster, by whom, and what came of it: every request of every client, over HTTP and from
 * controllers too, in the order in which they were sent. Also which writes changed nothing.
 */
import type { Cluster } from '../cluster/cluster.js';
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { StatusError } from '../meta/errors.js';
import { qualifiedResource } from '../meta/gvk.js';
import type { StatusReason } from '../meta/status.js';
import type { ApiRequest, PatchType, Verb } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { managerOf } from '../server/manager-name.js';
import type { Middleware } from '../server/middleware.js';
import { formatTime } from '../text/time/time.js';
import { isRecord } from '../util/json.js';
import { chain, isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { isWrite, nameIn, type RequestMatch, requestMatcher, sourceOf, userOf } from './faults/match.js';
import { type TraceOptions, traceOf } from './trace.js';

/** What came of a request. */
export interface RequestOutcome {
  /** 200 for a watch that was opened. */
  readonly code: number;
  /** Of a refusal. */
  readonly reason?: StatusReason;
  readonly message?: string;
}

export interface LoggedRequest {
  readonly verb: Verb;
  /** Of a patch. */
  readonly patchType?: PatchType;
  /** `Pod`; empty for what is not served. */
  readonly kind: string;
  /** `pods`, `deployments.apps`. */
  readonly resource: string;
  readonly subresource?: string;
  /** Absent for cluster-scoped kinds and across all namespaces. */
  readonly namespace?: string;
  /** Absent on collections. Of a creation: the name that the object was given. */
  readonly name?: string;
  /** Of a creation without a name. */
  readonly generateName?: string;
  readonly user: string;
  /** The field manager of a write. */
  readonly manager?: string;
  /** `local`, `http`, the name of a controller, or `controllers` for what all of them share. */
  readonly source: string;
  readonly dryRun: boolean;
  /** When it was sent, by the cluster's clock. */
  readonly time: string;
  /** Undefined while it is under way. */
  readonly outcome: RequestOutcome | undefined;
  /** The version of the object before; absent where there was none. */
  readonly versionBefore?: string;
  /** The version in the answer. */
  readonly versionAfter?: string;
  /** Something is stored otherwise than before. Always false for reads, rehearsals and refusals. */
  readonly changed: boolean;
  /** An update or patch that took away the last thing that held an object which is being deleted: it has gone with it. */
  readonly gone?: true;
}

/** Which requests: all of a kind, or a {@link RequestMatch}. */
export type RequestFilter = Kind | RequestMatch;

/** A log that goes on until it is closed. Reads as a text: `String(log)` is its trace. */
export interface RequestLog extends Disposable {
  /** All that match, in the order in which they were sent. */
  requests(filter?: RequestFilter): readonly LoggedRequest[];
  reads(filter?: RequestFilter): readonly LoggedRequest[];
  writes(filter?: RequestFilter): readonly LoggedRequest[];
  /** Writes that were accepted and changed nothing: what a controller should not have sent. Rehearsals are left out. */
  noOpWrites(filter?: RequestFilter): readonly LoggedRequest[];
  /** Requests that were refused. */
  failures(filter?: RequestFilter): readonly LoggedRequest[];
  /** One line for each request, the same on every run: generated names are numbered, versions are left out. */
  trace(options?: TraceOptions): string;
  /** Forgets what was logged so far. */
  clear(): void;
  /** Logs no more; what was logged stays. */
  close(): void;
  toString(): string;
}

type Logged = Pick<Cluster, 'use' | 'inside' | 'resolve' | 'clock' | 'dialect' | 'resourceVersion'>;

/**
 * Logs the requests of a cluster from now on: all of them, or those that match.
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
  /** Versions that writes of this log have made; no two make the same. */
  readonly #written = new Set<string>();

  constructor(cluster: Logged, match: RequestMatch) {
    const isMeant = requestMatcher('recordRequests', match);
    this.#cluster = cluster;
    const follow: Middleware = (request, next) =>
      isMeant(request, cluster.dialect) ? this.#follow(request, next) : this.#overlook(request, next);
    // Outside of faults, whenever those come: it shows what callers see.
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
    const isMeant = requestMatcher(`the log's ${where}`, match);
    return this.#entries.filter(({ request }) => isMeant(request, this.#cluster.dialect));
  }

  /** Not logged; but what it writes is no change of somebody else's. */
  #overlook(request: ApiRequest, next: () => MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
    if (!isWrite(request.verb)) return next();
    const revision = this.#cluster.resourceVersion;
    return chain(next(), (response) => {
      const version = versionIn(response);
      if (version !== undefined && Number(version) > Number(revision)) this.#written.add(version);
      return response;
    });
  }

  #follow(request: ApiRequest, next: () => MaybePromise<ApiResponse>): MaybePromise<ApiResponse> {
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

  /** Whatever a write changes gets a version that is newer than all there were when it came. */
  #outcome({ request, logged: began }: Entry, response: ApiResponse, revision: string): Partial<LoggedRequest> {
    if (response.type === 'watch') return { outcome: { code: 200 } };
    const metadata = isRecord(response.object) ? response.object['metadata'] : undefined;
    const { name, resourceVersion, deletionTimestamp } = (isRecord(metadata) ? metadata : {}) as Partial<
      Record<string, string>
    >;
    const isObject = name !== undefined && resourceVersion !== undefined;
    const now = isObject ? resourceVersion : this.#cluster.resourceVersion;
    const isNewer = Number(now) > Number(revision);
    // Another write may have come in while this one was on its way: that one has answered with this version already.
    const isAnothers = isObject && this.#written.has(now);
    const isGone = deletionTimestamp !== undefined && this.#hasGone(began, request);
    const changed = isWrite(began.verb) && !began.dryRun && (isGone || (isNewer && !isAnothers));
    if (changed && isObject) this.#written.add(now);
    return {
      outcome: { code: response.code },
      ...(began.name === undefined && began.verb === 'create' && name !== undefined ? { name } : {}),
      ...(isObject ? { versionAfter: resourceVersion } : {}),
      changed,
      ...(isGone ? { gone: true as const } : {}),
    };
  }

  /** The answer shows the object as it was last, in the version it had: only the store says that it is there no longer. */
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
    return this.#cluster.inside.objects.get(address)?.metadata.resourceVersion;
  }
}

/** Accepted, meant to change something, and nothing changed. Actions below objects (a token, a review) store nothing. */
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
  if (response.type === 'watch' || !isRecord(response.object)) return undefined;
  const { metadata } = response.object;
  const version = isRecord(metadata) ? metadata['resourceVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}
