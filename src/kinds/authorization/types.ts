/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type {
  SelfSubjectAccessReviewSpec,
  SelfSubjectAccessReviewSpecInput,
  SubjectAccessReviewSpec,
  SubjectAccessReviewSpecInput,
  SubjectAccessReviewStatus,
  SubjectAccessReviewStatusInput,
} from './v1/access-review.js';
export type {
  FieldSelectorAttributes,
  FieldSelectorAttributesInput,
  FieldSelectorRequirement,
  FieldSelectorRequirementInput,
  LabelSelectorAttributes,
  LabelSelectorAttributesInput,
  NonResourceAttributes,
  NonResourceAttributesInput,
  ResourceAttributes,
  ResourceAttributesInput,
} from './v1/attributes.js';
export type {
  NonResourceRule,
  NonResourceRuleInput,
  ResourceRule,
  ResourceRuleInput,
  SelfSubjectRulesReviewSpec,
  SelfSubjectRulesReviewSpecInput,
  SubjectRulesReviewStatus,
  SubjectRulesReviewStatusInput,
} from './v1/rules-review.js';
