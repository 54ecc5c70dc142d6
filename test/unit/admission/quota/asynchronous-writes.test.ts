/** Quotas during asynchronous admission: the server checks a quota again when it commits the write. */
import { type AdmissionPlugin, defaultAdmission, mergePatch } from 'orchplane';
import { ConfigMap, ResourceQuota, Service } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeQuota, usedOf } from './create-quota.js';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster();
});

const MAPS = 'count/configmaps';
const map = (name: string) => cluster.api(ConfigMap).create({ metadata: { name } });

describe('quotas during asynchronous admission', () => {
  /** Delays writes of ConfigMaps until they are released by name. */
  function gate(position: 'before' | 'after') {
    const waiting = new Map<string, () => void>();
    const plugin: AdmissionPlugin = {
      name: 'gate',
      validate: ({ name, served }) =>
        served.gvk.kind === 'ConfigMap' && name.startsWith('slow')
          ? new Promise((resolve) => waiting.set(name, resolve))
          : undefined,
    };
    const admission = position === 'before' ? [plugin, ...defaultAdmission] : [...defaultAdmission, plugin];
    cluster = testCluster({ admission });
    return (name: string) => waiting.get(name)?.();
  }

  test.each(['before', 'after'] as const)(
    'rejects a write if another write uses up the quota meanwhile (%s the quota plugin)',
    async (position) => {
      const release = gate(position);
      await makeQuota(cluster, 'q', { [MAPS]: '1' });
      const slow = map('slow');
      const rejected = expect(slow).rejects.toMatchObject({ code: 403, message: expect.stringContaining('used: ') });
      await cluster.clock.advance(0);
      await map('quick');
      release('slow');
      await rejected;
      expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '1' });
      expect(await cluster.api(ConfigMap).find('slow')).toBeUndefined();
    },
  );

  test('charges a quota for two concurrent writes that are both within it', async () => {
    const release = gate('after');
    await makeQuota(cluster, 'q', { [MAPS]: '2' });
    const writes = [map('slow-a'), map('slow-b')];
    await cluster.clock.advance(0);
    release('slow-b');
    release('slow-a');
    await Promise.all(writes);
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '2' });
  });

  test('charges a quota that is created meanwhile, and ignores one that is deleted meanwhile', async () => {
    const release = gate('after');
    await makeQuota(cluster, 'old', { [MAPS]: '5' });
    const slow = map('slow');
    await cluster.clock.advance(0);
    await makeQuota(cluster, 'new', { [MAPS]: '5' });
    await cluster.api(ResourceQuota).delete('old');
    release('slow');
    await slow;
    expect(await usedOf(cluster, 'new')).toEqual({ [MAPS]: '1' });
  });

  test('charges the first quota if it is created meanwhile', async () => {
    const release = gate('after');
    const slow = map('slow');
    await cluster.clock.advance(0);
    await makeQuota(cluster, 'q', { [MAPS]: '5' });
    release('slow');
    await slow;
    expect(await usedOf(cluster, 'q')).toEqual({ [MAPS]: '1' });
  });

  test('charges a quota once for an update that is retried', async () => {
    const waiting: (() => void)[] = [];
    const plugin: AdmissionPlugin = {
      name: 'gate',
      validate: ({ object, operation }) =>
        operation === 'UPDATE' && object?.kind === 'Service' && object.metadata.labels?.['slow'] !== undefined
          ? new Promise((resolve) => waiting.push(resolve))
          : undefined,
    };
    cluster = testCluster({ admission: [...defaultAdmission, plugin] });
    await makeQuota(cluster, 'q', { 'services.nodeports': '5' });
    const services = cluster.api(Service);
    await services.create({ metadata: { name: 's' }, spec: { ports: [{ port: 1 }] } });
    const slow = services.patch('s', mergePatch({ metadata: { labels: { slow: '' } }, spec: { type: 'NodePort' } }));
    await cluster.clock.advance(0);
    await services.patch('s', mergePatch({ metadata: { annotations: { a: 'b' } } }));
    for (let tries = 0; tries < 3; tries++) {
      for (const release of waiting.splice(0)) release();
      await cluster.clock.advance(0);
    }
    await slow;
    expect(await usedOf(cluster, 'q')).toEqual({ 'services.nodeports': '1' });
  });
});
