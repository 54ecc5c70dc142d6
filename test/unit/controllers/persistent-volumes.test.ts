/** PersistentVolume controller: binding, reclaiming and provisioning. */
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MARKS, VolumesSetting } from './volumes-fixture.js';

let at: VolumesSetting;
beforeEach(() => {
  at = new VolumesSetting();
});
afterEach(async () => {
  await at.cluster.close();
});

describe('volume binding', () => {
  test('sets references, annotations, phase and size of volume and claim', async () => {
    await at.volume('v', '2Gi');
    await at.settle();
    expect(await at.volumePhase('v')).toBe('Available');
    const { metadata } = await at.claim('c', '1Gi');
    expect(await at.boundVolume('c')).toBe('v');
    const [volume, claim] = [await at.findVolume('v'), await at.findClaim('c')];
    expect(volume?.spec.claimRef).toEqual({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      namespace: 'default',
      name: 'c',
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    });
    expect(volume?.metadata.annotations).toEqual({ [MARKS.byController]: 'yes' });
    expect(volume?.status.phase).toBe('Bound');
    expect(claim?.metadata.annotations).toEqual({ [MARKS.completed]: 'yes', [MARKS.byController]: 'yes' });
    expect(claim?.status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } });
  });

  test('binds regardless of which was created first', async () => {
    await at.claim('c');
    await at.settle();
    expect(await at.claimPhase('c')).toBe('Pending');
    await at.volume('v');
    expect(await at.boundVolume('c')).toBe('v');
  });

  test('binds the smallest volume that is large enough', async () => {
    for (const [name, size] of Object.entries({ big: '10Gi', small: '1Gi', mid: '2Gi' })) await at.volume(name, size);
    await at.claim('c', '1500Mi');
    expect(await at.boundVolume('c')).toBe('mid');
    await at.claim('d', '1500Mi');
    expect(await at.boundVolume('d')).toBe('big');
    await at.claim('e', '1500Mi');
    expect(await at.boundVolume('e')).toBeUndefined();
  });

  test('binds the volume with the fewest sufficient access modes', async () => {
    await at.volume('all', '1Gi', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] });
    await at.volume('two', '5Gi', { accessModes: ['ReadOnlyMany', 'ReadWriteOnce'] });
    await at.claim('c', '1Gi', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] });
    expect(await at.boundVolume('c')).toBe('two');
    await at.claim('d', '1Gi', { accessModes: ['ReadWriteOncePod'] });
    expect(await at.boundVolume('d')).toBeUndefined();
  });

  test.each<[string, object, object]>([
    ['storage class', { storageClassName: 'fast' }, {}],
    ['storage class where the claim has none', { storageClassName: '' }, {}],
    ['volume mode', {}, { volumeMode: 'Block' }],
    ['label', {}, { selector: { matchLabels: { tier: 'gold' } } }],
  ])('does not bind a volume with another %s', async (_, ofVolume, ofClaim) => {
    await at.volume('v', '1Gi', ofVolume);
    await at.claim('c', '1Gi', ofClaim);
    expect(await at.boundVolume('c')).toBeUndefined();
    expect(await at.volumePhase('v')).toBe('Available');
  });

  test('binds a volume that matches the label selector', async () => {
    await at.volume('plain');
    await at.volume('gold', '5Gi', {}, { labels: { tier: 'gold' } });
    const selector = { matchExpressions: [{ key: 'tier', operator: 'In', values: ['gold', 'silver'] }] };
    await at.claim('c', '1Gi', { selector });
    expect(await at.boundVolume('c')).toBe('gold');
  });

  test('does not bind a terminating volume', async () => {
    await at.volume('v', '1Gi', {}, { finalizers: ['example.com/hold'] });
    await at.settle();
    await at.cluster.api(PersistentVolume).delete('v');
    await at.claim('c');
    expect(await at.boundVolume('c')).toBeUndefined();
  });

  test('binds a claim without a class only to a volume without one and records an event otherwise', async () => {
    await at.claim('c', '1Gi', { storageClassName: '' });
    expect(await at.eventsOf('c')).toEqual([
      ['FailedBinding', 'no persistent volumes available for this claim and no storage class is set'],
    ]);
    await at.volume('v', '1Gi', { storageClassName: undefined });
    expect(await at.boundVolume('c')).toBe('v');
  });

  test('binds a hundred claims to a hundred different volumes', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    await Promise.all([...names.map((name) => at.claim(name)), ...names.map((name) => at.volume(name))]);
    await at.settle();
    const { items } = await at.cluster.api(PersistentVolumeClaim).list();
    expect(items.every(({ status }) => status.phase === 'Bound')).toBe(true);
    expect(new Set(items.map(({ spec }) => spec.volumeName)).size).toBe(100);
    const volumes = (await at.cluster.api(PersistentVolume).list()).items;
    expect(volumes.map(({ status }) => status.phase)).toEqual(Array.from({ length: 100 }, () => 'Bound'));
  });
});

