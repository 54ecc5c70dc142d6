/**
 * The authorization group: access reviews.
 */
import type { Kind } from '../kind.js';
import { LocalSubjectAccessReview, SelfSubjectAccessReview, SubjectAccessReview } from './v1/access-review.js';
import { SelfSubjectRulesReview } from './v1/rules-review.js';

export { LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview };

/** The kinds of the group. */
export const authorizationKinds: readonly Kind[] = [
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
];
