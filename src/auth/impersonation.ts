/**
 * Impersonation over HTTP: reads the `Impersonate-…` headers and lists the access checks that the requester must pass. The
 * caller runs the checks in order and stops at the first denial.
 */

import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { ResourceAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { decodeBytes, unescapeBytes } from '../text/go/go-url.js';
import { setOwn } from '../util/json.js';
import { accountOfUserName, completeImpersonatedUser } from './identity.js';

/** The part of headers that is needed here. Names are in lower case; values are bytes, one per character. */
export interface ImpersonationHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
  /** Absent where repeated headers are joined by comma and space. */
  getAll?(name: string): readonly string[];
}

export type Impersonation =
  /** The checks must all be allowed, in this order. */
  | { readonly type: 'requested'; readonly checks: readonly ResourceAttributes[]; readonly user: User }
  /** Invalid headers: the response is a 500 in plain text with this error. */
  | { readonly type: 'invalid'; readonly error: string };

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA = 'impersonate-extra-';

/** Undefined: no impersonation. */
export function readImpersonation(headers: ImpersonationHeaders, dialect: Dialect): Impersonation | undefined {
  const extra = extraHeaders(headers);
  const name = firstValue(headers, USER);
  const uid = firstValue(headers, UID);
  const groups = allValues(headers, GROUP);
  if (name === '') {
    if (uid === '' && groups.length === 0 && extra.length === 0) return undefined;
    return { type: 'invalid', error: missingUserMessage({ groups, extra, uid }, dialect) };
  }
  const authentication = { group: dialect.group(serviceGroup('authentication')), version: 'v1' };
  const checks = [
    userCheck(name),
    ...groups.map((group) => impersonateCheck({ resource: 'groups', name: group })),
    ...extra.map(([key, value]) =>
      impersonateCheck({ ...authentication, resource: 'userextras', subresource: key, name: value }),
    ),
    ...(uid === '' ? [] : [impersonateCheck({ ...authentication, resource: 'uids', name: uid })]),
  ];
  return { type: 'requested', checks, user: completeImpersonatedUser(userOf({ name, uid, groups, extra })) };
}

interface Parts {
  readonly groups: readonly string[];
  readonly extra: readonly (readonly [key: string, value: string])[];
  readonly uid: string;
}

function userOf({ name, uid, groups, extra }: Parts & { readonly name: string }): User {
  const values: Record<string, string[]> = {};
  for (const [key, value] of extra) {
    if (!Object.hasOwn(values, key)) setOwn(values, key, []);
    values[key]?.push(value);
  }
  return {
    user: name,
    ...(uid === '' ? {} : { uid }),
    groups,
    ...(extra.length === 0 ? {} : { extra: values }),
  };
}

/** Impersonating a service account is authorized as serviceaccounts, not as users. */
function userCheck(user: string): ResourceAttributes {
  const account = accountOfUserName(user);
  if (account === undefined) return impersonateCheck({ resource: 'users', name: user });
  return impersonateCheck({ resource: 'serviceaccounts', ...account });
}

function impersonateCheck(
  parts: Pick<ResourceAttributes, 'resource' | 'name'> & Partial<ResourceAttributes>,
): ResourceAttributes {
  return { type: 'resource', verb: 'impersonate', group: '', version: '', subresource: '', namespace: '', ...parts };
}

/** The first of repeated headers. A name may contain a comma, so a joined value is not split. */
export function firstValue(headers: ImpersonationHeaders, name: string): string {
  const value = headers.getAll === undefined ? headers.get(name) : headers.getAll(name)[0];
  return decodeBytes(value ?? '');
}

export function allValues(headers: ImpersonationHeaders, name: string): readonly string[] {
  if (headers.getAll !== undefined) return headers.getAll(name).map(decodeBytes);
  // Custom header implementations may return undefined instead of null.
  const joined = headers.get(name) ?? undefined;
  return joined === undefined ? [] : joined.split(', ').map(decodeBytes);
}

function extraHeaders(headers: ImpersonationHeaders): (readonly [key: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  const seen = new Set<string>();
  for (const [name] of headers) {
    if (!name.startsWith(EXTRA) || seen.has(name)) continue;
    seen.add(name);
    const key = extraKey(name.slice(EXTRA.length));
    for (const value of allValues(headers, name)) found.push([key, value]);
  }
  return found;
}

/** Percent-escapes encode characters that header names cannot contain; malformed ones are kept as they are. */
export function extraKey(written: string): string {
  const isWellFormed = !/%(?![0-9a-fA-F]{2})/.test(written);
  return decodeBytes(isWellFormed ? unescapeBytes(written, 'path') : written);
}

/**
 * The reference server's message, which prints a list of ObjectReferences as Go's %v.
 * upstream: apiserver/pkg/endpoints/filters/impersonation.go buildImpersonationRequests
 */
function missingUserMessage({ groups, extra, uid }: Parts, dialect: Dialect): string {
  const apiVersion = `${dialect.group(serviceGroup('authentication'))}/v1`;
  const references: string[] = [];
  let left = MAX_MESSAGE;
  const add = (parts: Parameters<typeof reference>[0]): void => {
    const text = left > 0 ? reference(parts) : '';
    left -= text.length;
    if (text !== '') references.push(text);
  };
  for (const group of groups) add({ kind: 'Group', name: group });
  for (const [key, value] of extra) add({ kind: 'UserExtra', name: value, apiVersion, fieldPath: key });
  if (uid !== '') add({ kind: 'UID', name: uid, apiVersion });
  return `requested [${references.join(' ')}] without impersonating a user`;
}

/** Where repeated headers are joined, the message repeats the name of a header for each of its values. */
const MAX_MESSAGE = 64 * 1024;

function reference(parts: { kind: string; name: string; apiVersion?: string; fieldPath?: string }): string {
  const { kind, name, apiVersion = '', fieldPath = '' } = parts;
  // Kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath; empty ones keep their position.
  return `{${[kind, '', name, '', apiVersion, '', fieldPath].join(' ')}}`;
}
