/**
 * The authentication group: token reviews and token requests.
 */
import type { Kind } from '../kind.js';
import { SelfSubjectReview } from './v1/self-subject-review.js';
import { TokenReview } from './v1/token-review.js';

export { SelfSubjectReview, type SelfSubjectReviewInput } from './v1/self-subject-review.js';
export { TokenRequest, type TokenRequestInput } from './v1/token-request.js';
export { TokenReview, type TokenReviewInput } from './v1/token-review.js';

/** The kinds of the group. */
export const authenticationKinds: readonly Kind[] = [SelfSubjectReview, TokenReview];
