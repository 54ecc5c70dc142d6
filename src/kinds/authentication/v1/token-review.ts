/**
 * The TokenReview kind: authenticates a token.
 */

import { errors } from '../../../meta/errors.js';
import { chain } from '../../../util/maybe-promise.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type TokenReviewKind,
  type TokenReviewObject,
  type TokenReviewStatus,
  tokenReviewBase,
} from '../../generated/authentication-v1.js';
import type { TokenReviewResult } from '../../tokens.js';
import { userInfoOf } from './user-info.js';

export interface TokenReview extends TokenReviewObject {}

export const TokenReview: TokenReviewKind<TokenReview> = defineBuiltIn({
  ...tokenReviewBase,
  verbs: ['create'],
  virtual: {
    create(draft, { tokens }) {
      const { token, audiences = [] } = draft.spec;
      if (!token) throw errors.badRequest('token is required for TokenReview in authentication');
      return chain(tokens.review(token, audiences), (answer) => {
        draft['status'] = statusOf(answer);
        return draft;
      });
    },
  },
});

function statusOf(answer: TokenReviewResult): TokenReviewStatus {
  if (answer.type === 'unknown') return { user: {}, error: answer.error };
  return { authenticated: true, user: userInfoOf(answer.user), audiences: [...answer.audiences] };
}
