/**
 * Authorizers, as `createCluster({ authorizer })` takes them, and Forbidden errors. An authorizer is created with the
 * cluster, because its rules may be objects of the cluster.
 */

import type { FeatureGates } from '../kinds/feature-gates.js';
import type { ObjectReader } from '../kinds/objects.js';
import type { Dialect } from '../meta/dialect.js';
import { errors, failure, type StatusError } from '../meta/errors.js';
import type { GroupResource } from '../meta/gvk.js';
import type { AccessAttributes, AccessDecision, AccessRules, ClusterAuthorizer } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { KeyIndex, KeysOf } from '../storage/types.js';
import { quote } from '../text/go/go-text.js';

/** What an authorizer may read of its cluster. */
export interface AuthorizerContext {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  readonly objects: ObjectReader;
  /** An index of the stored objects by key, kept current. It is valid until the next `await`. */
  index<Key>(resource: GroupResource, keysOf: KeysOf<Key>): KeyIndex<Key>;
  /** The number of writes to a resource so far; an unchanged number means an unchanged state. */
  lastChange(resource: GroupResource): number;
  /** Reports stored objects that cannot be read. */
  readonly warn?: ((warning: string) => void) | undefined;
}

/**
 * Decides for one cluster. `undefined` means no opinion.
 *
 * @example
 * createCluster({ authorizer: () => ({ decide: (user) => ({ allowed: user.user === 'alice', reason: '' }) }) })
 */
export interface Authorizer {
  decide(user: User, attributes: AccessAttributes): AccessDecision | boolean | undefined;
  rules?(user: User, namespace: string): AccessRules;
}

export type AuthorizerFactory = (setting: AuthorizerContext) => Authorizer;

/** Members of this group are allowed everything. */
export const MASTERS = 'system:masters';
export const AUTHENTICATED = 'system:authenticated';
export const UNAUTHENTICATED = 'system:unauthenticated';
export const ANONYMOUS = 'system:anonymous';

/** Allows everything to everyone, including anonymous users. */
export function allowAll(): AuthorizerFactory {
  return () => ({ decide: () => ALLOWED, rules: () => ALL_RULES });
}

/** Allows nothing, except to `system:masters`. */
export function denyAll(): AuthorizerFactory {
  return () => ({ decide: () => FORBIDDEN, rules: () => EMPTY_RULES });
}

/**
 * Asks authorizers in order until one allows or explicitly denies.
 *
 * @example
 * createCluster({ authorizer: unionAuthorizer(rbac(), allowAuthenticated()) })
 */
export function unionAuthorizer(...factories: readonly AuthorizerFactory[]): AuthorizerFactory {
  return (context) => {
    const all = factories.map((factory) => factory(context));
    return {
      decide(user, attributes) {
        const decisions: AccessDecision[] = [];
        for (const authorizer of all) {
          const decision = decisionOf(authorizer.decide(user, attributes));
          if (decision.allowed || decision.denied === true) return decision;
          decisions.push(decision);
        }
        const reason = texts(decisions.map((each) => each.reason)).join('\n');
        const errors = texts(decisions.map((each) => each.error));
        return { allowed: false, reason, ...(errors.length === 0 ? {} : { error: errors.join('; ') }) };
      },
      rules(user, namespace) {
        const lists = all.map((authorizer) => authorizer.rules?.(user, namespace) ?? NO_RULES);
        const error = texts(lists.map((each) => each.error)).join('; ');
        return {
          resourceRules: lists.flatMap(({ resourceRules }) => resourceRules),
          nonResourceRules: lists.flatMap(({ nonResourceRules }) => nonResourceRules),
          incomplete: lists.some(({ incomplete }) => incomplete === true),
          ...(error === '' ? {} : { error }),
          missing: lists.flatMap(({ missing = [] }) => missing),
        };
      },
    };
  };
}

function texts(list: readonly (string | undefined)[]): string[] {
  return list.filter((text): text is string => text !== undefined && text !== '');
}

/** Allows everything to authenticated users. The default of clusters without RBAC kinds. */
export function allowAuthenticated(): AuthorizerFactory {
  return () => ({ decide: (user) => (user.groups?.includes(UNAUTHENTICATED) ? undefined : ALLOWED) });
}

const ALLOWED: AccessDecision = Object.freeze({ allowed: true, reason: '' });
const NO_OPINION: AccessDecision = Object.freeze({ allowed: false, reason: '' });
const FORBIDDEN: AccessDecision = Object.freeze({ allowed: false, reason: 'Everything is forbidden.' });
const EMPTY_RULES: AccessRules = Object.freeze({ resourceRules: [], nonResourceRules: [] });
const NO_RULES: AccessRules = Object.freeze({ resourceRules: [], nonResourceRules: [], incomplete: true });
const ALL_RULES: AccessRules = Object.freeze({
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
});

/** Wraps an authorizer: `system:masters` are always allowed. */
export function createClusterAuthorizer(factory: AuthorizerFactory, setting: AuthorizerContext): ClusterAuthorizer {
  const authorizer = typeof factory === 'function' ? factory(setting) : undefined;
  if (typeof authorizer?.decide !== 'function') {
    throw new TypeError(
      'orchplane: an authorizer is a function that returns { decide(user, attributes) }, like rbac()',
    );
  }
  return {
    decide(user, attributes) {
      if (user.groups?.includes(MASTERS) === true) return ALLOWED;
      return decisionOf(authorizer.decide(user, attributes));
    },
    rules(user, namespace) {
      // An authorizer with rules also lists those of administrators.
      const rules = authorizer.rules?.(user, namespace);
      return rules ?? (user.groups?.includes(MASTERS) === true ? ALL_RULES : NO_RULES);
    },
  };
}

function decisionOf(decided: ReturnType<Authorizer['decide']>): AccessDecision {
  if (decided === undefined || decided === false) return NO_OPINION;
  if (decided === true) return ALLOWED;
  if (typeof decided?.allowed === 'boolean') return { ...decided, reason: decided.reason ?? '' };
  throw new TypeError('orchplane: an authorizer must return true, false or { allowed, reason } synchronously');
}

const denials = new WeakSet<StatusError>();

/** Whether an error is a denial of access; its HTTP response carries an additional header. */
export function isAccessDenied(error: StatusError): boolean {
  return denials.has(error);
}

export function accessDeniedError(user: User, attributes: AccessAttributes, decision: AccessDecision): StatusError {
  const text = escapeMarkup(denialText(user, attributes));
  const why = decision.reason === '' ? text : `${text}: ${decision.reason}`;
  const error =
    attributes.type === 'path'
      ? failure({ reason: 'Forbidden', message: `forbidden: ${why}`, details: {} })
      : errors.forbidden({ group: attributes.group, resource: attributes.resource }, attributes.name, why);
  denials.add(error);
  return error;
}

function denialText({ user }: User, attributes: AccessAttributes): string {
  if (attributes.type === 'path') return `User ${quote(user)} cannot ${attributes.verb} path ${quote(attributes.path)}`;
  const { verb, group, resource, subresource, namespace } = attributes;
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  return `User ${quote(user)} cannot ${verb} resource ${what} in API group ${quote(group)} ${where}`;
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes user-supplied names, which may be displayed in a browser. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
}
