/**
 * The SelfSubjectRulesReview kind: the rules of the user in a namespace.
 */

import { errors } from '../../../meta/errors.js';
import { type AccessRule, charactersIn } from '../../../protocol/access.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type SelfSubjectRulesReviewKind,
  type SelfSubjectRulesReviewObject,
  selfSubjectRulesReviewBase,
} from '../../generated/authorization-v1.js';

export interface SelfSubjectRulesReview extends SelfSubjectRulesReviewObject {}

/** The limit of the rules in a response: a user may have many bindings to large roles. */
const MAX_CHARACTERS = 8 * 2 ** 20;

export const SelfSubjectRulesReview: SelfSubjectRulesReviewKind<SelfSubjectRulesReview> = defineBuiltIn({
  ...selfSubjectRulesReviewBase,
  verbs: ['create'],
  virtual: {
    create(draft, { access, user }) {
      const { namespace = '' } = draft.spec;
      if (namespace === '') throw errors.badRequest('no namespace on request');
      const { incomplete = false, error, ...all } = access.rules(user, namespace);
      let left = MAX_CHARACTERS;
      const fits = (rule: AccessRule): boolean => {
        if (left >= 0) left -= charactersIn(rule);
        return left >= 0;
      };
      const resourceRules = all.resourceRules.filter(fits);
      const nonResourceRules = all.nonResourceRules.filter(fits);
      const isCut = left < 0;
      const problems = [error, isCut ? `rules beyond ${MAX_CHARACTERS} characters are left out` : undefined];
      const evaluationError = problems.filter((problem) => problem !== undefined).join('; ');
      // The response does not repeat the request's spec.
      return {
        ...draft,
        metadata: {},
        spec: {},
        status: {
          resourceRules,
          nonResourceRules,
          incomplete: incomplete || isCut,
          ...(evaluationError === '' ? {} : { evaluationError }),
        },
      };
    },
  },
});
