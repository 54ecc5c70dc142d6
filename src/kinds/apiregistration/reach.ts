/**
 * Aggregated API versions: their servers, as APIServices and the `aggregate` option describe them, and the headers that
 * identify the user to them. `webhook/aggregation.ts` connects to them.
 */
import { errors } from '../../meta/errors.js';
import { quote } from '../../text/go/go-text.js';
import { escapeHeaderName, isHeaderText, toHeaderBytes } from '../../util/bytes.js';
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
  /** The CA certificates for the server's certificate, PEM in base64. */
  readonly caBundle?: string;
  /** Any certificate of the server is accepted. */
  readonly insecureSkipTLSVerify?: boolean;
}

/**
 * The targets by APIService name, or a function that returns the target. Without a target, requests are sent to an
 * endpoint of the Service.
 */
export type Aggregation =
  | Readonly<Record<string, AggregatedTarget>>
  | ((api: AggregatedApi) => AggregatedTarget | undefined);

/** The aggregated API of an APIService; undefined if this server serves it. */
export function aggregatedApi({ metadata, spec }: Pick<APIService, 'metadata' | 'spec'>): AggregatedApi | undefined {
  if (spec.service === undefined) return undefined;
  const { namespace = '', name = '', port } = spec.service;
  const { group = '', version = '', caBundle, insecureSkipTLSVerify } = spec;
  return {
    name: metadata.name,
    group,
    version,
    service: { namespace, name, port },
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(insecureSkipTLSVerify === undefined ? {} : { insecureSkipTLSVerify }),
  };
}

/** The URL path of a group version. */
export function pathOfVersion({ group, version }: Pick<AggregatedApi, 'group' | 'version'>): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
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

/** Sets the X-Remote headers that identify the user to an aggregated server, and removes existing ones. */
export function setRemoteUserHeaders(headers: Headers, user: RemoteUser): void {
  for (const name of [...headers.keys()]) if (name.startsWith('x-remote-')) headers.delete(name);
  for (const [name, value] of remoteUserHeaders(user)) headers.append(name, value);
}

/**
 * The X-Remote headers of a user, each character a byte of UTF-8. Each group and each value is a header of its own: it may
 * contain a comma. Throws BadRequest for a user whom the server would take for another one.
 */
export function remoteUserHeaders(
  { user, uid, groups = [], extra = {} }: RemoteUser,
  { joinsHeaders = false }: RemoteUserOptions = {},
): [string, string][] {
  const headers: [string, string][] = [];
  const add = (name: string, value: string): void => {
    if (!isHeaderText(value)) throw errors.badRequest(`no header ${name} can carry ${quote(value)}`);
    headers.push([name, toHeaderBytes(value)]);
  };
  const addListed = (name: string, value: string): void => {
    if (joinsHeaders && value.includes(', ')) throw errors.badRequest(`no header ${name} can carry ${quote(value)}`);
    add(name, value);
  };
  add('X-Remote-User', user);
  if (uid) add('X-Remote-Uid', uid);
  for (const group of groups) addListed('X-Remote-Group', group);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) addListed(`X-Remote-Extra-${escapeHeaderName(key)}`, value);
  }
  return headers;
}

interface RemoteUserOptions {
  /** The server gets repeated headers joined by a comma and a space. */
  readonly joinsHeaders?: boolean;
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
