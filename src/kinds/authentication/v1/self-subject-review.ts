/**
 * The SelfSubjectReview kind: returns the user of the request. spec: SelfSubjectReview
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type {} from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type SelfSubjectReviewBody,
  type SelfSubjectReviewBodyInput,
  selfSubjectReviewBody,
} from '../../generated/authentication-v1.js';
import type { Kind } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';
import { userInfoOf } from './user-info.js';

export interface SelfSubjectReview extends ReviewBase, SelfSubjectReviewBody {}
export interface SelfSubjectReviewInput extends ReviewInputBase, SelfSubjectReviewBodyInput {}

export const SelfSubjectReview: Kind<SelfSubjectReview, SelfSubjectReviewInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('authentication')}/v1`,
  kind: 'SelfSubjectReview',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.28' },
  verbs: ['create'],
  body: selfSubjectReviewBody,
  virtual: {
    create(draft, { user, now }) {
      // The response does not contain the metadata of the request.
      return { ...draft, metadata: { creationTimestamp: now }, status: { userInfo: userInfoOf(user) } };
    },
  },
});
