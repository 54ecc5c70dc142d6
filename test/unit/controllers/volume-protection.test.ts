/** Protection of used claims and volumes, and the claims of ephemeral volumes. */
import { PersistentVolume, PersistentVolumeClaim, Pod } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VolumesSetting } from './volumes-fixture.js';

let at: VolumesSetting;
beforeEach(() => {
  at = new VolumesSetting();
});
afterEach(async () => {
  await at.cluster.close();
});

const dropClaim = async (name: string) => {
  await at.cluster.api(PersistentVolumeClaim).delete(name);
  await at.settle();
};
const dropPod = async (name: string) => {
  await at.cluster.api(Pod).delete(name, { gracePeriodSeconds: 0 });
  await at.settle();
};

describe('claim protection', () => {
  test('deletes an unused claim at once', async () => {
    await at.claim('c');
    await dropClaim('c');
    expect(await at.findClaim('c')).toBeUndefined();
  });

  test('keeps a claim until the last scheduled pod that uses it is deleted', async () => {
    await at.claim('c');
    await at.pod('p', 'c', { nodeName: 'n' });
    await at.pod('q', 'c', { nodeName: 'n' });
    await dropClaim('c');
    expect((await at.findClaim('c'))?.metadata.finalizers).toEqual(['orch.io/pvc-protection']);
    await dropPod('p');
    expect(await at.findClaim('c')).toBeDefined();
    await dropPod('q');
    expect(await at.findClaim('c')).toBeUndefined();
  });

  test('ignores unscheduled pods and counts finished pods', async () => {
    await at.claim('c');
    await at.claim('d');
    await at.pod('p', 'c');
    await at.pod('q', 'd', { nodeName: 'n' });
    await at.cluster.api(Pod).status.edit('q', (draft) => {
      draft.status = { phase: 'Succeeded' } as never;
    });
    await dropClaim('c');
    await dropClaim('d');
    expect(await at.findClaim('c')).toBeUndefined();
    expect(await at.findClaim('d')).toBeDefined();
    await dropPod('q');
    expect(await at.findClaim('d')).toBeUndefined();
  });

  test('restores a missing claim finalizer', async () => {
    await at.claim('c');
    await at.settle();
    await at.cluster.api(PersistentVolumeClaim).edit('c', (draft) => {
      draft.metadata.finalizers = ['example.com/mine'];
    });
    await at.settle();
    expect((await at.findClaim('c'))?.metadata.finalizers).toEqual(['example.com/mine', 'orch.io/pvc-protection']);
  });

  test('leaves other finalizers of a claim unchanged', async () => {
    await at.claim('c', '1Gi', {}, { finalizers: ['example.com/mine'] });
    await dropClaim('c');
    expect((await at.findClaim('c'))?.metadata.finalizers).toEqual(['example.com/mine']);
  });
});

describe('volume protection', () => {
  test('deletes an unbound volume at once', async () => {
    await at.volume('v');
    await at.settle();
    await at.cluster.api(PersistentVolume).delete('v');
    await at.settle();
    expect(await at.findVolume('v')).toBeUndefined();
  });

  test('deletes a bound volume with its claim', async () => {
    await at.volume('v');
    await at.claim('c');
    await at.settle();
    await at.cluster.api(PersistentVolume).delete('v');
    await at.settle();
    expect((await at.findVolume('v'))?.metadata.finalizers).toEqual(['orch.io/pv-protection']);
    expect(await at.claimPhase('c')).toBe('Bound');
    await dropClaim('c');
    expect(await at.findVolume('v')).toBeUndefined();
  });
});

describe('ephemeral volumes', () => {
  const template = {
    metadata: { labels: { l: 'e' }, annotations: { a: 'b' } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'slow', resources: { requests: { storage: '1Gi' } } },
  };
  const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }];

  test('creates a claim for the pod from the volume template', async () => {
    const { metadata } = await at.pod('p', '', { volumes });
    await at.settle();
    const claim = await at.findClaim('p-v');
    expect(claim?.metadata).toMatchObject({
      labels: { l: 'e' },
      annotations: expect.objectContaining({ a: 'b' }),
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(claim?.spec).toMatchObject(template.spec);
  });

  test('deletes the claim of an ephemeral volume with its pod', async () => {
    await at.pod('p', '', { volumes, nodeName: 'n' });
    await at.settle();
    expect(await at.findClaim('p-v')).toBeDefined();
    await dropPod('p');
    expect(await at.findClaim('p-v')).toBeUndefined();
  });

  test('keeps the deleted claim of an ephemeral volume while its pod runs', async () => {
    await at.pod('p', '', { volumes, nodeName: 'n' });
    await at.settle();
    await dropClaim('p-v');
    const claim = await at.findClaim('p-v');
    expect(claim?.metadata.finalizers).toEqual(['orch.io/pvc-protection']);
    expect(claim?.metadata.deletionTimestamp).toBeDefined();
  });

  test('recreates a deleted claim of an ephemeral volume', async () => {
    await at.pod('p', '', { volumes });
    await at.settle();
    const before = (await at.findClaim('p-v'))?.metadata.uid;
    await dropClaim('p-v');
    const after = (await at.findClaim('p-v'))?.metadata.uid;
    expect(after).toBeDefined();
    expect(after).not.toBe(before);
  });

  test('does not use a claim that the pod does not own', async () => {
    await at.claim('p-v');
    await at.pod('p', '', { volumes });
    expect(await at.eventsOf('p')).toEqual([
      ['FailedBinding', 'ephemeral volume v: PVC default/p-v was not created for pod default/p (pod is not owner)'],
    ]);
    expect((await at.findClaim('p-v'))?.metadata.ownerReferences).toBeUndefined();
    // After its deletion the pod gets its own claim.
    await dropClaim('p-v');
    expect((await at.findClaim('p-v'))?.metadata.ownerReferences).toHaveLength(1);
  });

  test('binds the claim of an ephemeral volume', async () => {
    await at.volume('disk');
    await at.pod('p', '', { volumes });
    expect(await at.boundVolume('p-v')).toBe('disk');
  });
});
