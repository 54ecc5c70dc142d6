/**
 * The targets of aggregated API versions: a function of this process, a configured address, or the DNS name of the
 * Service.
 */
import { isRecord } from '../../util/json.js';
import type { APIService } from './v1/api-service.js';

/** Handles requests for a group version. */
export type AggregatedHandler = (request: Request) => Response | Promise<Response>;

/** A function of this process or the base URL of a server (`https://10.0.0.7:6443`). */
export type AggregatedTarget = AggregatedHandler | string;

/** The server of an APIService. */
export interface AggregatedApi {
  /** The name of the APIService: `v1beta1.metrics.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
}

/**
 * The targets by APIService name, or a function that returns the target. Without a target, requests are fetched from
 * `https://<name>.<namespace>.svc:<port>`.
 */
export type Aggregation =
  | Readonly<Record<string, AggregatedTarget>>
  | ((api: AggregatedApi) => AggregatedTarget | undefined);

/** The aggregated API of an APIService; undefined if this server serves it. */
export function aggregatedApi({ metadata, spec }: Pick<APIService, 'metadata' | 'spec'>): AggregatedApi | undefined {
  if (spec.service === undefined) return undefined;
  const { namespace = '', name = '', port } = spec.service;
  const { group = '', version = '' } = spec;
  return { name: metadata.name, group, version, service: { namespace, name, port } };
}

/** The URL path of a group version. */
export function pathOfVersion({ group, version }: Pick<AggregatedApi, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** A resolved target. */
export interface AggregationTarget {
  /** The base URL without a trailing slash. */
  readonly address: string;
  /** The target is reached over a network and may be unavailable. */
  readonly isRemote: boolean;
  /** Sends a request; `url` starts with the address. Rejects if there is no response. */
  send(url: string, init: RequestInit): Promise<Response>;
}

/** Resolves the target of an aggregated API. */
export function resolveAggregation(aggregation: Aggregation | undefined, api: AggregatedApi): AggregationTarget {
  const target = targetOf(aggregation, api);
  const { name, namespace, port } = api.service;
  if (typeof target !== 'function') {
    const address = withoutSlash(target ?? `https://${name}.${namespace}.svc:${port}`);
    return { address, isRemote: true, send: (url, init) => fetch(url, { ...init, redirect: 'manual' }) };
  }
  return {
    address: `https://${name}.${namespace}.svc:${port}`,
    isRemote: false,
    send: async (url, init) => {
      const response = await target(new Request(url, init));
      if (!(response instanceof Response)) throw new TypeError(`the handler of ${api.name} returned no Response`);
      return response;
    },
  };
}

function targetOf(aggregation: Aggregation | undefined, api: AggregatedApi): AggregatedTarget | undefined {
  if (typeof aggregation === 'function') return aggregation(api);
  return aggregation !== undefined && Object.hasOwn(aggregation, api.name) ? aggregation[api.name] : undefined;
}

function withoutSlash(address: string): string {
  return address.endsWith('/') ? address.slice(0, -1) : address;
}

/** Throws TypeError for an invalid `aggregate` option. */
export function checkAggregation(aggregation: unknown): void {
  if (aggregation === undefined || typeof aggregation === 'function') return;
  const isTable = isRecord(aggregation);
  if (!isTable) throw new TypeError('orchplane: aggregate is a table of APIServices by their names, or a function');
  for (const [name, target] of Object.entries(aggregation)) {
    if (typeof target === 'function' || (typeof target === 'string' && /^https?:\/\//.test(target))) continue;
    throw new TypeError(
      `orchplane: aggregate has for ${name} neither a function nor an address that begins with https:// or http://`,
    );
  }
}

/** The message of a failed request; platforms put the reason in `cause`. */
export function messageOfFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}

/** Sets the X-Remote headers that identify the user to an aggregated server, and removes existing ones. */
export function setRemoteUserHeaders(headers: Headers, user: RemoteUser): void {
  for (const name of [...headers.keys()]) if (name.startsWith('x-remote-')) headers.delete(name);
  headers.set('X-Remote-User', user.user);
  if (user.uid !== undefined && user.uid !== '') headers.set('X-Remote-Uid', user.uid);
  for (const group of user.groups ?? []) headers.append('X-Remote-Group', group);
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    for (const value of values) headers.append(`X-Remote-Extra-${escapeKey(key)}`, value);
  }
}

/** The user in X-Remote headers. */
export interface RemoteUser {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** The identity of the server's own requests. */
export const AGGREGATOR: RemoteUser = { user: 'system:kube-aggregator', groups: ['system:masters'] };

/** Percent-encodes bytes that are invalid in a header name. */
function escapeKey(key: string): string {
  const legal = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;
  let escaped = '';
  for (const byte of new TextEncoder().encode(key)) {
    const character = String.fromCharCode(byte);
    escaped += legal.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
