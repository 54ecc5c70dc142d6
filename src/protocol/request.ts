/**
 * What both ends agree to send: one request of the API, before any transport has touched it.
 *
 * The local client builds it directly; the HTTP handler builds it from a URL, a query and headers. Values are parsed
 * (a limit is a number) but not yet judged: whether `fieldValidation` is a word the server knows is the server's call.
 */
import type { GroupVersionResource } from '../meta/gvk.js';
import { sortedRecord } from '../util/order.js';
import type { RequestBody } from './body.js';

/** Options that go into the query as they are; those of a delete go into its body. */
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

/** Who asks. The local client speaks as the cluster's administrator unless told otherwise. */
export interface User {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What is noted about a request beside its answer. */
export interface AuditNotes {
  /** The first note under a key stays. `body`: it shows a part of an object, and is kept only where objects are. */
  annotate(key: string, value: string, shows?: 'body'): void;
  /** The object as it was sent, and as it was answered; kept where the policy wants bodies. */
  requestObject?(object: unknown): void;
  /** Whether who asks may, and why. The first decision stays. */
  decision?(decision: { readonly allowed: boolean; readonly reason: string; readonly error?: string }): void;
  /** The version that was asked for goes away; empty: nobody knows when. */
  deprecated?(deprecation: { readonly removedRelease: string }): void;
}

/** Conditions that the live object must meet for a delete to go ahead. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Every option of the specification, under its query name. A verb ignores those that are not its own. */
export interface RequestOptions {
  /** Writes. The only word the server knows is `All`. */
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

  /** Delete. A request body replaces all of these. */
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: Preconditions;

  /** Lines (exec, proxy): the query, as it is, for whoever judges them. */
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
  /** In the dialect of the cluster that answers. */
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
  /** Takes notes about the request for whoever keeps a record of it. */
  readonly audit?: AuditNotes | undefined;
  /** From which a field manager is derived when the options name none. */
  readonly userAgent?: string | undefined;
  /** Which part of this process asks, a controller for one. For logs and faults of tests: nothing is decided by it. */
  readonly origin?: string | undefined;
  /** Ends a watch; gives up waiting for a version that has not come yet. */
  readonly signal?: AbortSignal | undefined;
}

/** With the question mark in front; empty when there is nothing to say. */
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

/** The plus sign too, which stands for a space in a query. Half a surrogate pair has no encoding. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}

/** What is empty is absent. */
interface UserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: string[];
  readonly extra?: Record<string, string[]>;
}

/** A copy: nothing in it is shared with the user. Keys of `extra` are in order. */
export function shownUser({ user, uid = '', groups = [], extra = {} }: User): UserInfo {
  const entries = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    ...(user === '' ? {} : { username: user }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(entries.length === 0 ? {} : { extra: sortedRecord(entries) }),
  };
}
