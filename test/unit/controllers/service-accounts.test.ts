/**
 * Service account, token secret and root certificate controllers.
 */
import { errors, mergePatch } from 'orchplane';
import {
  type Controller,
  controllers,
  rootCertificates,
  serviceAccounts,
  serviceAccountTokens,
} from 'orchplane/controllers';
import { ConfigMap, Namespace, ResourceQuota, Secret, ServiceAccount, TokenReview } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

function running(list: readonly Controller[], options: Parameters<typeof testCluster>[0] = {}) {
  const failures: unknown[] = [];
  const run = controllers(list, { onError: (error, about) => failures.push([about, error]) });
  return { cluster: testCluster({ ...options, controllers: run }), failures };
}

describe('service account controller', () => {
  test('creates the configured service accounts in each namespace', async () => {
    const { cluster } = running([serviceAccounts({ names: ['default', 'builder'] })]);
    await cluster.api(Namespace).create({ metadata: { name: 'n' } });
    await cluster.settle();
    for (const namespace of ['default', 'kube-system', 'n']) {
      const { items } = await cluster.api(ServiceAccount, namespace).list();
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['builder', 'default']);
    }
  });

  test('recreates a deleted service account unless its namespace is terminating', async () => {
    const { cluster, failures } = running([serviceAccounts()]);
    await cluster.api(Namespace).create({ metadata: { name: 'n' } });
    await cluster.settle();
    const accounts = cluster.api(ServiceAccount, 'n');
    const before = await accounts.get('default');
    await accounts.delete('default');
    await cluster.settle();
    expect((await accounts.get('default')).metadata.uid).not.toBe(before.metadata.uid);
    await cluster.api(Namespace).delete('n');
    await accounts.delete('default');
    await cluster.settle();
    expect(await accounts.find('default')).toBeUndefined();
    expect(failures).toEqual([]);
  });

  test('retries a service account that the quota rejects', async () => {
    const { cluster, failures } = running([serviceAccounts({ names: ['builder'] })]);
    await cluster.settle();
    const quotas = cluster.api(ResourceQuota);
    await quotas.create({ metadata: { name: 'q' }, spec: { hard: { 'count/serviceaccounts': '0' } } });
    await quotas.status.edit('q', (draft) => {
      draft.status = { hard: { 'count/serviceaccounts': '0' }, used: { 'count/serviceaccounts': '0' } };
    });
    await cluster.api(ServiceAccount).delete('builder');
    await cluster.clock.advance(100);
    expect(failures.length).toBeGreaterThan(1);
    await quotas.delete('q');
    await cluster.clock.advance(1_000);
    expect(await cluster.api(ServiceAccount).find('builder')).toBeDefined();
  });

  test('rejects unknown options of the service account controllers', () => {
    expect(() => serviceAccounts({ name: 'x' } as never)).toThrow(TypeError);
    expect(() => serviceAccountTokens({ name: 'x' } as never)).toThrow(TypeError);
    expect(() => rootCertificates({ name: 'x' } as never)).toThrow(TypeError);
  });
});

