/** Which kinds and writes the quota plugin handles, and the resource names of kinds that only some clusters serve. */
import { mergePatch } from 'orchplane';
import { builtInKinds, ConfigMap, DeviceClass, Pod, ResourceClaim, ResourceQuota } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { resourceQuota } from '../../../../src/admission/quota/resource-quota.js';
import { serveKind } from '../../../../src/kinds/served-kind.js';
import { dialects } from '../../../../src/meta/dialect.js';
import { forbidden, makeQuota, usedOf } from './create-quota.js';

test.each(dialects)('handles every namespaced kind except bindings, events and reviews ($name)', (dialect) => {
  const namespaced = builtInKinds.map((kind) => serveKind(kind, dialect)).filter((served) => served.namespaced);
  const left = namespaced.filter((served) => resourceQuota.handlesKind?.(served) === false);
  expect([...new Set(left.map(({ kind }) => kind.names.plural))].sort()).toEqual([
    'bindings',
    'events',
    'localsubjectaccessreviews',
  ]);
  expect(left.length).toBeLessThan(namespaced.length);
});

test('handles no cluster-scoped kinds', () => {
  const [dialect] = dialects;
  if (dialect === undefined) throw new Error('there are dialects');
  const others = builtInKinds.map((kind) => serveKind(kind, dialect)).filter((served) => !served.namespaced);
  expect(others.length).toBeGreaterThan(10);
  expect(others.filter((served) => resourceQuota.handlesKind?.(served) !== false)).toEqual([]);
});

test('rejects what is counted by quotas of more than 10,000 resources, which are slow to write', async () => {
  const cluster = testCluster();
  const others = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`count/a${index}.e`, '1']));
  for (const name of ['q', 'r']) await makeQuota(cluster, name, { ...others, 'count/configmaps': '2' });
  const maps = cluster.api(ConfigMap);
  const why = 'its quotas limit more than 10000 resources';
  await expect(maps.create({ metadata: { name: 'a' } })).rejects.toMatchObject(forbidden('configmaps "a"', why));
  await cluster.api(ResourceQuota).delete('r');
  await maps.create({ metadata: { name: 'a' } });
  expect(await usedOf(cluster, 'q')).toMatchObject({ 'count/configmaps': '1', 'count/a0.e': '0' });
});

test('uses the group names of the dialect', async () => {
  const cluster = testCluster({ dialect: 'kubernetes' });
  const leases = 'count/leases.coordination.k8s.io';
  await makeQuota(cluster, 'q', { [leases]: '0' });
  const api = cluster.api(cluster.kind('coordination.k8s.io/v1', 'Lease'), 'default');
  const why = `exceeded quota: q, requested: ${leases}=1, used: ${leases}=0, limited: ${leases}=0`;
  await expect(api.create({ metadata: { name: 'l' } })).rejects.toMatchObject(
    forbidden('leases.coordination.k8s.io "l"', why),
  );
});

test('does not count writes to the status and binding subresources', async () => {
  const cluster = testCluster();
  await makeQuota(cluster, 'q', { 'count/pods': '1', pods: '1' });
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await cluster.api(Pod).create({ metadata: { name: 'p' }, spec });
  await cluster.api(Pod).status.patch('p', mergePatch({ status: { phase: 'Running' } }));
  await cluster
    .api(Pod)
    .subresource('binding')
    .create('p', { target: { kind: 'Node', name: 'n' } } as never);
  expect(await usedOf(cluster, 'q')).toEqual({ 'count/pods': '1', pods: '1' });
});

describe('quotas for device claims', () => {
  const COUNT = 'count/resourceclaims.resource.orch.io';
  const GPUS = 'gpu.deviceclass.resource.orch.io/devices';

  test('counts the maximum number of devices by class in any version', async () => {
    const featureGates = { DynamicResourceAllocation: true, DRAPrioritizedList: true };
    const cluster = testCluster({ runtimeConfig: 'api/all=true', featureGates });
    await cluster.api(DeviceClass).create({ metadata: { name: 'gpu' }, spec: {} });
    await makeQuota(cluster, 'q', { [COUNT]: '5', [GPUS]: '40' });
    const request = { deviceClassName: 'gpu', count: 3 };
    const nested = { devices: { requests: [{ name: 'r', exactly: request }] } };
    await cluster.api(ResourceClaim).create({ metadata: { name: 'a' }, spec: nested } as never);
    expect(await usedOf(cluster, 'q')).toEqual({ [COUNT]: '1', [GPUS]: '3' });
    const older = cluster.api(cluster.kind('resource.orch.io/v1beta1', 'ResourceClaim'), 'default');
    const firstAvailable = [
      { name: 's', ...request },
      { name: 't', deviceClassName: 'gpu', allocationMode: 'All' },
    ];
    await older.create({ metadata: { name: 'b' }, spec: { devices: { requests: [{ name: 'r', firstAvailable }] } } });
    expect(await usedOf(cluster, 'q')).toEqual({ [COUNT]: '2', [GPUS]: '35' });
    const why = `exceeded quota: q, requested: ${GPUS}=6, used: ${GPUS}=35, limited: ${GPUS}=40`;
    const two = { devices: { requests: [{ name: 'r', exactly: { ...request, count: 6 } }] } };
    const create = cluster.api(ResourceClaim).create({ metadata: { name: 'c' }, spec: two } as never);
    await expect(create).rejects.toMatchObject(forbidden('resourceclaims.resource.orch.io "c"', why));
  });
});
