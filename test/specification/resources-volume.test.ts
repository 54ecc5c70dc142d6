/** docs/specification.md, R22: the volumes of a pod. */
import { controllers, ephemeralVolumes } from 'orchplane/controllers';
import { PersistentVolumeClaim } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService } from './service.js';

const pod = (volume: Json) => ({
  spec: { serviceAccountName: 's', containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', ...volume }] },
});
const create = (volume: Json) => openService().create('Pod', pod(volume));
const volumeOf = async (volume: Json) => (await create(volume)).body.spec.volumes[0];
const project = (...sources: Json[]) => ({ projected: { sources } });
const AT = 'spec.volumes[0]';

describe('a volume', () => {
  test('R22.1: a pod has volumes with unique names', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'Pod', 'PodSpec')).toMatchObject({ volumes: '[]Volume map name' });
    const { volumes, ...rest } = pod({ emptyDir: {} }).spec;
    const twice = await service.create('Pod', { spec: { ...rest, volumes: [...volumes, ...volumes] } });
    expect(twice.causes).toEqual(['spec.volumes[1].name: Duplicate']);
    expect((await create({ name: undefined, emptyDir: {} })).causes).toContain(`${AT}.name: Required`);
  });

  test('R22.2: configMap, secret, downwardAPI and projected volumes have their fields', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'Pod', type);
    const items = '[]KeyToPath atomic';
    expect(await fields('ConfigMapVolumeSource')).toEqual({
      name: 'string',
      optional: 'boolean',
      defaultMode: 'int32',
      items,
    });
    expect(await fields('SecretVolumeSource')).toMatchObject({ defaultMode: 'int32', items });
    expect(await fields('DownwardAPIVolumeSource')).toEqual({
      defaultMode: 'int32',
      items: '[]DownwardAPIVolumeFile atomic',
    });
    expect(await fields('ProjectedVolumeSource')).toEqual({
      defaultMode: 'int32',
      sources: '[]VolumeProjection atomic',
    });
  });

  test.each<[string, Json]>([
    ['configMap', { name: 'm' }],
    ['secret', { secretName: 's' }],
    ['downwardAPI', {}],
    ['projected', { sources: [{ secret: { name: 's' } }] }],
  ])('R22.3: the mode of a %s volume is 0644 by default and at most 0777', async (source, body) => {
    expect((await volumeOf({ [source]: body }))[source].defaultMode).toBe(0o644);
    expect((await create({ [source]: { ...body, defaultMode: 0o777 } })).code).toBe(201);
    for (const defaultMode of [-1, 0o1000]) {
      const { causes } = await create({ [source]: { ...body, defaultMode } });
      expect(causes).toEqual([`${AT}.${source}.defaultMode: Invalid`]);
    }
  });

  test.each(['/a', '../a', 'a/../b', '..a'])('R22.4: rejects the path %s of an item', async (path) => {
    for (const volume of [
      { configMap: { name: 'm', items: [{ key: 'k', path }] } },
      { secret: { secretName: 's', items: [{ key: 'k', path }] } },
    ]) {
      expect((await create(volume)).causes).toEqual([expect.stringMatching(/items\[0\]\.path: Invalid$/)]);
    }
  });

  test('R22.5: other sources have their fields', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'Pod', type);
    expect(await fields('AWSElasticBlockStoreVolumeSource')).toMatchObject({ partition: 'int32', readOnly: 'boolean' });
    expect(await fields('AzureDiskVolumeSource')).toEqual({
      diskName: 'string!',
      diskURI: 'string!',
      cachingMode: 'string',
      fsType: 'string',
      kind: 'string',
      readOnly: 'boolean',
    });
    expect(await fields('AzureFileVolumeSource')).toEqual({
      secretName: 'string!',
      shareName: 'string!',
      readOnly: 'boolean',
    });
    expect(await fields('CinderVolumeSource')).toMatchObject({
      fsType: 'string',
      readOnly: 'boolean',
      secretRef: 'LocalObjectReference',
    });
    expect(await fields('CSIVolumeSource')).toEqual({
      driver: 'string!',
      fsType: 'string',
      nodePublishSecretRef: 'LocalObjectReference',
      readOnly: 'boolean',
      volumeAttributes: 'map[string]',
    });
    expect(await fields('PersistentVolumeClaimTemplate')).toEqual({
      metadata: 'ObjectMeta',
      spec: 'PersistentVolumeClaimSpec!',
    });
    expect(await fields('FCVolumeSource')).toEqual({
      fsType: 'string',
      lun: 'int32',
      readOnly: 'boolean',
      targetWWNs: '[]string atomic',
      wwids: '[]string atomic',
    });
    expect(await fields('FlexVolumeSource')).toEqual({
      driver: 'string!',
      fsType: 'string',
      options: 'map[string]',
      readOnly: 'boolean',
      secretRef: 'LocalObjectReference',
    });
    expect(await fields('FlockerVolumeSource')).toEqual({ datasetName: 'string', datasetUUID: 'string' });
    expect(await fields('ISCSIVolumeSource')).toMatchObject({
      iqn: 'string!',
      lun: 'int32!',
      targetPortal: 'string!',
      chapAuthDiscovery: 'boolean',
      chapAuthSession: 'boolean',
      fsType: 'string',
      initiatorName: 'string',
      iscsiInterface: 'string',
    });
  });

  const disk = { diskName: 'd', diskURI: 'https://example.com/d' };
  const iscsi = { iqn: 'iqn.2024-01.com.example:d', lun: 0, targetPortal: '192.0.2.1' };
  const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };

  test.each<[string, Json, string]>([
    ['azureDisk', disk, 'diskName'],
    ['azureDisk', disk, 'diskURI'],
    ['azureFile', { secretName: 's', shareName: 's' }, 'secretName'],
    ['azureFile', { secretName: 's', shareName: 's' }, 'shareName'],
    ['csi', { driver: 'd.example.com' }, 'driver'],
    ['ephemeral', { volumeClaimTemplate: claim }, 'volumeClaimTemplate'],
    ['flexVolume', { driver: 'example.com/d' }, 'driver'],
    ['iscsi', iscsi, 'iqn'],
    ['iscsi', iscsi, 'lun'],
    ['iscsi', iscsi, 'targetPortal'],
  ])('R22.6: a volume with the source %s %j has a required %s', async (source, body, field) => {
    expect((await create({ [source]: body })).code).toBe(201);
    const { code, causes } = await create({ [source]: { ...body, [field]: undefined } });
    expect(code).toBe(422);
    expect(causes.join()).toContain(`${AT}.${source}.${field}: Required`);
  });

  test('R22.7: an azureDisk has defaults and known values', async () => {
    const azureDisk = await volumeOf({ azureDisk: disk });
    expect(azureDisk.azureDisk).toMatchObject({ fsType: 'ext4', kind: 'Shared', readOnly: false });
    const withDisk = (change: Json) => create({ azureDisk: { ...disk, ...change } });
    for (const cachingMode of ['None', 'ReadOnly', 'ReadWrite'])
      expect((await withDisk({ cachingMode })).code).toBe(201);
    expect((await withDisk({ cachingMode: 'Some' })).code).toBe(422);
    for (const kind of ['Shared', 'Dedicated']) expect((await withDisk({ kind })).code).toBe(201);
    expect((await withDisk({ kind: 'Managed', diskURI: '/subscriptions/x' })).code).toBe(201);
    expect((await withDisk({ kind: 'Own' })).code).toBe(422);
  });

  test('R22.8: an iscsi volume has defaults, and its lun may be 0', async () => {
    expect((await volumeOf({ iscsi })).iscsi).toMatchObject({ lun: 0, fsType: 'ext4', iscsiInterface: 'default' });
    expect((await volumeOf({ iscsi: { ...iscsi, fsType: 'xfs' } })).iscsi.fsType).toBe('xfs');
  });

  test('R22.9: an fc volume has wwids, or target WWNs with a lun, not both', async () => {
    const targets = { targetWWNs: ['500a0982991b8dc5'] };
    expect((await create({ fc: { wwids: ['w'] } })).code).toBe(201);
    expect((await create({ fc: { ...targets, lun: 1 } })).code).toBe(201);
    for (const fc of [{}, targets, { ...targets, lun: 1, wwids: ['w'] }]) expect((await create({ fc })).code).toBe(422);
  });

  test('R22.10: a flocker volume has a name or a UUID', async () => {
    expect((await create({ flocker: { datasetName: 'n' } })).code).toBe(201);
    expect((await create({ flocker: { datasetUUID: 'u' } })).code).toBe(201);
    expect((await create({ flocker: {} })).code).toBe(422);
    expect((await create({ flocker: { datasetName: 'n', datasetUUID: 'u' } })).code).toBe(422);
  });

  test('R22.11: the claim template of an ephemeral volume has only labels and annotations', async () => {
    const ephemeral = (metadata: Json) => create({ ephemeral: { volumeClaimTemplate: { ...claim, metadata } } });
    expect((await ephemeral({ labels: { l: '1' }, annotations: { a: '2' } })).code).toBe(201);
    expect((await ephemeral({ name: 'n' })).code).toBe(422);
  });

  test('R22.12: the claim of an ephemeral volume is named after pod and volume and owned by the pod', async () => {
    const service = openService({ controllers: controllers([ephemeralVolumes()]) });
    const ephemeral = { volumeClaimTemplate: { ...claim, metadata: { labels: { l: '1' } } } };
    const { body } = await service.create('Pod', pod({ ephemeral }));
    await service.clock.advance(1000);
    const made = await service.cluster.api(PersistentVolumeClaim).get('a-v');
    expect(made.metadata).toMatchObject({ labels: { l: '1' }, ownerReferences: [{ uid: body.metadata.uid }] });
    expect(made.spec).toMatchObject(claim.spec);
  });

  test('R22.13: a pod is rejected if the name of the claim would be invalid', async () => {
    const name = 'p'.repeat(253);
    const { causes } = await openService().create('Pod', {
      metadata: { name },
      ...pod({ ephemeral: { volumeClaimTemplate: claim } }),
    });
    expect(causes).toEqual([`${AT}.name: Invalid`]);
  });

  test('R22.14: an entry of a projected volume has exactly one source', async () => {
    const token = { serviceAccountToken: { path: 't' } };
    const map = { configMap: { name: 'm' } };
    expect((await create(project(token, map))).code).toBe(201);
    expect((await create(project(token, {}))).causes).toEqual([`${AT}.projected.sources[1]: Required`]);
    expect((await create(project({ ...token, ...map }))).causes).toEqual([`${AT}.projected.sources[0]: Forbidden`]);
  });

  test('R22.15: projected sources have their fields', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'Pod', type);
    expect(await fields('ClusterTrustBundleProjection')).toEqual({
      path: 'string!',
      name: 'string',
      signerName: 'string',
      labelSelector: 'LabelSelector',
      optional: 'boolean',
    });
    expect(await fields('ConfigMapProjection')).toEqual({
      name: 'string',
      optional: 'boolean',
      items: '[]KeyToPath atomic',
    });
    expect(await fields('DownwardAPIProjection')).toEqual({ items: '[]DownwardAPIVolumeFile atomic' });
    expect(await fields('SecretProjection')).toMatchObject({ optional: 'boolean', items: '[]KeyToPath atomic' });
    expect(await fields('ServiceAccountTokenProjection')).toEqual({
      path: 'string!',
      audience: 'string',
      expirationSeconds: 'int64',
    });
  });

  test('R22.16: a token has a path, and lives for an hour by default and ten minutes at least', async () => {
    const token = (change: Json) => create(project({ serviceAccountToken: { path: 't', ...change } }));
    const made = await token({ audience: 'x' });
    expect(made.body.spec.volumes[0].projected.sources[0].serviceAccountToken).toEqual({
      audience: 'x',
      expirationSeconds: 3600,
      path: 't',
    });
    expect((await token({ path: undefined })).causes.join()).toContain('path: Required');
    expect((await token({ expirationSeconds: 600 })).code).toBe(201);
    expect((await token({ expirationSeconds: 599 })).code).toBe(422);
  });

  test('R22.17: a trust bundle is named, or selected by signer and labels', async () => {
    const bundle = async (change: Json) =>
      (await create(project({ clusterTrustBundle: { path: 'p', ...change } }))).code;
    const signerName = 'example.com/s';
    expect(await bundle({ name: 'b' })).toBe(201);
    expect(await bundle({ signerName, labelSelector: {} })).toBe(201);
    expect(await bundle({ signerName, labelSelector: { matchLabels: { a: 'b' } }, optional: true })).toBe(201);
    for (const bad of [
      {},
      { name: 'b', signerName },
      { name: 'b', labelSelector: {} },
      { labelSelector: {} },
      { name: 'b', path: undefined },
    ]) {
      expect(await bundle(bad)).toBe(422);
    }
  });

  test('R22.18: trust bundles in volumes need their feature gate', async () => {
    const service = openService({ featureGates: { ClusterTrustBundleProjection: false } });
    const made = await service.create('Pod', pod(project({ clusterTrustBundle: { path: 'p', name: 'b' } })));
    expect(made.causes).toEqual([`${AT}.projected.sources[0]: Required`]);
  });
});
