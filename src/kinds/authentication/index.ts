/**
 * Who somebody is: reviews and requests of tokens.
 */
import type { Kind } from '../kind.js';
import { SelfSubjectReview } from './v1/self-subject-review.js';
import { TokenReview } from './v1/token-review.js';

export { SelfSubjectReview, type SelfSubjectReviewInput } from './v1/self-subject-review.js';
export { TokenRequest, type TokenRequestInput } from './v1/token-request.js';
export { TokenReview, type TokenReviewInput } from './v1/token-review.js';

export const authenticationKinds: readonly Kind[] = [SelfSubjectReview, TokenReview];
