/**
 * The SelfSubjectReview kind: returns the user of the request.
 */

import { defineBuiltIn } from '../../define-kind.js';
import {
  type SelfSubjectReviewKind,
  type SelfSubjectReviewObject,
  selfSubjectReviewBase,
} from '../../generated/authentication-v1.js';
import { userInfoOf } from './user-info.js';

export interface SelfSubjectReview extends SelfSubjectReviewObject {}

export const SelfSubjectReview: SelfSubjectReviewKind<SelfSubjectReview> = defineBuiltIn({
  ...selfSubjectReviewBase,
  lifecycle: { introducedIn: '1.28' },
  verbs: ['create'],
  virtual: {
    create(draft, { user, now }) {
      // The response does not contain the metadata of the request.
      return { ...draft, metadata: { creationTimestamp: now }, status: { userInfo: userInfoOf(user) } };
    },
  },
});
