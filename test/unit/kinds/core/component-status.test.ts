/** ComponentStatus: the virtual objects of the control plane components. */
import { ComponentStatus } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

test('lists all components as healthy', async () => {
  const warnings: string[] = [];
  const parts = testCluster()
    .with({ onWarning: (warning) => warnings.push(warning) })
    .api(ComponentStatus);
  const { items } = await parts.list();
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['controller-manager', 'scheduler', 'etcd-0']);
  expect((await parts.get('scheduler')).conditions).toEqual([{ type: 'Healthy', status: 'True', message: 'ok' }]);
  expect(warnings).toContain('v1 ComponentStatus is deprecated in v1.19+');
});

test('returns NotFound with the singular resource name for an unknown component', async () => {
  await expect(testCluster().api(ComponentStatus).get('x')).rejects.toMatchObject({
    message: 'componentstatus "x" not found',
  });
});
