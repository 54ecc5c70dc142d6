import { ConfigMap } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test as base } from 'vitest';

// A fixture: a fresh cluster for each test that asks for one.
const test = base.extend<{ cluster: TestCluster }>({
  cluster: async ({}, use) => {
    await using cluster = testCluster();
    await use(cluster);
  },
});

test('a config map can be found', async ({ cluster }) => {
  await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
  expect(await cluster.api(ConfigMap).find('web')).toMatchObject({ metadata: { name: 'web' } });
});
export {};
