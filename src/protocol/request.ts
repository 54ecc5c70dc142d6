/**
 * A request of the API, independent of the transport.
 *
 * The local client builds it directly; the HTTP handler builds it from a URL, a query and headers. Values are parsed
 * (a limit is a number) but not validated: the server rejects an unknown `fieldValidation`.
 */
import type { GroupVersionResource } from '../meta/gvk.js';
import type { ListMeta } from '../meta/object.js';
import { sortedRecord } from '../util/order.js';
import type { RequestBody } from './body.js';

/** Options that are sent as query parameters; delete options are sent in the body. */
const PARAMETERS = [
  'fieldManager',
  'fieldValidation',
  'force',
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'timeoutSeconds',
] as const satisfies readonly (keyof RequestOptions)[];

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

/** The user that sends a request. The local client sends as the cluster's administrator by default. */
export interface User {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Records information about a request for the audit log. */
export interface AuditNotes {
  /** Adds an annotation; the first value of a key wins. `body`: recorded only if the policy records object bodies. */
  annotate(key: string, value: string, shows?: 'body'): void;
  /** Records the request object, if the policy records object bodies. */
  requestObject?(object: unknown): void;
  /** Records the authorization decision; the first one wins. */
  decision?(decision: { readonly allowed: boolean; readonly reason: string; readonly error?: string }): void;
  /** Records that the requested version is deprecated; an empty release means that no removal is planned. */
  deprecated?(deprecation: { readonly removedRelease: string }): void;
}

/** Conditions that the live object must meet for a delete to succeed. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** All request options, under their query names. A verb ignores options that do not apply to it. */
export interface RequestOptions {
  /** Writes. The only valid value is `All`. */
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
  readonly force?: boolean;

  /** Reads of a collection. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  /** Also on get. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;

  /** Watch. */
  readonly sendInitialEvents?: boolean;
  readonly allowWatchBookmarks?: boolean;
  readonly timeoutSeconds?: number;

  /** Delete. A request body replaces these, all of them or those that it contains. */
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: Preconditions;

  /** Connect subresources (exec, proxy): the unparsed query, which their handler validates. */
  readonly connectQuery?: Readonly<Record<string, readonly string[]>>;
}

/** The members of a request that authorization depends on. */
export type AuthorizedRequest = Pick<
  ApiRequest,
  'verb' | 'resource' | 'subresource' | 'namespace' | 'name' | 'options' | 'user'
>;

/** Whether a transport has authorized this request, and no middleware has changed what it asks for since. */
export function isAuthorized(request: ApiRequest): boolean {
  const { authorized } = request;
  return (
    authorized !== undefined &&
    authorized.verb === request.verb &&
    authorized.resource === request.resource &&
    authorized.subresource === request.subresource &&
    authorized.namespace === request.namespace &&
    authorized.name === request.name &&
    authorized.options === request.options &&
    authorized.user === request.user
  );
}

/** Optional members may be absent or undefined; both mean the same. */
export interface ApiRequest {
  readonly verb: Verb;
  /** In the dialect of the cluster. */
  readonly resource: GroupVersionResource;
  readonly subresource?: string | undefined;
  /** Absent for cluster-scoped kinds and for a list or watch across all namespaces. */
  readonly namespace?: string | undefined;
  /** Absent on collections. */
  readonly name?: string | undefined;
  readonly options: RequestOptions;
  readonly body?: RequestBody | undefined;
  /** Present exactly when the verb is `patch`. */
  readonly patchType?: PatchType | undefined;
  readonly user?: User | undefined;
  /** Set by a transport that authorized the request before it looked up the resource; the HTTP handler does. */
  readonly authorized?: AuthorizedRequest | undefined;
  /** Receives information for the audit log. */
  readonly audit?: AuditNotes | undefined;
  /** The field manager is derived from it when the options name none. */
  readonly userAgent?: string | undefined;
  /** The component of this process that sends the request, such as a controller. Only request logs, faults and access listeners use it. */
  readonly origin?: string | undefined;
  /** Ends a watch, or cancels waiting for a resourceVersion. */
  readonly signal?: AbortSignal | undefined;
  /** The time limit of the client, in milliseconds; absent, zero or negative: that of the server. */
  readonly timeoutMs?: number | undefined;
  /** The steps of a deletion take real time, as in the reference server; see `server/deletion.ts`. */
  readonly isPaced?: boolean | undefined;
  /** An error of a request for a collection that the server reports after those in the list options. */
  readonly unacceptable?: Error | undefined;
}

/** Where a request comes from: `local`, `http`, the name of a controller, or `controllers` for shared informers. */
export function sourceOf({ origin, userAgent }: Pick<ApiRequest, 'origin' | 'userAgent'>): string {
  return origin ?? (userAgent === undefined ? 'local' : 'http');
}

/**
 * For the pages of one list: the token of the next page, undefined after the last one. Throws if the server repeats a
 * token, because the list would not end.
 */
export function continueTokens(resource: string): (page: { readonly metadata: ListMeta }) => string | undefined {
  const seen = new Set<string>();
  return ({ metadata: { continue: token } }) => {
    if (token === undefined || token === '') return undefined;
    if (seen.has(token)) throw new Error(`the list of ${resource} does not end: the server repeats a continue token`);
    seen.add(token);
    return token;
  };
}

/** The query of a request including the question mark; empty if there are no parameters. */
export function queryText({ verb, options }: ApiRequest): string {
  const pairs: string[] = verb === 'watch' ? ['watch=true'] : [];
  for (const name of PARAMETERS) {
    const value = options[name];
    if (value !== undefined) pairs.push(`${name}=${percentEncode(String(value))}`);
  }
  if (verb !== 'delete' && verb !== 'deletecollection') {
    for (const value of options.dryRun ?? []) pairs.push(`dryRun=${percentEncode(value)}`);
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Percent-encodes a query value. Lone surrogates, which have no UTF-8 encoding, become U+FFFD. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** A user in API objects: audit events, reviews, certificate signing requests. Empty members are absent. */
interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: string[];
  readonly extra?: Record<string, string[]>;
}

/** The UserInfo of a user. Shares no data with the user; the keys of `extra` are sorted. */
export function shownUser({ user, uid = '', groups = [], extra = {} }: User): UserInfo {
  const entries = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    ...(user === '' ? {} : { username: user }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(entries.length === 0 ? {} : { extra: sortedRecord(entries) }),
  };
}
