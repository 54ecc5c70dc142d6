/**
 * Authentication by a proxy: the proxy identifies itself with a client certificate and names the user in headers. Only the
 * transport knows the certificate; this file reads the headers.
 * upstream: apiserver/pkg/authentication/request/headerrequest/requestheader.go
 */
import type { User } from '../protocol/request.js';
import { setOwn } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';
import { allValues, extraKey, firstValue, type ImpersonationHeaders } from './impersonation.js';

/** The headers of an authenticating proxy. */
export interface RequestHeaderOptions {
  /** The CA certificates (PEM) of the proxy's client certificate. */
  readonly ca: string;
  /** The common names of accepted certificates; empty or absent: every certificate of the CA. */
  readonly allowedNames?: readonly string[] | undefined;
  /** The first header with a value is the user name: `X-Remote-User`. Without a header, no user is accepted. */
  readonly usernameHeaders?: readonly string[] | undefined;
  /** The first header with a value is the UID: `X-Remote-Uid`. */
  readonly uidHeaders?: readonly string[] | undefined;
  /** All values of all headers are groups: `X-Remote-Group`. */
  readonly groupHeaders?: readonly string[] | undefined;
  /** The rest of the name is the key, in lower case and with percent escapes: `X-Remote-Extra-`. */
  readonly extraHeadersPrefix?: readonly string[] | undefined;
}

const OPTIONS = [
  'ca',
  'allowedNames',
  'usernameHeaders',
  'uidHeaders',
  'groupHeaders',
  'extraHeadersPrefix',
] as const satisfies readonly (keyof RequestHeaderOptions)[];

/** Throws a TypeError for unknown options and empty names. */
export function checkRequestHeaderOptions(options: RequestHeaderOptions): void {
  refuseUnknownOptions('requestHeader', options, OPTIONS);
  if (typeof options.ca !== 'string') throw new TypeError('orchplane: requestHeader needs ca, a text in PEM');
  for (const option of OPTIONS.slice(1)) {
    const names = options[option] ?? [];
    if (!Array.isArray(names) || names.some((name) => typeof name !== 'string' || name.trim() === '')) {
      throw new TypeError(`orchplane: ${option} of requestHeader must be a list of names that are not empty`);
    }
  }
}

/** The user in the headers of a proxy; undefined without a user name. */
export function userOfHeaders(headers: ImpersonationHeaders, options: RequestHeaderOptions): User | undefined {
  const user = firstOf(headers, options.usernameHeaders);
  if (user === '') return undefined;
  const uid = firstOf(headers, options.uidHeaders);
  const groups = lowerCase(options.groupHeaders).flatMap((name) => allValues(headers, name));
  const extra = extraOf(headers, options.extraHeadersPrefix);
  return {
    user,
    ...(uid === '' ? {} : { uid }),
    groups: groups.filter((group) => group !== ''),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** Removes the headers, which only the server's own proxies may send, so that no other server believes them. */
export function removeUserHeaders(headers: Record<string, unknown>, options: RequestHeaderOptions): void {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeadersPrefix } = options;
  const names = new Set([usernameHeaders, uidHeaders, groupHeaders].flatMap(lowerCase));
  const prefixes = lowerCase(extraHeadersPrefix);
  for (const name of Object.keys(headers)) {
    if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) delete headers[name];
  }
}

function firstOf(headers: ImpersonationHeaders, names: readonly string[] | undefined): string {
  for (const name of lowerCase(names)) {
    const value = firstValue(headers, name);
    if (value !== '') return value;
  }
  return '';
}

function extraOf(headers: ImpersonationHeaders, prefixes: readonly string[] | undefined): Record<string, string[]> {
  const extra: Record<string, string[]> = {};
  for (const prefix of lowerCase(prefixes)) {
    const names = new Set([...headers].map(([name]) => name).filter((name) => name.startsWith(prefix)));
    for (const name of names) {
      const key = extraKey(name.slice(prefix.length));
      if (!Object.hasOwn(extra, key)) setOwn(extra, key, []);
      extra[key]?.push(...allValues(headers, name));
    }
  }
  return extra;
}

function lowerCase(names: readonly string[] = []): readonly string[] {
  return names.map((name) => name.trim().toLowerCase());
}
