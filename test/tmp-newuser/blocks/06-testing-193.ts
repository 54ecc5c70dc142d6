import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

test('a config map can be found', async () => {
  const cluster = testCluster();
  await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
  assert.equal((await cluster.api(ConfigMap).find('web'))?.metadata.name, 'web');
  await cluster.close();
});
export {};
