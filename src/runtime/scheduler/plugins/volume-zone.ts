/**
 * The VolumeZone plugin: the zone and region labels of bound volumes must match those of the node.
 */
import { classOfClaim, volumeNames } from '../../../controllers/volumes/matching.js';
import { PersistentVolume } from '../../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import { StorageClass } from '../../../kinds/storage/v1/storage-class.js';
import type { Labels } from '../../../meta/labels.js';
import { own } from '../../../util/json.js';
import { type FilterPlugin, type Rejection, unresolvable } from '../plugin.js';
import type { Snapshot } from '../snapshot.js';
import { type ClaimUse, claimUses, missing } from './pod-volumes.js';

interface VolumeTopology {
  readonly key: string;
  /** The key that replaced it. */
  readonly currentKey: string;
  readonly values: readonly string[];
}

const CONFLICT = unresolvable('node(s) had no available volume zone');

export const volumeZone: FilterPlugin = {
  name: 'VolumeZone',
  prepare({ pod }, snapshot) {
    const topologies: VolumeTopology[] = [];
    for (const use of claimUses(pod, snapshot)) {
      if (use.isEphemeral) continue;
      const found = volumeLabels(use, snapshot);
      if (found !== undefined && 'reasons' in found) return found;
      topologies.push(...topologiesIn(found?.labels ?? {}, snapshot));
    }
    if (topologies.length === 0) return undefined;
    const keys = topologyKeys(snapshot).map(({ key }) => key);
    return {
      check({ labels }) {
        // In a cluster with one zone, nodes may have no labels.
        if (keys.every((key) => own(labels, key) === undefined)) return undefined;
        const isMatch = topologies.every(({ key, currentKey, values }) => {
          const value = own(labels, key) ?? own(labels, currentKey);
          return value !== undefined && values.includes(value);
        });
        return isMatch ? undefined : CONFLICT;
      },
    };
  },
};

function topologyKeys({ dialect }: Snapshot): readonly Omit<VolumeTopology, 'values'>[] {
  const current = ['zone', 'region'].map((name) => dialect.subkey('topology', name));
  const old = ['zone', 'region'].map((name) => dialect.subkey('failure-domain.beta', name));
  return [
    ...old.map((key, index) => ({ key, currentKey: current[index] ?? key })),
    ...current.map((key) => ({ key, currentKey: key })),
  ];
}

/** Undefined for a claim that is bound when its pod has a node. */
function volumeLabels(
  { claim, claimName }: ClaimUse,
  { objects, dialect }: Snapshot,
): { readonly labels: Labels } | Rejection | undefined {
  if (claim === undefined) return unresolvable(missing(PersistentVolumeClaim, claimName, dialect));
  const { volumeName = '' } = claim.spec;
  if (volumeName !== '') {
    const volume = objects.get(PersistentVolume, volumeName);
    if (volume === undefined) return unresolvable(missing(PersistentVolume, volumeName, dialect));
    return { labels: volume.metadata.labels ?? {} };
  }
  const className = classOfClaim(claim, volumeNames(dialect));
  if (className === '') return unresolvable('PersistentVolumeClaim had no pv name and storageClass name');
  const storageClass = objects.get(StorageClass, className);
  if (storageClass === undefined) return unresolvable(missing(StorageClass, className, dialect));
  if (storageClass.volumeBindingMode === 'WaitForFirstConsumer') return undefined;
  return unresolvable('PersistentVolume had no name');
}

/** A label with an empty zone in its list is ignored. */
function topologiesIn(labels: Labels, snapshot: Snapshot): VolumeTopology[] {
  return topologyKeys(snapshot).flatMap((keys) => {
    const values = own(labels, keys.key)
      ?.split('__')
      .map((value) => value.trim());
    return values === undefined || values.includes('') ? [] : [{ ...keys, values }];
  });
}
