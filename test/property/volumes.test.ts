/**
 * Volumes and claims in any order: after settling, bindings are mutual and exclusive, no claim waits while a matching volume
 * is available, and claims get what they request.
 */
import { StatusError } from 'orchplane';
import { claimProtection, controllers, persistentVolumes, volumeProtection } from 'orchplane/controllers';
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test, vi } from 'vitest';
import { Quantity } from '../../src/meta/quantity.js';
import fc from './seeded.js';

vi.setConfig({ testTimeout: 120_000 });

interface Step {
  readonly verb: 'volume' | 'claim' | 'named' | 'reserved' | 'drop volume' | 'drop claim' | 'free' | 'rest';
  readonly name: string;
  readonly other: string;
  readonly size: number;
  readonly many: boolean;
  readonly className: string;
  readonly policy: string;
}

const name = fc.constantFrom('a', 'b', 'c', 'd');
const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom(
    'volume',
    'volume',
    'claim',
    'claim',
    'named',
    'reserved',
    'drop volume',
    'drop claim',
    'free',
    'rest',
  ),
  name,
  other: name,
  size: fc.integer({ min: 1, max: 4 }),
  many: fc.boolean(),
  className: fc.constantFrom('', 'slow', 'later'),
  policy: fc.constantFrom('Retain', 'Delete', 'Recycle'),
});

const BY_CONTROLLER = 'pv.orch.io/bound-by-controller';
const MODES = { one: ['ReadWriteOnce' as const], many: ['ReadWriteOnce' as const, 'ReadWriteMany' as const] };

async function act(cluster: TestCluster, done: Step): Promise<unknown> {
  const { verb, size, many, className: storageClassName, policy } = done;
  const volumes = cluster.api(PersistentVolume);
  const claims = cluster.api(PersistentVolumeClaim);
  const accessModes = many ? MODES.many : MODES.one;
  switch (verb) {
    case 'volume':
    case 'reserved':
      return volumes.create({
        metadata: { name: done.name },
        spec: {
          capacity: { storage: `${size}Gi` },
          accessModes,
          storageClassName,
          persistentVolumeReclaimPolicy: policy as never,
          hostPath: { path: many ? '/tmp/x' : '/data' },
          ...(verb === 'reserved' ? { claimRef: { namespace: 'default', name: done.other } } : {}),
        },
      });
    case 'claim':
    case 'named':
      return claims.create({
        metadata: { name: done.name },
        spec: {
          accessModes,
          storageClassName,
          resources: { requests: { storage: `${size}Gi` } },
          ...(verb === 'named' ? { volumeName: done.other } : {}),
        },
      });
    case 'drop volume':
      return volumes.delete(done.name);
    case 'drop claim':
      return claims.delete(done.name);
    case 'free':
      return volumes.edit(done.name, (draft) => {
        if (draft.status.phase === 'Released') delete draft.spec.claimRef;
      });
    case 'rest':
      return cluster.settle();
  }
}

test('binds claims and volumes mutually, with sufficient size and without delay', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const errors: unknown[] = [];
      const cluster = testCluster({
        controllers: controllers([persistentVolumes(), claimProtection(), volumeProtection()], {
          onError: (error) => void errors.push(error),
        }),
      });
      await cluster.api(StorageClass).create({
        metadata: { name: 'later' },
        provisioner: 'example.com/none',
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      for (const done of steps) {
        await act(cluster, done).catch((error: unknown) => {
          if (!StatusError.is(error)) throw error;
        });
      }
      await cluster.settle();
      expect(errors).toEqual([]);
      const volumes = (await cluster.api(PersistentVolume).list()).items;
      const claims = (await cluster.api(PersistentVolumeClaim).list()).items;
      const size = (text: string | undefined) => Quantity.parse(text ?? '0');
      for (const volume of volumes) {
        const { claimRef } = volume.spec;
        const claim = claims.find(({ metadata }) => metadata.uid === claimRef?.uid);
        if (claimRef?.uid === undefined) expect(volume.status.phase).toBe('Available');
        else if (claim === undefined) expect(['Released', 'Failed']).toContain(volume.status.phase);
        else {
          expect(volume.status.phase).toBe('Bound');
          expect(claim.spec.volumeName).toBe(volume.metadata.name);
          // The size is not checked for bindings that a user requested.
          const isChosen = [volume, claim].some(({ metadata }) => metadata.annotations?.[BY_CONTROLLER] !== undefined);
          const [given, expected] = [volume.spec.capacity?.['storage'], claim.spec.resources.requests?.['storage']];
          if (isChosen) expect(size(given).cmp(size(expected))).toBeGreaterThanOrEqual(0);
        }
      }
      for (const claim of claims) {
        const { spec, status } = claim;
        const volume = volumes.find(({ metadata }) => metadata.name === spec.volumeName);
        if (status.phase === 'Bound') expect(volume?.spec.claimRef?.uid).toBe(claim.metadata.uid);
        if (status.phase !== 'Pending' || spec.volumeName !== undefined || spec.storageClassName === 'later') continue;
        const free = volumes.filter(
          (one) =>
            one.status.phase === 'Available' &&
            one.spec.claimRef === undefined &&
            (one.spec.storageClassName ?? '') === spec.storageClassName &&
            (spec.accessModes ?? []).every((mode) => one.spec.accessModes?.includes(mode)) &&
            size(one.spec.capacity?.['storage']).cmp(size(spec.resources.requests?.['storage'])) >= 0,
        );
        expect(free.map(({ metadata }) => metadata.name)).toEqual([]);
      }
      await cluster.close();
    }),
    { numRuns: 80 },
  );
});
