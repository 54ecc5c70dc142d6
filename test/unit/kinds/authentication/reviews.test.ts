/** Validation of TokenReviews and SelfSubjectReviews. */
import { SelfSubjectReview, TokenReview } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const cluster = testCluster();

test('requires a token in a TokenReview, and reports that no authenticator accepts it', async () => {
  const reviews = cluster.api(TokenReview);
  await expect(reviews.create({ spec: {} })).rejects.toThrow('token is required for TokenReview in authentication');
  const { status } = await reviews.create({ spec: { token: 'x' } });
  expect(status).toEqual({ user: {}, error: 'invalid bearer token' });
});

test('returns the current user from a SelfSubjectReview', async () => {
  const asking = cluster.with({ as: { user: 'alice', uid: '2', groups: ['dev'], extra: { a: ['b'] } } });
  const { status } = await asking.api(SelfSubjectReview).create({});
  const groups = ['dev', 'system:authenticated'];
  expect(status).toEqual({ userInfo: { username: 'alice', uid: '2', groups, extra: { a: ['b'] } } });
});