describe('pre-bound volumes and claims', () => {
  test('keeps a volume with a claimRef for its claim and prefers it to better matches', async () => {
    await at.volume('kept', '9Gi', { claimRef: { namespace: 'default', name: 'c' } });
    await at.volume('fits', '1Gi');
    await at.settle();
    expect(await at.volumePhase('kept')).toBe('Available');
    await at.claim('other', '5Gi');
    expect(await at.boundVolume('other')).toBeUndefined();
    const { metadata } = await at.claim('c');
    expect(await at.boundVolume('c')).toBe('kept');
    const volume = await at.findVolume('kept');
    expect(volume?.spec.claimRef?.uid).toBe(metadata.uid);
    expect(volume?.metadata.annotations).toBeUndefined();
  });

  test('binds a claim to the volume in volumeName without the bound-by-controller annotation', async () => {
    await at.volume('small');
    await at.volume('named', '9Gi');
    await at.claim('c', '1Gi', { volumeName: 'named' });
    await at.settle();
    expect(await at.claimPhase('c')).toBe('Bound');
    expect((await at.findClaim('c'))?.metadata.annotations).toEqual({ [MARKS.completed]: 'yes' });
    expect((await at.findVolume('named'))?.metadata.annotations).toEqual({ [MARKS.byController]: 'yes' });
    expect(await at.volumePhase('small')).toBe('Available');
  });

  test('waits for the volume in volumeName', async () => {
    await at.claim('c', '1Gi', { volumeName: 'later' });
    await at.settle();
    expect(await at.claimPhase('c')).toBe('Pending');
    await at.volume('later');
    await at.settle();
    expect(await at.claimPhase('c')).toBe('Bound');
  });

  test.each<[string, object, object, string]>([
    ['is too small', { capacity: { storage: '1Mi' } }, {}, 'requested PV is too small'],
    ['has another class', { storageClassName: 'fast' }, {}, 'storageClassName does not match'],
    ['has another mode', {}, { volumeMode: 'Block' }, 'incompatible volumeMode'],
    ['has other access modes', { accessModes: ['ReadOnlyMany'] }, {}, 'incompatible accessMode'],
  ])('records why a claim cannot use a volume that %s', async (_, ofVolume, ofClaim, why) => {
    await at.volume('v', '1Gi', ofVolume);
    await at.claim('c', '1Gi', { volumeName: 'v', ...ofClaim });
    expect(await at.eventsOf('c')).toEqual([['VolumeMismatch', `Cannot bind to requested volume "v": ${why}`]]);
    expect(await at.claimPhase('c')).toBe('Pending');
    expect(await at.volumePhase('v')).toBe('Available');
  });

  test('does not bind a volume that belongs to another claim', async () => {
    await at.volume('v');
    await at.claim('a');
    expect(await at.boundVolume('a')).toBe('v');
    await at.claim('b', '1Gi', { volumeName: 'v' });
    expect(await at.eventsOf('b')).toEqual([['FailedBinding', 'volume "v" already bound to a different claim.']]);
    expect(await at.claimPhase('b')).toBe('Pending');
  });

  test('treats a claim with the same name and another uid as another claim', async () => {
    await at.volume('v', '1Gi', { claimRef: { namespace: 'default', name: 'c', uid: 'another' } });
    await at.settle();
    expect(await at.volumePhase('v')).toBe('Released');
    await at.claim('c');
    expect(await at.boundVolume('c')).toBeUndefined();
  });
});

