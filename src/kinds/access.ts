/**
 * Who may do what, for those who have to answer the question.
 */
import type { User } from '../protocol/request.js';

export type AccessAttributes =
  | {
      readonly type: 'resource';
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      /** Empty: all namespaces, or none. */
      readonly namespace: string;
      /** Empty: any. */
      readonly name: string;
    }
  | { readonly type: 'path'; readonly verb: string; readonly path: string };

export interface AccessDecision {
  readonly allowed: boolean;
  /** Why; may be empty. */
  readonly reason: string;
}

export interface AccessRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
}

export interface AccessReader {
  decide(user: User, attributes: AccessAttributes): AccessDecision;
  rules(user: User, namespace: string): AccessRules;
}

/** Everybody may do everything, which is what a cluster without access control does. */
export const allowAll: AccessReader = {
  decide: () => ({ allowed: true, reason: '' }),
  rules: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  }),
};
