/**
 * Authorizers: what `createCluster({ authorizer })` takes. An authorizer is made with the cluster, because the rules that
 * it goes by may be objects of the cluster.
 */

import type { ObjectReader } from '../kinds/objects.js';
import type { Dialect } from '../meta/dialect.js';
import { errors, failure, type StatusError } from '../meta/errors.js';
import type { GroupResource } from '../meta/gvk.js';
import type { AccessAttributes, AccessDecision, AccessReader, AccessRules } from '../protocol/access.js';
import type { ApiRequest, User } from '../protocol/request.js';
import { quote } from '../text/go/go-text.js';

/** Requests that were asked about before they came to the server: over HTTP that is done before anything is looked up. */
const asked = new WeakSet<ApiRequest>();

const refusals = new WeakSet<StatusError>();

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** What an authorizer may know of its cluster. */
export interface AuthorizerSetting {
  readonly dialect: Dialect;
  readonly objects: ObjectReader;
  /** How often objects of a resource have been written: another number, another state. */
  changes(resource: GroupResource): number;
}

/**
 * Decides for one cluster. An answer of `undefined` is no opinion.
 *
 * @example
 * createCluster({ authorizer: () => ({ decide: (user) => ({ allowed: user.user === 'alice', reason: '' }) }) })
 */
export interface Authorizer {
  decide(user: User, attributes: AccessAttributes): AccessDecision | boolean | undefined;
  rules?(user: User, namespace: string): AccessRules;
}

export type AuthorizerFactory = (setting: AuthorizerSetting) => Authorizer;

/** Members may do everything, whatever the rules say. */
export const MASTERS = 'system:masters';
export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS = 'system:anonymous';

/** Everybody may do everything, strangers included. */
export function allowAll(): AuthorizerFactory {
  return () => ({ decide: () => ALLOWED });
}

/** Whoever has a name may do everything; strangers may do nothing. What clusters without RBAC kinds do. */
export function allowAuthenticated(): AuthorizerFactory {
  return () => ({ decide: (user) => (user.groups?.includes(UNAUTHENTICATED) ? undefined : ALLOWED) });
}

const ALLOWED: AccessDecision = Object.freeze({ allowed: true, reason: '' });
const NO_OPINION: AccessDecision = Object.freeze({ allowed: false, reason: '' });
const NO_RULES: AccessRules = Object.freeze({ resourceRules: [], nonResourceRules: [], incomplete: true });
const ALL_RULES: AccessRules = Object.freeze({
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
});

/** The authorizer behind the one rule that no authorizer can change: administrators may do everything. */
export function accessOf(factory: AuthorizerFactory, setting: AuthorizerSetting): AccessReader {
  const authorizer = typeof factory === 'function' ? factory(setting) : undefined;
  if (typeof authorizer?.decide !== 'function') {
    throw new TypeError(
      'orchplane: an authorizer is a function that returns { decide(user, attributes) }, like rbac()',
    );
  }
  return {
    decide(user, attributes) {
      if (user.groups?.includes(MASTERS) === true) return ALLOWED;
      const decided = authorizer.decide(user, attributes);
      if (decided === undefined || decided === false) return NO_OPINION;
      if (decided === true) return ALLOWED;
      if (typeof decided?.allowed === 'boolean') return { ...decided, reason: decided.reason ?? '' };
      throw new TypeError('orchplane: an authorizer answers at once, with true, false or { allowed, reason }');
    },
    rules(user, namespace) {
      // An authorizer that knows rules knows those of administrators, as far as they have any.
      const rules = authorizer.rules?.(user, namespace);
      return rules ?? (user.groups?.includes(MASTERS) === true ? ALL_RULES : NO_RULES);
    },
  };
}

/** Says that somebody was allowed to send this request, so that nobody is asked a second time. */
export function markAuthorized(request: ApiRequest): void {
  asked.add(request);
}

export function isAuthorized(request: ApiRequest): boolean {
  return asked.has(request);
}

/** Whether somebody was refused for who they are, not for what they sent: such an answer has a header more. */
export function isAccessRefusal(error: StatusError): boolean {
  return refusals.has(error);
}

export function accessRefusal(user: User, attributes: AccessAttributes, decision: AccessDecision): StatusError {
  const text = withoutMarkup(refusalText(user, attributes));
  const why = decision.reason === '' ? text : `${text}: ${decision.reason}`;
  const error =
    attributes.type === 'path'
      ? failure({ reason: 'Forbidden', message: `forbidden: ${why}`, details: {} })
      : errors.forbidden({ group: attributes.group, resource: attributes.resource }, attributes.name, why);
  refusals.add(error);
  return error;
}

function refusalText({ user }: User, attributes: AccessAttributes): string {
  if (attributes.type === 'path') return `User ${quote(user)} cannot ${attributes.verb} path ${quote(attributes.path)}`;
  const { verb, group, resource, subresource, namespace } = attributes;
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  return `User ${quote(user)} cannot ${verb} resource ${what} in API group ${quote(group)} ${where}`;
}

/** A name that somebody chose for himself may end up in somebody's browser. */
export function withoutMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
}
