/**
 * The authorization contract: attributes of a request, decisions and the authorizer interface. Group names are in the
 * dialect of the cluster, as in RBAC rules.
 */
import type { User } from './request.js';

/** A request for one resource. */
export interface ResourceAttributes {
  readonly type: 'resource';
  readonly verb: string;
  readonly group: string;
  /** Empty or `*`: any version. */
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty: all namespaces, or none. */
  readonly namespace: string;
  /** Empty: any. */
  readonly name: string;
  /** The selector of a list, watch or deletecollection, as far as an authorizer may rely on it. */
  readonly fieldSelector?: readonly SelectorRequirement[];
  readonly labelSelector?: readonly SelectorRequirement[];
}

export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** A request for a non-resource path. */
export interface PathAttributes {
  readonly type: 'path';
  /** The HTTP method in lower case. */
  readonly verb: string;
  readonly path: string;
}

export type AccessAttributes = ResourceAttributes | PathAttributes;

export interface AccessDecision {
  readonly allowed: boolean;
  /** Explicitly denied: no further authorizer is consulted. */
  readonly denied?: boolean;
  /** The reason, visible to clients; may be empty. */
  readonly reason: string;
  /** An error during the evaluation. */
  readonly error?: string;
}

export interface AccessRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** The length of a rule as JSON, approximately. */
export function charactersIn(rule: AccessRule): number {
  // Stored lists may be null.
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
  let characters = 16;
  for (const words of [verbs, apiGroups, resources, resourceNames, nonResourceURLs]) {
    if (words) for (const word of words) characters += word.length + 3;
  }
  return characters;
}

export interface AccessRules {
  readonly resourceRules: readonly AccessRule[];
  readonly nonResourceRules: readonly AccessRule[];
  /** The list may be incomplete. */
  readonly incomplete?: boolean;
  readonly error?: string;
  /** The names of bound roles that do not exist; `error` reports them as text. */
  readonly missing?: readonly string[];
}

/**
 * The authorizer of a cluster, as the server, plugins and strategies use it; a user's `Authorizer` decides behind it. It is
 * synchronous because CEL expressions in policies call it.
 */
export interface ClusterAuthorizer {
  decide(user: User, attributes: AccessAttributes): AccessDecision;
  /** The rules that apply to a user in a namespace (`''`: cluster scope), as far as they can be listed. */
  rules(user: User, namespace: string): AccessRules;
}

/** Allows every request. */
export const allowAll: ClusterAuthorizer = Object.freeze({
  decide: () => ({ allowed: true, reason: '' }),
  rules: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  }),
});