describe('root certificate controller', () => {
  test('publishes the certificate with a description in every namespace', async () => {
    const { cluster } = running([rootCertificates({ certificate: CERTIFICATE })]);
    await cluster.api(Namespace).create({ metadata: { name: 'n' } });
    await cluster.settle();
    for (const namespace of ['default', 'kube-system', 'n']) {
      const published = await cluster.api(ConfigMap, namespace).get('kube-root-ca.crt');
      expect(published.data).toEqual({ 'ca.crt': CERTIFICATE });
      expect(published.metadata.annotations?.['orch.io/description']).toMatch(/^Contains a CA bundle that can be used/);
    }
  });

  test('generates a certificate when none is configured', async () => {
    const { cluster } = running([rootCertificates()]);
    await cluster.settle();
    const { data } = await cluster.api(ConfigMap).get('kube-root-ca.crt');
    expect(data?.['ca.crt']).toMatch(/^-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+\n-----END CERTIFICATE-----\n$/);
  });

  test.each([
    ['other data', { data: { x: 'y' } }],
    ['another certificate', { data: { 'ca.crt': 'mine' } }],
    ['a missing description', { metadata: { annotations: { 'orch.io/description': null } } }],
    ['an empty description', { metadata: { annotations: { 'orch.io/description': '' } } }],
  ])('corrects %s in the root certificate ConfigMap', async (_what, change) => {
    const { cluster } = running([rootCertificates({ certificate: CERTIFICATE })]);
    await cluster.settle();
    const configMaps = cluster.api(ConfigMap);
    const before = await configMaps.get('kube-root-ca.crt');
    await configMaps.patch('kube-root-ca.crt', mergePatch({ metadata: { labels: { kept: 'yes' } } }));
    await configMaps.patch('kube-root-ca.crt', { type: 'merge', merge: change });
    await cluster.settle();
    const after = await configMaps.get('kube-root-ca.crt');
    expect(after.data).toEqual(before.data);
    expect(after.metadata.annotations).toEqual(before.metadata.annotations);
    expect(after.metadata.labels).toEqual({ kept: 'yes' });
  });

  test('keeps another description and ignores other ConfigMaps', async () => {
    const { cluster } = running([rootCertificates()]);
    await cluster.settle();
    const configMaps = cluster.api(ConfigMap);
    const annotations = { 'orch.io/description': 'mine' };
    await configMaps.patch('kube-root-ca.crt', mergePatch({ metadata: { annotations } }));
    await configMaps.create({ metadata: { name: 'other' } });
    const { resourceVersion } = cluster;
    await cluster.settle();
    expect(cluster.resourceVersion).toBe(resourceVersion);
  });

  test('recreates a deleted ConfigMap unless its namespace is terminating', async () => {
    const { cluster, failures } = running([rootCertificates()]);
    await cluster.api(Namespace).create({ metadata: { name: 'n' } });
    await cluster.settle();
    const configMaps = cluster.api(ConfigMap, 'n');
    await configMaps.delete('kube-root-ca.crt');
    await cluster.settle();
    expect(await configMaps.find('kube-root-ca.crt')).toBeDefined();
    await cluster.api(Namespace).delete('n');
    await configMaps.delete('kube-root-ca.crt');
    await cluster.settle();
    expect(await configMaps.find('kube-root-ca.crt')).toBeUndefined();
    expect(failures).toEqual([]);
  });

  test('works with the permissions of its own service account', async () => {
    const run = controllers([rootCertificates(), serviceAccounts()], { accounts: 'own' });
    const cluster = testCluster({ controllers: run });
    await cluster.settle();
    await cluster.api(ConfigMap).patch('kube-root-ca.crt', mergePatch({ data: { x: 'y' } }));
    await cluster.settle();
    expect(Object.keys((await cluster.api(ConfigMap).get('kube-root-ca.crt')).data ?? {})).toEqual(['ca.crt']);
    expect(await cluster.api(ServiceAccount).find('default')).toBeDefined();
  });
});