describe('volume reclaiming', () => {
  const bound = async (spec: object, source?: object) => {
    if (source === undefined) await at.volume('v', '1Gi', spec);
    else await at.plainVolume('v', source, spec);
    await at.claim('c');
    expect(await at.boundVolume('c')).toBe('v');
  };
  const dropClaim = async () => {
    await at.cluster.api(PersistentVolumeClaim).delete('c');
    await at.settle();
    expect(await at.findClaim('c')).toBeUndefined();
  };

  test('releases a retained volume and gives it to no other claim', async () => {
    await bound({});
    await dropClaim();
    expect(await at.volumePhase('v')).toBe('Released');
    await at.claim('c');
    expect(await at.boundVolume('c')).toBeUndefined();
  });

  test('makes a volume available after its claimRef is removed', async () => {
    await bound({});
    await dropClaim();
    await at.cluster.api(PersistentVolume).edit('v', (draft) => {
      delete draft.spec.claimRef;
    });
    await at.settle();
    expect(await at.volumePhase('v')).toBe('Available');
    await at.claim('d');
    expect(await at.boundVolume('d')).toBe('v');
  });

  test('leaves the deletion of CSI volumes to the driver', async () => {
    await bound({ persistentVolumeReclaimPolicy: 'Delete' });
    await dropClaim();
    expect(await at.volumePhase('v')).toBe('Released');
  });

  const fc = { fc: { targetWWNs: ['a'], lun: 1 } };
  test.each<[string, object, string]>([
    [
      'a hostPath outside of /tmp',
      { hostPath: { path: '/data' } },
      'host_path deleter only supports /tmp/.+ but received provided /data',
    ],
    [
      'an NFS volume',
      { nfs: { server: 's', path: '/p' } },
      'error getting deleter volume plugin for volume "v": no deletable volume plugin matched',
    ],
    ['an FC volume', fc, 'error getting deleter volume plugin for volume "v": no volume plugin matched'],
  ])('reports that %s cannot be deleted', async (_, source, message) => {
    await bound({ persistentVolumeReclaimPolicy: 'Delete' }, source);
    await dropClaim();
    expect((await at.findVolume('v'))?.status).toMatchObject({ phase: 'Failed', message });
    expect(await at.eventsOf('v')).toEqual([['VolumeFailedDelete', message]]);
  });

  test.each(['/tmp/x', '/data/tmp/x'])('deletes a hostPath volume at %s with its claim', async (path) => {
    await bound({ persistentVolumeReclaimPolicy: 'Delete' }, { hostPath: { path } });
    await dropClaim();
    expect(await at.findVolume('v')).toBeUndefined();
  });

  test('makes a recycled volume available again', async () => {
    await bound({ persistentVolumeReclaimPolicy: 'Recycle' }, { nfs: { server: 's', path: '/p' } });
    await dropClaim();
    expect(await at.eventsOf('v')).toEqual([['VolumeRecycled', 'Volume recycled']]);
    const volume = await at.findVolume('v');
    expect(volume?.status.phase).toBe('Available');
    expect(volume?.spec.claimRef).toBeUndefined();
    expect(volume?.metadata.annotations).toBeUndefined();
  });

  test('fails a volume that cannot be recycled', async () => {
    await bound({ persistentVolumeReclaimPolicy: 'Recycle' }, fc);
    await dropClaim();
    const message = 'No recycler plugin found for the volume!';
    expect((await at.findVolume('v'))?.status).toMatchObject({ phase: 'Failed', message });
    expect(await at.eventsOf('v')).toEqual([['VolumeFailedRecycle', message]]);
  });

  test('marks a claim as lost when its volume is deleted', async () => {
    await bound({});
    await at.cluster.api(PersistentVolume).delete('v');
    await at.cluster.api(PersistentVolume).edit('v', (draft) => {
      draft.metadata.finalizers = [];
    });
    await at.settle();
    expect((await at.findClaim('c'))?.status).toEqual({ phase: 'Lost' });
    expect(await at.eventsOf('c')).toEqual([
      ['ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!'],
    ]);
    await at.volume('w');
    expect(await at.boundVolume('c')).toBe('v');
    expect(await at.claimPhase('c')).toBe('Lost');
  });

  test('reports a claim as misbound when its volume is bound to another claim', async () => {
    await bound({});
    await at.claim('d', '1Gi', { volumeName: 'v' }, { annotations: { [MARKS.completed]: 'yes' } });
    expect(await at.eventsOf('d')).toEqual([
      ['ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly'],
    ]);
    expect(await at.claimPhase('d')).toBe('Lost');
  });
});

