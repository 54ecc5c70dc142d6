/** Policy controllers with their own service accounts: the bootstrap roles grant enough permissions. */
import {
  certificateApproval,
  certificateCleaning,
  certificateSigning,
  claimProtection,
  clusterRoleAggregation,
  controllers,
  ephemeralVolumes,
  persistentVolumes,
  resourceQuotas,
  volumeProtection,
} from 'orchplane/controllers';
import {
  CertificateSigningRequest,
  ClusterRole,
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requestFor } from './certificate-requests.js';

let cluster: TestCluster;
let errors: unknown[];
beforeEach(async () => {
  errors = [];
  const all = [
    certificateApproval(),
    certificateCleaning(),
    certificateSigning(),
    claimProtection(),
    clusterRoleAggregation(),
    ephemeralVolumes(),
    persistentVolumes(),
    resourceQuotas(),
    volumeProtection(),
  ];
  cluster = testCluster({
    controllers: controllers(all, { accounts: 'own', onError: (error, about) => void errors.push([about, error]) }),
  });
  await cluster.settle();
});
afterEach(async () => {
  expect(errors).toEqual([]);
  await cluster.close();
});

test('updates quotas with its own account', async () => {
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.api(ResourceQuota).create({ metadata: { name: 'q' }, spec: { hard: { configmaps: '3' } } });
  await cluster.settle();
  expect((await cluster.api(ResourceQuota).get('q')).status.used).toEqual({ configmaps: '1' });
});

test('aggregates roles that have more permissions than the controller', async () => {
  expect((await cluster.api(ClusterRole).get('admin')).rules?.length).toBeGreaterThan(1);
});

test('approves, signs and cleans up certificate requests with own accounts', async () => {
  const { pem } = await requestFor({ commonName: 'system:node:n', organizations: ['system:nodes'] });
  await cluster.api(CertificateSigningRequest).create({
    metadata: { name: 'r' },
    spec: {
      request: btoa(pem),
      signerName: 'orch.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  });
  await cluster.settle();
  expect((await cluster.api(CertificateSigningRequest).get('r')).status.certificate).toBeDefined();
  await cluster.clock.advance(2 * 3_600_000);
  expect(await cluster.api(CertificateSigningRequest).find('r')).toBeUndefined();
});

test('binds, protects, releases and deletes volumes with own accounts', async () => {
  const spec = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } };
  await cluster.api(PersistentVolume).create({
    metadata: { name: 'v' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      hostPath: { path: '/tmp/x' },
    },
  });
  await cluster.api(Pod).create({
    metadata: { name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: { ...spec, storageClassName: '' } } } }],
    },
  });
  await cluster.settle();
  expect((await cluster.api(PersistentVolumeClaim).get('p-v')).status.phase).toBe('Bound');
  await cluster.api(Pod).delete('p');
  await cluster.api(PersistentVolumeClaim).delete('p-v');
  await cluster.settle();
  expect(await cluster.api(PersistentVolumeClaim).find('p-v')).toBeUndefined();
  expect(await cluster.api(PersistentVolume).find('v')).toBeUndefined();
});
