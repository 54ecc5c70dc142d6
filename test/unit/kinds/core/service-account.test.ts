/** ServiceAccounts. */
import { ServiceAccount } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

test('keeps only the names of secret references', async () => {
  const accounts = testCluster().api(ServiceAccount);
  const secrets = [{ name: 's', namespace: 'elsewhere', kind: 'Secret' }];
  expect((await accounts.create({ metadata: { name: 'a' }, secrets })).secrets).toEqual([{ name: 's' }]);
  expect((await accounts.update({ metadata: { name: 'a' }, secrets })).secrets).toEqual([{ name: 's' }]);
});

test('warns when the enforce-mountable-secrets annotation is added', async () => {
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
