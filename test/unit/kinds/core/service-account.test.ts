/** Service accounts. */
import { ServiceAccount } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

test('only the names of secrets are kept', async () => {
  const accounts = testCluster().api(ServiceAccount);
  const secrets = [{ name: 's', namespace: 'elsewhere', kind: 'Secret' }];
  expect((await accounts.create({ metadata: { name: 'a' }, secrets })).secrets).toEqual([{ name: 's' }]);
  expect((await accounts.update({ metadata: { name: 'a' }, secrets })).secrets).toEqual([{ name: 's' }]);
});

test('the annotation that makes them binding is on its way out, and whoever sets it is told', async () => {
  const warnings: string[] = [];
  const accounts = testCluster()
    .with({ onWarning: (warning) => warnings.push(warning) })
    .api(ServiceAccount);
  const annotations = { 'orch.io/enforce-mountable-secrets': 'true' };
  await accounts.create({ metadata: { name: 'a', annotations } });
  await accounts.update({ metadata: { name: 'a', annotations: { ...annotations, k: 'v' } } });
  expect(warnings).toEqual([
    'metadata.annotations[orch.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets',
  ]);
});
