/**
 * Who may do what: the question, the answer, and who gives it. Names of groups are as clients see them, in the dialect
 * of the cluster, because that is how rules are written.
 */
import type { User } from './request.js';

/** A request for one resource. */
export interface ResourceAttributes {
  readonly type: 'resource';
  readonly verb: string;
  readonly group: string;
  /** Empty, or `*`: whatever version. */
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty: all namespaces, or none. */
  readonly namespace: string;
  /** Empty: any. */
  readonly name: string;
  /** What a list, watch or deletecollection is narrowed to, as far as an authorizer may rely on it. */
  readonly fieldSelector?: readonly SelectorRequirement[];
  readonly labelSelector?: readonly SelectorRequirement[];
}

export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** A request for a page of the server's own. */
export interface PathAttributes {
  readonly type: 'path';
  /** The method, in small letters. */
  readonly verb: string;
  readonly path: string;
}

export type AccessAttributes = ResourceAttributes | PathAttributes;

export interface AccessDecision {
  readonly allowed: boolean;
  /** Refused for good: no other authorizer is asked. */
  readonly denied?: boolean;
  /** Why; may be empty. Clients see it. */
  readonly reason: string;
  /** What went wrong on the way to the answer. */
  readonly error?: string;
}

export interface AccessRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface AccessRules {
  readonly resourceRules: readonly AccessRule[];
  readonly nonResourceRules: readonly AccessRule[];
  /** There may be more than this. */
  readonly incomplete?: boolean;
  readonly error?: string;
  /** Names of roles that are given but do not exist: what `error` tells, for those who tell it in other words. */
  readonly missing?: readonly string[];
}

/** Answers the question. It answers at once: expressions in policies ask it too. */
export interface AccessReader {
  decide(user: User, attributes: AccessAttributes): AccessDecision;
  /** Everything that somebody may do in a namespace (`''`: outside of all), as far as that can be listed. */
  rules(user: User, namespace: string): AccessRules;
}

/** Everybody may do everything. */
export const allowAll: AccessReader = Object.freeze({
  decide: () => ({ allowed: true, reason: '' }),
  rules: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  }),
});