describe('claim whose volume refers to another claim of the same name', () => {
  test.each([
    ['another uid', '11111111-2222-3333-4444-555555555555', 'Released'],
    ['no uid', '', 'Available'],
  ])('reports the claim as misbound when the claimRef has %s', async (_, uid, phase) => {
    await at.volume('v');
    await at.claim('c');
    expect(await at.boundVolume('c')).toBe('v');
    await at.cluster.api(PersistentVolume).edit('v', (draft) => {
      if (draft.spec.claimRef !== undefined) draft.spec.claimRef = { ...draft.spec.claimRef, uid };
    });
    await at.settle();
    expect(await at.volumePhase('v')).toBe(phase);
    expect((await at.findClaim('c'))?.status).toEqual({ phase: 'Lost' });
    expect(await at.eventsOf('c')).toEqual([
      ['ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly'],
    ]);
  });
});

describe('storage classes of claims', () => {
  test('records an event for a missing class', async () => {
    await at.claim('c', '1Gi', { storageClassName: 'none' });
    expect(await at.eventsOf('c')).toEqual([['ProvisioningFailed', 'storageclass.storage.orch.io "none" not found']]);
    await at.storageClass('none');
    await at.settle();
    expect((await at.findClaim('c'))?.metadata.annotations).toMatchObject({ [MARKS.provisioner]: 'example.com/other' });
  });

  test('requests a volume from the provisioner by annotation', async () => {
    await at.storageClass('slow');
    await at.claim('c');
    const [reason, message] = (await at.eventsOf('c'))[0] ?? [];
    expect(reason).toBe('ExternalProvisioning');
    expect(message).toMatch(/^Waiting for a volume .* external provisioner 'example.com\/other' or manually/);
    expect((await at.findClaim('c'))?.metadata.annotations).toEqual({
      [MARKS.betaProvisioner]: 'example.com/other',
      [MARKS.provisioner]: 'example.com/other',
    });
  });

  test.each([
    ['no-provisioner', 'no volume plugin matched name: orch.io/no-provisioner'],
    ['nfs', 'no provisionable volume plugin matched'],
    ['host-path', 'Failed to create provisioner: provisioning in volume plugin "orch.io/host-path" is disabled'],
  ])('records an event for the built-in provisioner %s', async (name, message) => {
    await at.storageClass('slow', { provisioner: `orch.io/${name}` });
    await at.claim('c');
    expect(await at.eventsOf('c')).toEqual([['ProvisioningFailed', message]]);
  });

  test('requests migrated in-tree volumes from the CSI driver', async () => {
    await at.storageClass('slow', { provisioner: 'orch.io/aws-ebs' });
    await at.claim('c');
    await at.settle();
    expect((await at.findClaim('c'))?.metadata.annotations).toMatchObject({ [MARKS.provisioner]: 'ebs.csi.aws.com' });
  });

  test('waits for the first consumer when the class requires it', async () => {
    await at.storageClass('slow', { volumeBindingMode: 'WaitForFirstConsumer' });
    await at.volume('v');
    await at.claim('c');
    expect(await at.boundVolume('c')).toBeUndefined();
    await at.pod('p', 'c');
    await at.settle();
    await at.pod('q', 'c');
    expect(await at.eventsOf('c')).toEqual([
      ['WaitForFirstConsumer', 'waiting for first consumer to be created before binding'],
      ['WaitForPodScheduled', 'waiting for pod p to be scheduled'],
      ['WaitForPodScheduled', 'waiting for pods p,q to be scheduled'],
    ]);
    expect(await at.claimPhase('c')).toBe('Pending');
    // The test reserves the volume as the scheduler would.
    await at.cluster.api(PersistentVolume).edit('v', (draft) => {
      draft.spec.claimRef = { namespace: 'default', name: 'c' };
    });
    expect(await at.boundVolume('c')).toBe('v');
  });

  test('assigns the default class to a claim without a class', async () => {
    await at.claim('c', '1Gi', { storageClassName: undefined });
    await at.settle();
    await at.storageClass('old', {}, { annotations: { [MARKS.isDefault]: 'true' } });
    await at.settle();
    expect((await at.findClaim('c'))?.spec.storageClassName).toBe('old');
  });

  test('uses the newest of several default classes', async () => {
    await at.storageClass('older', {}, { annotations: { [MARKS.isDefault]: 'true' } });
    await at.cluster.clock.advance(1_000);
    const mark = { annotations: { [MARKS.isDefault]: 'true' } };
    await at.storageClass('newer-b', {}, mark);
    await at.storageClass('newer-a', {}, mark);
    await at.claim('c', '1Gi', { storageClassName: undefined });
    await at.settle();
    expect((await at.findClaim('c'))?.spec.storageClassName).toBe('newer-a');
  });
});

