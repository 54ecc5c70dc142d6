/**
 * The TokenReview kind: authenticates a token. spec: TokenReview
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import type {} from '../../../meta/object.js';
import { chain } from '../../../util/maybe-promise.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type TokenReviewBody,
  type TokenReviewBodyInput,
  type TokenReviewStatus,
  tokenReviewBody,
} from '../../generated/authentication-v1.js';
import type { Kind } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';
import type { TokenReviewResult } from '../../tokens.js';
import { userInfoOf } from './user-info.js';

export interface TokenReview extends ReviewBase, TokenReviewBody {}
export interface TokenReviewInput extends ReviewInputBase, TokenReviewBodyInput {}

export const TokenReview: Kind<TokenReview, TokenReviewInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('authentication')}/v1`,
  kind: 'TokenReview',
  scope: 'Cluster',
  verbs: ['create'],
  body: tokenReviewBody,
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
