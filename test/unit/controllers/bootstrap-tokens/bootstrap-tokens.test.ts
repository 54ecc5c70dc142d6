/** Bootstrap tokens: signatures of kube-public/cluster-info and the deletion of expired tokens. */
import { errors } from 'orchplane';
import { bootstrapSigner, tokenCleaner } from 'orchplane/controllers';
import { ConfigMap, Secret } from 'orchplane/kinds';
import { failing } from 'orchplane/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WorkloadWorld } from '../workload-fixture.js';

let world: WorkloadWorld;
beforeEach(() => {
  world = new WorkloadWorld([bootstrapSigner(), tokenCleaner()]);
});
afterEach(async () => {
  expect(world.complaints).toEqual([]);
  await world.close();
});

async function makeToken(id: string, data: Record<string, string> = {}, name = `bootstrap-token-${id}`) {
  const stringData = { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true' };
  await world.cluster.api(Secret, 'kube-system').create({
    metadata: { name },
    type: 'bootstrap.orch.io/token',
    stringData: { ...stringData, ...data },
  });
}

async function makeClusterInfo(data: Record<string, string>) {
  await world.cluster.api(ConfigMap, 'kube-public').create({ metadata: { name: 'cluster-info' }, data });
}

async function clusterInfo() {
  await world.cluster.settle();
  return (await world.cluster.api(ConfigMap, 'kube-public').get('cluster-info')).data;
}

const tokens = async () => {
  await world.cluster.settle();
  return (await world.cluster.api(Secret, 'kube-system').list()).items.map(({ metadata }) => metadata.name);
};

/** The content and the tokens for which a reference server computed the signatures. */
const CONFIG = 'apiVersion: v1\nkind: Config\nclusters: []\n';
const SIGNATURES = {
  k3tx9a: 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImszdHg5YSJ9..pfAUtVoxv6kQ7yU4b2loo-ogujThvIEbz42dZoKMnQo',
  zz88yy: 'eyJhbGciOiJIUzI1NiIsImtpZCI6Inp6ODh5eSJ9..Kgos5f-jfa0hFrTfPpH3W1Rj9G9sxPr0UdiKyCEi4hw',
};

describe('signatures', () => {
  test('are added for each token, updated with the content, and removed with the token', async () => {
    await makeClusterInfo({ kubeconfig: CONFIG, other: 'x' });
    await makeToken('k3tx9a');
    const signed = { kubeconfig: CONFIG, other: 'x', 'jws-kubeconfig-k3tx9a': SIGNATURES.k3tx9a };
    expect(await clusterInfo()).toEqual(signed);
    await makeToken('zz88yy', { 'token-secret': 'plan9fromouterspa', expiration: '2036-01-01T00:00:00+02:00' });
    expect(await clusterInfo()).toEqual({ ...signed, 'jws-kubeconfig-zz88yy': SIGNATURES.zz88yy });
    const changed = { data: { kubeconfig: 'new' } };
    await world.cluster.api(ConfigMap, 'kube-public').patch('cluster-info', { type: 'merge', merge: changed });
    const { 'jws-kubeconfig-k3tx9a': updated } = (await clusterInfo()) ?? {};
    expect(updated).toMatch(/^eyJ.*\.\..{43}$/);
    expect(updated).not.toBe(SIGNATURES.k3tx9a);
    await world.cluster.api(Secret, 'kube-system').delete('bootstrap-token-k3tx9a');
    await world.cluster.api(Secret, 'kube-system').delete('bootstrap-token-zz88yy');
    expect(await clusterInfo()).toEqual({ kubeconfig: 'new', other: 'x' });
  });

  test('are not made with tokens that are invalid, expired or for another use', async () => {
    await makeClusterInfo({ kubeconfig: CONFIG });
    await makeToken('aaaaaa', { 'usage-bootstrap-signing': 'false' });
    await makeToken('bbbbbb', { 'token-id': 'cccccc' });
    await makeToken('dddddd', {}, 'token-dddddd');
    await makeToken('eeeeee', { 'token-secret': '' });
    await world.cluster.api(Secret).create({
      metadata: { name: 'bootstrap-token-ffffff' },
      type: 'bootstrap.orch.io/token',
      stringData: { 'token-id': 'ffffff', 'token-secret': 's', 'usage-bootstrap-signing': 'true' },
    });
    expect(await clusterInfo()).toEqual({ kubeconfig: CONFIG });
  });

  test('are added without the loss of a key __proto__', async () => {
    await makeClusterInfo(
      Object.fromEntries([
        ['kubeconfig', CONFIG],
        ['__proto__', 'kept'],
      ]),
    );
    await makeToken('aaaaaa');
    const keys = Object.keys((await clusterInfo()) ?? {});
    expect(keys.toSorted()).toEqual(['__proto__', 'jws-kubeconfig-aaaaaa', 'kubeconfig']);
  });

  test('are not retried if the ConfigMap is deleted meanwhile', async () => {
    await makeClusterInfo({ kubeconfig: CONFIG });
    const notFound = () => errors.notFound({ group: '', resource: 'configmaps' }, 'cluster-info');
    const fault = failing({ verb: 'update', kind: ConfigMap }, notFound);
    using _fault = world.cluster.use(fault);
    await makeToken('aaaaaa');
    await world.advance(60);
    expect(fault.count).toBe(1);
  });

  test('are not made for a ConfigMap without kubeconfig', async () => {
    await makeClusterInfo({ other: 'x' });
    await makeToken('aaaaaa');
    expect(await clusterInfo()).toEqual({ other: 'x' });
  });
});

describe('expired tokens', () => {
  test('are deleted at their time, with their signature', async () => {
    await makeClusterInfo({ kubeconfig: CONFIG });
    await makeToken('aaaaaa', { expiration: '2030-01-01T01:00:00+01:00' });
    await makeToken('bbbbbb', { expiration: '2030-01-01T00:01:00Z' });
    await makeToken('cccccc', { expiration: 'soon' });
    await makeToken('dddddd');
    expect(await tokens()).toEqual(['bootstrap-token-bbbbbb', 'bootstrap-token-dddddd']);
    await world.advance(59);
    expect(Object.keys((await clusterInfo()) ?? {})).toHaveLength(3);
    await world.advance(1);
    expect(await tokens()).toEqual(['bootstrap-token-dddddd']);
    expect(Object.keys((await clusterInfo()) ?? {})).toHaveLength(2);
  });

  test('are kept if their expiration is changed in time', async () => {
    await makeToken('bbbbbb', { expiration: '2030-01-01T00:01:00Z' });
    await world.advance(30);
    const merge = { stringData: { expiration: '2030-01-01T00:02:00Z' } };
    await world.cluster.api(Secret, 'kube-system').patch('bootstrap-token-bbbbbb', { type: 'merge', merge });
    await world.advance(89);
    expect(await tokens()).toEqual(['bootstrap-token-bbbbbb']);
    await world.advance(1);
    expect(await tokens()).toEqual([]);
  });

  test('do not affect Secrets of other types or namespaces', async () => {
    const stringData = { expiration: '2029-01-01T00:00:00Z' };
    await world.cluster.api(Secret, 'kube-system').create({ metadata: { name: 'opaque' }, stringData });
    await world.cluster
      .api(Secret)
      .create({ metadata: { name: 'elsewhere' }, type: 'bootstrap.orch.io/token', stringData });
    expect(await tokens()).toEqual(['opaque']);
    expect(await world.cluster.api(Secret).find('elsewhere')).toBeDefined();
  });
});
