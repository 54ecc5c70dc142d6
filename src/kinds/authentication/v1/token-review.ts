/**
 * TokenReview: whose token is this? spec: TokenReview
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { always, optional } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { chain } from '../../../util/maybe-promise.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';
import type { TokenAnswer } from '../../tokens.js';
import { userInfo, userInfoOf } from './user-info.js';

const tokenReviewSpecShape = () => ({
  token: optional(z.string()),
  audiences: optional(z.array(z.string())),
});
export interface TokenReviewSpec extends Output<typeof tokenReviewSpecShape> {}
export interface TokenReviewSpecInput extends Input<typeof tokenReviewSpecShape> {}
const tokenReviewSpec: Type<TokenReviewSpec, TokenReviewSpecInput> = type('TokenReviewSpec', tokenReviewSpecShape);

const tokenReviewStatusShape = () => ({
  authenticated: optional(z.boolean()),
  user: always(userInfo()),
  audiences: optional(z.array(z.string())),
  error: optional(z.string()),
});
export interface TokenReviewStatus extends Output<typeof tokenReviewStatusShape> {}
export interface TokenReviewStatusInput extends Input<typeof tokenReviewStatusShape> {}
const tokenReviewStatus: Type<TokenReviewStatus, TokenReviewStatusInput> = type(
  'TokenReviewStatus',
  tokenReviewStatusShape,
);

const shape = () => ({ spec: tokenReviewSpec(), status: always(tokenReviewStatus()) });
export interface TokenReview extends ReviewBase, Output<typeof shape> {}
export interface TokenReviewInput extends ReviewInputBase, Input<typeof shape> {}

export const TokenReview: Kind<TokenReview, TokenReviewInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('authentication')}/v1`,
  kind: 'TokenReview',
  scope: 'Cluster',
  verbs: ['create'],
  body: shape,
  virtual: {
    create(draft, { tokens }) {
      const { token, audiences = [] } = (draft as unknown as TokenReview).spec;
      if (!token) throw errors.badRequest('token is required for TokenReview in authentication');
      return chain(tokens.review(token, audiences), (answer) => {
        draft['status'] = statusOf(answer);
        return draft;
      });
    },
  },
});

function statusOf(answer: TokenAnswer): TokenReviewStatus {
  if (answer.type === 'unknown') return { user: {}, error: answer.error };
  return { authenticated: true, user: userInfoOf(answer.user), audiences: [...answer.audiences] };
}
