/**
 * The authentication group: token reviews and token requests.
 */
import type { Kind } from '../kind.js';
import { SelfSubjectReview } from './v1/self-subject-review.js';
import { TokenReview } from './v1/token-review.js';

export { TokenRequest } from './v1/token-request.js';
export { SelfSubjectReview, TokenReview };

/** The kinds of the group. */
export const authenticationKinds: readonly Kind[] = [SelfSubjectReview, TokenReview];
