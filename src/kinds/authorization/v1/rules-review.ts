/**
 * The SelfSubjectRulesReview kind: the rules of the user in a namespace. spec: SelfSubjectRulesReview
 */

import { errors } from '../../../meta/errors.js';
import type {} from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type SelfSubjectRulesReviewBody,
  type SelfSubjectRulesReviewBodyInput,
  selfSubjectRulesReviewBody,
} from '../../generated/authorization-v1.js';
import type { Kind } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';
import { apiVersion } from './access-review.js';

export interface SelfSubjectRulesReview extends ReviewBase, SelfSubjectRulesReviewBody {}
export interface SelfSubjectRulesReviewInput extends ReviewInputBase, SelfSubjectRulesReviewBodyInput {}

export const SelfSubjectRulesReview: Kind<SelfSubjectRulesReview, SelfSubjectRulesReviewInput, 'Cluster', never> =
  defineBuiltIn({
    apiVersion,
    kind: 'SelfSubjectRulesReview',
    scope: 'Cluster',
    verbs: ['create'],
    body: selfSubjectRulesReviewBody,
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
