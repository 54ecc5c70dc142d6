/**
 * SelfSubjectReview: who am I? spec: SelfSubjectReview
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { always } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';
import { userInfo, userInfoOf } from './user-info.js';

const selfSubjectReviewStatusShape = () => ({ userInfo: always(userInfo()) });
export interface SelfSubjectReviewStatus extends Output<typeof selfSubjectReviewStatusShape> {}
export interface SelfSubjectReviewStatusInput extends Input<typeof selfSubjectReviewStatusShape> {}
const selfSubjectReviewStatus: Type<SelfSubjectReviewStatus, SelfSubjectReviewStatusInput> = type(
  'SelfSubjectReviewStatus',
  selfSubjectReviewStatusShape,
);

const shape = () => ({ status: always(selfSubjectReviewStatus()) });
export interface SelfSubjectReview extends ReviewBase, Output<typeof shape> {}
export interface SelfSubjectReviewInput extends ReviewInputBase, Input<typeof shape> {}

export const SelfSubjectReview: Kind<SelfSubjectReview, SelfSubjectReviewInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('authentication')}/v1`,
  kind: 'SelfSubjectReview',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.28' },
  verbs: ['create'],
  body: shape,
  virtual: {
    create(draft, { user, now }) {
      // The answer is a new object: nothing that was sent is in it.
      return { ...draft, metadata: { creationTimestamp: now }, status: { userInfo: userInfoOf(user) } };
    },
  },
});
