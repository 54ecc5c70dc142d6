/**
 * SelfSubjectRulesReview: all that the asker may do in a namespace. spec: SelfSubjectRulesReview
 */
import * as z from 'zod';
import { errors } from '../../../meta/errors.js';
import { always, optional } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';
import { apiVersion } from './access-review.js';

const selfSubjectRulesReviewSpecShape = () => ({
  namespace: optional(z.string()),
});
export interface SelfSubjectRulesReviewSpec extends Output<typeof selfSubjectRulesReviewSpecShape> {}
export interface SelfSubjectRulesReviewSpecInput extends Input<typeof selfSubjectRulesReviewSpecShape> {}
const selfSubjectRulesReviewSpec: Type<SelfSubjectRulesReviewSpec, SelfSubjectRulesReviewSpecInput> = type(
  'SelfSubjectRulesReviewSpec',
  selfSubjectRulesReviewSpecShape,
);

const resourceRuleShape = () => ({
  verbs: z.array(z.string()),
  apiGroups: optional(z.array(z.string())),
  resources: optional(z.array(z.string())),
  resourceNames: optional(z.array(z.string())),
});
export interface ResourceRule extends Output<typeof resourceRuleShape> {}
export interface ResourceRuleInput extends Input<typeof resourceRuleShape> {}
const resourceRule: Type<ResourceRule, ResourceRuleInput> = type('ResourceRule', resourceRuleShape);

const nonResourceRuleShape = () => ({
  verbs: z.array(z.string()),
  nonResourceURLs: optional(z.array(z.string())),
});
export interface NonResourceRule extends Output<typeof nonResourceRuleShape> {}
export interface NonResourceRuleInput extends Input<typeof nonResourceRuleShape> {}
const nonResourceRule: Type<NonResourceRule, NonResourceRuleInput> = type('NonResourceRule', nonResourceRuleShape);

const subjectRulesReviewStatusShape = () => ({
  resourceRules: z.array(resourceRule()),
  nonResourceRules: z.array(nonResourceRule()),
  incomplete: z.boolean(),
  evaluationError: optional(z.string()),
});
export interface SubjectRulesReviewStatus extends Output<typeof subjectRulesReviewStatusShape> {}
export interface SubjectRulesReviewStatusInput extends Input<typeof subjectRulesReviewStatusShape> {}
const subjectRulesReviewStatus: Type<SubjectRulesReviewStatus, SubjectRulesReviewStatusInput> = type(
  'SubjectRulesReviewStatus',
  subjectRulesReviewStatusShape,
);

const shape = () => ({ spec: selfSubjectRulesReviewSpec(), status: always(subjectRulesReviewStatus()) });
export interface SelfSubjectRulesReview extends ReviewBase, Output<typeof shape> {}
export interface SelfSubjectRulesReviewInput extends ReviewInputBase, Input<typeof shape> {}

export const SelfSubjectRulesReview: Kind<SelfSubjectRulesReview, SelfSubjectRulesReviewInput, 'Cluster', never> =
  defineBuiltIn({
    apiVersion,
    kind: 'SelfSubjectRulesReview',
    scope: 'Cluster',
    verbs: ['create'],
    body: shape,
    virtual: {
      create(draft, { access, user }) {
        const { namespace = '' } = (draft as unknown as SelfSubjectRulesReview).spec;
        if (namespace === '') throw errors.badRequest('no namespace on request');
        const { resourceRules, nonResourceRules, incomplete = false, error } = access.rules(user, namespace);
        // Nothing of the question is repeated in the answer.
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
