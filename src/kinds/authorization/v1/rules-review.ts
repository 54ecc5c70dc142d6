/**
 * The SelfSubjectRulesReview kind: the rules of the user in a namespace.
 */

import { errors } from '../../../meta/errors.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type SelfSubjectRulesReviewKind,
  type SelfSubjectRulesReviewObject,
  selfSubjectRulesReviewBase,
} from '../../generated/authorization-v1.js';

export interface SelfSubjectRulesReview extends SelfSubjectRulesReviewObject {}

export const SelfSubjectRulesReview: SelfSubjectRulesReviewKind<SelfSubjectRulesReview> = defineBuiltIn({
  ...selfSubjectRulesReviewBase,
  verbs: ['create'],
  virtual: {
    create(draft, { access, user }) {
      const { namespace = '' } = draft.spec;
      if (namespace === '') throw errors.badRequest('no namespace on request');
      const { resourceRules, nonResourceRules, incomplete = false, error } = access.rules(user, namespace);
      // The response does not repeat the request's spec.
      return {
        ...draft,
        metadata: {},
        spec: {},
        status: {
          resourceRules,
          nonResourceRules,
          incomplete,
          ...(error === undefined ? {} : { evaluationError: error }),
        },
      };
    },
  },
});
