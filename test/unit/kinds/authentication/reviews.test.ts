/** Who somebody is: shapes and rules. */
import { SelfSubjectReview, TokenReview } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const cluster = testCluster();

test('a token review needs a token, and says that it cannot judge one', async () => {
  const reviews = cluster.api(TokenReview);
  await expect(reviews.create({ spec: {} })).rejects.toThrow('token is required for TokenReview in authentication');
  const { status } = await reviews.create({ spec: { token: 'x' } });
  expect(status).toEqual({ user: {}, error: 'orchplane does not review tokens yet; see docs/fidelity.md' });
});

test('whoever asks who they are is told', async () => {
  const asking = cluster.with({ as: { user: 'alice', uid: '2', groups: ['dev'], extra: { a: ['b'] } } });
  const { status } = await asking.api(SelfSubjectReview).create({});
  expect(status).toEqual({ userInfo: { username: 'alice', uid: '2', groups: ['dev'], extra: { a: ['b'] } } });
});
