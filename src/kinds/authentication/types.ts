/**
 * The types that objects of the group are made of, by the names of the API.
 */
export type { SelfSubjectReviewStatus, SelfSubjectReviewStatusInput } from './v1/self-subject-review.js';
export type {
  BoundObjectReference,
  BoundObjectReferenceInput,
  TokenRequestSpec,
  TokenRequestSpecInput,
  TokenRequestStatus,
  TokenRequestStatusInput,
} from './v1/token-request.js';
export type {
  TokenReviewSpec,
  TokenReviewSpecInput,
  TokenReviewStatus,
  TokenReviewStatusInput,
} from './v1/token-review.js';
export type { UserInfo, UserInfoInput } from './v1/user-info.js';
