/**
 * Who somebody is once the server has completed what it was told: the groups that nobody lists because they follow from
 * the name, and from whether there is one. What is added depends on where the identity comes from: whoever proves who
 * they are is authenticated; whoever acts as somebody else has the groups that were asked for, or those that the name
 * implies.
 */
import { dnsLabelProblems, dnsSubdomainProblems } from '../meta/names.js';
import type { User } from '../protocol/request.js';
import { ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED } from './authorizer.js';

/** Who a request comes from that does not say, in this process or through a handler that knows nobody. */
export const ADMINISTRATOR: User = Object.freeze({
  user: 'system:admin',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
});

const ACCOUNT_PREFIX = 'system:serviceaccount:';
const ALL_ACCOUNTS = 'system:serviceaccounts';

/** Who asks without saying who they are. */
export const STRANGER: User = Object.freeze({ user: ANONYMOUS, groups: Object.freeze([UNAUTHENTICATED]) });

export interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

export function accountUserName({ namespace, name }: AccountName): string {
  return `${ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** The service account that goes by this user name; undefined when it is the name of somebody else. */
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
 * Somebody who has shown a credential. The same object for the same object, so that nothing is made with each request.
 *
 * @example
 * completeUser({ user: 'alice', groups: ['dev'] }) // groups: ['dev', 'system:authenticated']
 */
export function completeUser(user: User): User {
  return remembered(completed, user, withAuthenticated);
}

/** Somebody that another acts as. Groups that are named are the whole truth, but for the one that says which of both. */
export function impersonated(user: User): User {
  return remembered(acted, user, withImpliedGroups);
}

const completed = new WeakMap<User, User>();
const acted = new WeakMap<User, User>();

/** What was completed is complete, so a second time changes nothing. */
function remembered(known: WeakMap<User, User>, user: User, complete: (user: User) => User): User {
  let made = known.get(user);
  if (made === undefined) {
    made = complete(user);
    known.set(user, made);
    known.set(made, made);
  }
  return made;
}

function withAuthenticated(user: User): User {
  const { groups = [] } = user;
  if (user.user === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED] };
}

function withImpliedGroups(user: User): User {
  if (typeof user.user !== 'string' || user.user === '') {
    throw new TypeError('orchplane: a user has a name: { user: "alice", groups: ["dev"] }');
  }
  const groups = user.groups !== undefined && user.groups.length > 0 ? user.groups : impliedGroups(user.user);
  const isAnonymous = user.user === ANONYMOUS;
  const isSaid = groups.includes(UNAUTHENTICATED) || (!isAnonymous && groups.includes(AUTHENTICATED));
  if (isSaid) return groups === user.groups ? user : { ...user, groups };
  return { ...user, groups: [...groups, isAnonymous ? UNAUTHENTICATED : AUTHENTICATED] };
}

function impliedGroups(user: string): readonly string[] {
  const account = accountOfUserName(user);
  return account === undefined ? [] : accountGroups(account.namespace);
}
