/**
 * How those are reached who answer for a version in place of this server: by a function of this process, by an address
 * that is brought, else by the name that their Service has in a cluster's network.
 */
import { isRecord } from '../../util/json.js';
import type { APIService } from './v1/api-service.js';

/** Answers requests for a version of a group. */
export type AggregatedHandler = (request: Request) => Response | Promise<Response>;

/** A function of this process, or the address (`https://10.0.0.7:6443`) below which the API's paths are. */
export type AggregatedTarget = AggregatedHandler | string;

/** What an APIService says about who answers for it. */
export interface AggregatedApi {
  /** The APIService's: `v1beta1.metrics.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number };
}

/**
 * Says who answers, by the names of APIServices or in a function of one's own. Undefined: `fetch` finds it, at
 * `https://<name>.<namespace>.svc:<port>`.
 */
export type Aggregation =
  | Readonly<Record<string, AggregatedTarget>>
  | ((api: AggregatedApi) => AggregatedTarget | undefined);

/** Undefined: this server answers itself. */
export function aggregatedApi({ metadata, spec }: Pick<APIService, 'metadata' | 'spec'>): AggregatedApi | undefined {
  if (spec.service === undefined) return undefined;
  const { namespace = '', name = '', port } = spec.service;
  const { group = '', version = '' } = spec;
  return { name: metadata.name, group, version, service: { namespace, name, port } };
}

/** The path below which all of a version is, which who answers for it must have. */
export function pathOfVersion({ group, version }: Pick<AggregatedApi, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

export interface Reached {
  /** Without a slash at the end. */
  readonly address: string;
  /** Over a network, where whoever asks cannot know whether anything is there. */
  readonly isFar: boolean;
  /** Asks; `url` begins with the address. Rejects when nothing comes back. */
  send(url: string, init: RequestInit): Promise<Response>;
}

export function reach(aggregation: Aggregation | undefined, api: AggregatedApi): Reached {
  const target = targetOf(aggregation, api);
  const { name, namespace, port } = api.service;
  if (typeof target !== 'function') {
    const address = withoutSlash(target ?? `https://${name}.${namespace}.svc:${port}`);
    return { address, isFar: true, send: (url, init) => fetch(url, { ...init, redirect: 'manual' }) };
  }
  return {
    address: `https://${name}.${namespace}.svc:${port}`,
    isFar: false,
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

/** Throws what is wrong with such an option. */
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

/** Why nothing came back; platforms tell the reason apart from the fact. */
export function messageOfFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' ? cause.message : error.message;
}

/** Who asks, as those behind an aggregating server are told. Replaces what stood there. */
export function tellIdentity(headers: Headers, user: RemoteUser): void {
  for (const name of [...headers.keys()]) if (name.startsWith('x-remote-')) headers.delete(name);
  headers.set('X-Remote-User', user.user);
  if (user.uid !== undefined && user.uid !== '') headers.set('X-Remote-Uid', user.uid);
  for (const group of user.groups ?? []) headers.append('X-Remote-Group', group);
  for (const [key, values] of Object.entries(user.extra ?? {})) {
    for (const value of values) headers.append(`X-Remote-Extra-${escapeKey(key)}`, value);
  }
}

export interface RemoteUser {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** In whose name the server itself asks. */
export const AGGREGATOR: RemoteUser = { user: 'system:kube-aggregator', groups: ['system:masters'] };

/** What cannot stand in the name of a header, byte by byte; names are in lower case all the same. */
function escapeKey(key: string): string {
  const legal = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;
  let escaped = '';
  for (const byte of new TextEncoder().encode(key)) {
    const character = String.fromCharCode(byte);
    escaped += legal.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
