/**
 * Completes users with the groups that follow from their name and from how they were established: authenticated users get
 * `system:authenticated`; impersonated users have the requested groups, or those that the name implies.
 */
import { dnsLabelProblems, dnsSubdomainProblems } from '../meta/names.js';
import type { User } from '../protocol/request.js';
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from './authorizer.js';

/** The user of in-process requests, and of handlers without authentication. */
export const ADMINISTRATOR: User = Object.freeze({
  user: 'system:admin',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
});

const ACCOUNT_PREFIX = 'system:serviceaccount:';
const ALL_ACCOUNTS = 'system:serviceaccounts';

export const ANONYMOUS_USER: User = Object.freeze({ user: ANONYMOUS, groups: Object.freeze([UNAUTHENTICATED]) });

export interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

export function accountUserName({ namespace, name }: AccountName): string {
  return `${ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** The service account with this user name; undefined if it is not a service account's. */
export function accountOfUserName(user: string): AccountName | undefined {
  if (!user.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace = '', name = '', ...rest] = user.slice(ACCOUNT_PREFIX.length).split(':');
  if (rest.length > 0 || dnsLabelProblems(namespace).length > 0 || dnsSubdomainProblems(name).length > 0) {
    return undefined;
  }
  return { namespace, name };
}

export function accountGroups(namespace: string): readonly string[] {
  return [ALL_ACCOUNTS, `${ALL_ACCOUNTS}:${namespace}`];
}

/**
 * Completes an authenticated user. Memoized by object, so that requests do not allocate.
 *
 * @example
 * completeUser({ user: 'alice', groups: ['dev'] }) // groups: ['dev', 'system:authenticated']
 */
export function completeUser(user: User): User {
  return memoize(completedUsers, user, withAuthenticated);
}

/** Completes an impersonated user. Explicit groups replace the implied ones, except `system:(un)authenticated`. */
export function completeImpersonatedUser(user: User): User {
  return memoize(impersonatedUsers, user, withImpliedGroups);
}

const completedUsers = new WeakMap<User, User>();
const impersonatedUsers = new WeakMap<User, User>();

/** A completed user maps to itself. */
function memoize(cache: WeakMap<User, User>, user: User, complete: (user: User) => User): User {
  let result = cache.get(user);
  if (result === undefined) {
    result = complete(user);
    cache.set(user, result);
    cache.set(result, result);
  }
  return result;
}

function withAuthenticated(user: User): User {
  const { groups = [] } = user;
  if (user.user === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED] };
}

function withImpliedGroups(user: User): User {
  if (typeof user.user !== 'string' || user.user === '') {
    throw new TypeError('orchplane: a user must have a name: { user: "alice", groups: ["dev"] }');
  }
  const groups = user.groups !== undefined && user.groups.length > 0 ? user.groups : impliedGroups(user.user);
  const isAnonymous = user.user === ANONYMOUS;
  const isStated = groups.includes(UNAUTHENTICATED) || (!isAnonymous && groups.includes(AUTHENTICATED));
  if (isStated) return groups === user.groups ? user : { ...user, groups };
  return { ...user, groups: [...groups, isAnonymous ? UNAUTHENTICATED : AUTHENTICATED] };
}

function impliedGroups(user: string): readonly string[] {
  const account = accountOfUserName(user);
  return account === undefined ? [] : accountGroups(account.namespace);
}
