/**
 * Acting as somebody else over HTTP: the `Impersonate-…` headers → who that is, and what the sender must be allowed for
 * it. Nothing is decided here; whoever has the authorizer asks it, one question after the other, and stops at the first
 * refusal.
 */

import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { ResourceAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { decodeBytes, unescapeBytes } from '../text/go/go-url.js';
import { setOwn } from '../util/json.js';
import { accountOfUserName, impersonated } from './identity.js';

/** As much of headers as matters here. Names are in lower case; values are bytes, one character each. */
export interface ImpersonationHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
  /** Absent where repeated headers come as one, joined by comma and space. */
  getAll?(name: string): readonly string[];
}

export type Impersonation =
  /** Of each question the answer must be yes, in this order. */
  | { readonly type: 'asked'; readonly questions: readonly ResourceAttributes[]; readonly user: User }
  /** Makes no sense: 500, in plain text, with this as the error. */
  | { readonly type: 'senseless'; readonly error: string };

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA = 'impersonate-extra-';

/** Undefined: the sender speaks for himself. */
export function readImpersonation(headers: ImpersonationHeaders, dialect: Dialect): Impersonation | undefined {
  const extra = extraHeaders(headers);
  const name = single(headers, USER);
  const uid = single(headers, UID);
  const groups = several(headers, GROUP);
  if (name === '') {
    if (uid === '' && groups.length === 0 && extra.length === 0) return undefined;
    return { type: 'senseless', error: withoutUser({ groups, extra, uid }, dialect) };
  }
  const authentication = { group: dialect.group(serviceGroup('authentication')), version: 'v1' };
  const questions = [
    nameQuestion(name),
    ...groups.map((group) => question({ resource: 'groups', name: group })),
    ...extra.map(([key, value]) =>
      question({ ...authentication, resource: 'userextras', subresource: key, name: value }),
    ),
    ...(uid === '' ? [] : [question({ ...authentication, resource: 'uids', name: uid })]),
  ];
  return { type: 'asked', questions, user: impersonated(userOf({ name, uid, groups, extra })) };
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

/** To act as a service account takes the right to that account, whatever rights there are to users of its name. */
function nameQuestion(user: string): ResourceAttributes {
  const account = accountOfUserName(user);
  if (account === undefined) return question({ resource: 'users', name: user });
  return question({ resource: 'serviceaccounts', ...account });
}

function question(
  parts: Pick<ResourceAttributes, 'resource' | 'name'> & Partial<ResourceAttributes>,
): ResourceAttributes {
  return { type: 'resource', verb: 'impersonate', group: '', version: '', subresource: '', namespace: '', ...parts };
}

/** Where it comes twice, the first counts. A name may have a comma, so what was joined is not taken apart. */
function single(headers: ImpersonationHeaders, name: string): string {
  const value = headers.getAll === undefined ? headers.get(name) : headers.getAll(name)[0];
  return decodeBytes(value ?? '');
}

function several(headers: ImpersonationHeaders, name: string): readonly string[] {
  if (headers.getAll !== undefined) return headers.getAll(name).map(decodeBytes);
  // Headers that somebody has made himself may know no null.
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
    for (const value of several(headers, name)) found.push([key, value]);
  }
  return found;
}

/** Escapes stand for what no name of a header may hold; what is malformed is taken as it is. */
function extraKey(written: string): string {
  const isWellFormed = !/%(?![0-9a-fA-F]{2})/.test(written);
  return decodeBytes(isWellFormed ? unescapeBytes(written, 'path') : written);
}

/** What was asked for, in the form in which the reference server prints its list of references. */
function withoutUser({ groups, extra, uid }: Parts, dialect: Dialect): string {
  const apiVersion = `${dialect.group(serviceGroup('authentication'))}/v1`;
  const references = [
    ...groups.map((group) => reference({ kind: 'Group', name: group })),
    ...extra.map(([key, value]) => reference({ kind: 'UserExtra', name: value, apiVersion, fieldPath: key })),
    ...(uid === '' ? [] : [reference({ kind: 'UID', name: uid, apiVersion })]),
  ];
  return `requested [${references.join(' ')}] without impersonating a user`;
}

function reference(parts: { kind: string; name: string; apiVersion?: string; fieldPath?: string }): string {
  const { kind, name, apiVersion = '', fieldPath = '' } = parts;
  // Kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath: those that are empty keep their place.
  return `{${[kind, '', name, '', apiVersion, '', fieldPath].join(' ')}}`;
}