describe('provisioned volumes', () => {
  const expected = async (more: object = {}) => {
    await at.storageClass('slow', { provisioner: 'example.com/disk', mountOptions: ['ro'], ...more });
    return at.claim('c', '3Gi');
  };

  test('provisions a volume for a claim of a simulated class', async () => {
    const { metadata } = await expected();
    expect(await at.boundVolume('c')).toBe(`pvc-${metadata.uid}`);
    expect(await at.claimPhase('c')).toBe('Bound');
    const volume = await at.findVolume(`pvc-${metadata.uid}`);
    expect(volume?.spec).toMatchObject({
      capacity: { storage: '3Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'slow',
      mountOptions: ['ro'],
    });
    expect(volume?.metadata.annotations).toEqual({ [MARKS.provisionedBy]: 'example.com/disk' });
    expect((await at.eventsOf('c')).map(([reason]) => reason)).toEqual(
      expect.arrayContaining(['Provisioning', 'ProvisioningSucceeded']),
    );
  });

  test('deletes a provisioned volume with its claim', async () => {
    const { metadata } = await expected();
    await at.settle();
    await at.cluster.api(PersistentVolumeClaim).delete('c');
    await at.settle();
    expect(await at.findVolume(`pvc-${metadata.uid}`)).toBeUndefined();
  });

  test('keeps a provisioned volume when the class retains volumes', async () => {
    const { metadata } = await expected({ reclaimPolicy: 'Retain' });
    await at.settle();
    await at.cluster.api(PersistentVolumeClaim).delete('c');
    await at.settle();
    expect(await at.volumePhase(`pvc-${metadata.uid}`)).toBe('Released');
  });

  test('provisions a volume when the first consumer is scheduled', async () => {
    await expected({ volumeBindingMode: 'WaitForFirstConsumer' });
    await at.pod('p', 'c');
    expect(await at.boundVolume('c')).toBeUndefined();
    await at.pod('q', 'c', { nodeName: 'n' });
    await at.settle();
    expect(await at.claimPhase('c')).toBe('Bound');
  });

  test('provisions for waiting claims when their class is created', async () => {
    await at.claim('c');
    await at.settle();
    await at.cluster.api(StorageClass).create({ metadata: { name: 'slow' }, provisioner: 'example.com/disk' });
    await at.settle();
    expect(await at.claimPhase('c')).toBe('Bound');
  });
});