describe('service account token controller', () => {
  const type = 'orch.io/service-account-token';
  const nameKey = 'orch.io/service-account.name';
  const uidKey = 'orch.io/service-account.uid';

  async function withRobot() {
    const setting = running([serviceAccountTokens({ certificate: CERTIFICATE })]);
    const secrets = setting.cluster.api(Secret);
    const accounts = setting.cluster.api(ServiceAccount);
    const robot = await accounts.create({ metadata: { name: 'robot' } });
    const make = async (name: string, annotations: Record<string, string>) => {
      await secrets.create({ metadata: { name, annotations }, type });
      await setting.cluster.settle();
      return secrets.find(name);
    };
    return { ...setting, secrets, accounts, robot, make };
  }

  test('fills a token secret with token, certificate and namespace', async () => {
    const { cluster, robot, make } = await withRobot();
    const secret = await make('t', { [nameKey]: 'robot' });
    expect(secret?.metadata.annotations).toEqual({ [nameKey]: 'robot', [uidKey]: robot.metadata.uid });
    expect(Object.keys(secret?.data ?? {})).toEqual(['ca.crt', 'namespace', 'token']);
    expect(atob(secret?.data?.['ca.crt'] ?? '')).toBe(CERTIFICATE);
    expect(atob(secret?.data?.['namespace'] ?? '')).toBe('default');
    const review = await cluster.api(TokenReview).create({ spec: { token: atob(secret?.data?.['token'] ?? '') } });
    expect(review.status.authenticated).toBe(true);
    expect(review.status.user?.username).toBe('system:serviceaccount:default:robot');
    // A complete secret is not written again.
    const { resourceVersion } = cluster;
    await cluster.clock.advance(3_600_000);
    expect(cluster.resourceVersion).toBe(resourceVersion);
  });

  test('issues a token that is valid until its secret is deleted', async () => {
    const { cluster, secrets, make } = await withRobot();
    const token = atob((await make('t', { [nameKey]: 'robot' }))?.data?.['token'] ?? '');
    const isKnown = async () => (await cluster.api(TokenReview).create({ spec: { token } })).status.authenticated;
    await cluster.clock.advance(50 * 365 * 86_400_000);
    expect(await isKnown()).toBe(true);
    await secrets.delete('t');
    expect(await isKnown()).toBeFalsy();
  });

  test('replaces a removed token and keeps other data', async () => {
    const { cluster, secrets, make } = await withRobot();
    const before = await make('t', { [nameKey]: 'robot' });
    await cluster.clock.advance(1_000);
    await secrets.patch('t', mergePatch({ data: { token: null, 'ca.crt': 'AAAA', namespace: 'eA==', more: 'eQ==' } }));
    await cluster.settle();
    const { data } = await secrets.get('t');
    expect(data).toEqual({ ...before?.data, token: data?.['token'], namespace: 'eA==', more: 'eQ==' });
    expect(data?.['token']).not.toBe(before?.data?.['token']);
  });

  test.each([
    ['a missing account', { [nameKey]: 'missing' }],
    ['another uid', { [nameKey]: 'robot', [uidKey]: '11111111-2222-3333-4444-555555555555' }],
  ])('deletes a token secret that refers to %s', async (_what, annotations) => {
    const { make } = await withRobot();
    expect(await make('t', annotations)).toBeUndefined();
  });

  test('deletes a token secret whose uid annotation is changed', async () => {
    const { cluster, secrets, robot, make } = await withRobot();
    expect(await make('t', { [nameKey]: 'robot', [uidKey]: robot.metadata.uid })).toBeDefined();
    await secrets.patch('t', mergePatch({ metadata: { annotations: { [uidKey]: 'other' } } }));
    await cluster.settle();
    expect(await secrets.find('t')).toBeUndefined();
  });

  test('deletes token secrets with their account and keeps others', async () => {
    const { cluster, secrets, accounts, make } = await withRobot();
    await accounts.create({ metadata: { name: 'other' } });
    await make('t', { [nameKey]: 'robot' });
    await make('u', { [nameKey]: 'other' });
    await secrets.create({ metadata: { name: 'opaque', annotations: { [nameKey]: 'robot' } } });
    await accounts.delete('robot');
    await cluster.settle();
    expect((await secrets.list()).items.map(({ metadata }) => metadata.name)).toEqual(['opaque', 'u']);
  });

  test('removes a deleted secret from its account', async () => {
    const { cluster, secrets, accounts, make } = await withRobot();
    await make('t', { [nameKey]: 'robot' });
    await accounts.patch('robot', mergePatch({ secrets: [{ name: 't' }, { name: 'other' }] }));
    await cluster.settle();
    await secrets.delete('t');
    await cluster.settle();
    expect((await accounts.get('robot')).secrets).toEqual([{ name: 'other' }]);
  });

  test('does not remove the secret from an account with another uid', async () => {
    const { cluster, secrets, accounts, make } = await withRobot();
    await accounts.patch('robot', mergePatch({ secrets: [{ name: 't' }] }));
    expect(await make('t', { [nameKey]: 'robot', [uidKey]: 'other' })).toBeUndefined();
    await cluster.settle();
    expect(await secrets.find('t')).toBeUndefined();
    expect((await accounts.get('robot')).secrets).toEqual([{ name: 't' }]);
  });

  test('retries a token that cannot be signed', async () => {
    const { cluster, failures, make } = await withRobot();
    const stop = cluster.use((request, next) => {
      if (request.subresource === 'token') throw errors.internal('no ink');
      return next();
    });
    expect((await make('t', { [nameKey]: 'robot' }))?.data).toBeUndefined();
    expect(failures).toHaveLength(1);
    stop();
    await cluster.clock.advance(10);
    expect((await cluster.api(Secret).get('t')).data?.['token']).toBeDefined();
  });
});
