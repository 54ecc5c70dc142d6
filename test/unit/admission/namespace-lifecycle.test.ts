/** Requests in missing and terminating namespaces. */
import { ConfigMap, LocalSubjectAccessReview, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

test('answers an access review whether the namespace exists or not', async () => {
  const resourceAttributes = { namespace: 'nowhere', verb: 'get', resource: 'pods' };
  const review = await testCluster()
    .api(LocalSubjectAccessReview, 'nowhere')
    .create({ metadata: { namespace: 'nowhere' }, spec: { user: 'alice', resourceAttributes } });
  expect(review.spec).toEqual({ user: 'alice', resourceAttributes });
});

test('names an object without a name Unknown', async () => {
  const cluster = testCluster();
  await cluster.api(Namespace).create({ metadata: { name: 'old' } });
  await cluster.api(Namespace).delete('old');
  const why = 'unable to create new content in namespace old because it is being terminated';
  for (const [metadata, name] of [
    [{ name: 'a' }, 'a'],
    [{ generateName: 'a-' }, 'a-'],
    [{}, 'Unknown'],
  ] as const) {
    await expect(cluster.api(ConfigMap, 'old').create({ metadata } as never)).rejects.toMatchObject({
      code: 403,
      message: `configmaps "${name}" is forbidden: ${why}`,
    });
  }
});
