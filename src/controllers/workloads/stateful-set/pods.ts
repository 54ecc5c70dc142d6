/**
 * The pods of a StatefulSet: their ordinals, the contents of new ones, and checks of existing ones.
 */
import type { StatefulSet } from '../../../kinds/apps/v1/stateful-set.js';
import type { PodInput } from '../../../kinds/core/v1/pod/pod.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import type { Dialect } from '../../../meta/dialect.js';
import { type PodTemplateLike, podFromTemplate } from '../pod-control.js';
import { isPodReady, isTerminating, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';

export type StoredSet = ObjectOf<typeof StatefulSet>;

const POD_NAME = /^(.*)-([0-9]+)$/s;
const MAX_ORDINAL = 2 ** 31 - 1;

/** The ordinal of a pod; undefined if its name is not one of the set's. */
export function ordinalOf(set: StoredSet, podName: string): number | undefined {
  const [, parent, digits] = POD_NAME.exec(podName) ?? [];
  const ordinal = Number(digits);
  return parent === set.metadata.name && ordinal <= MAX_ORDINAL ? ordinal : undefined;
}

export function podName(set: StoredSet, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`;
}

/** The ordinal of the first pod. */
export function firstOrdinal({ spec }: StoredSet): number {
  return spec.ordinals?.start ?? 0;
}

/** Whether the set wants a pod with this ordinal. */
export function isWantedOrdinal(set: StoredSet, ordinal: number): boolean {
  const first = firstOrdinal(set);
  return ordinal >= first && ordinal < first + set.spec.replicas;
}

export function isRunningAndReady(pod: StoredPod): boolean {
  return pod.status.phase === 'Running' && isPodReady(pod);
}

export function isHealthy(pod: StoredPod | undefined): boolean {
  return pod !== undefined && isRunningAndReady(pod) && !isTerminating(pod);
}

export function revisionOf({ metadata }: StoredPod): string {
  return metadata.labels?.[REVISION_LABEL] ?? '';
}

/** The labels with the pod's name and ordinal. */
function identityLabels(set: StoredSet, ordinal: number, dialect: Dialect): Record<string, string> {
  return {
    [dialect.subkey('statefulset', 'pod-name')]: podName(set, ordinal),
    [dialect.subkey('apps', 'pod-index')]: String(ordinal),
  };
}

export function hasIdentity(set: StoredSet, pod: StoredPod, dialect: Dialect): boolean {
  const ordinal = ordinalOf(set, pod.metadata.name);
  if (ordinal === undefined || pod.metadata.name !== podName(set, ordinal)) return false;
  return pod.metadata.labels?.[dialect.subkey('statefulset', 'pod-name')] === pod.metadata.name;
}

/** Whether the pod mounts the claims of its ordinal. */
export function hasStorage(set: StoredSet, pod: StoredPod): boolean {
  const ordinal = ordinalOf(set, pod.metadata.name);
  if (ordinal === undefined) return false;
  return (set.spec.volumeClaimTemplates ?? []).every(({ metadata }) => {
    const volume = pod.spec.volumes?.find(({ name }) => name === metadata.name);
    return volume?.persistentVolumeClaim?.claimName === claimName(set, metadata.name, ordinal);
  });
}

export function claimName(set: StoredSet, template: string | undefined, ordinal: number): string {
  return `${template ?? ''}-${set.metadata.name}-${ordinal}`;
}

export interface NewPod {
  readonly set: StoredSet;
  readonly ordinal: number;
  readonly template: PodTemplateLike;
  readonly revision: string;
  readonly dialect: Dialect;
}

/** The input for a new pod with the ordinal. */
export function newPod({ set, ordinal, template, revision, dialect }: NewPod): PodInput {
  const pod = podFromTemplate(template, set);
  const name = podName(set, ordinal);
  const labels = { ...pod.metadata?.labels, ...identityLabels(set, ordinal, dialect), [REVISION_LABEL]: revision };
  const { serviceName } = set.spec;
  const { spec = { containers: [] } } = pod;
  return {
    ...pod,
    metadata: { ...pod.metadata, name, labels },
    spec: {
      ...spec,
      hostname: name,
      ...(serviceName === '' ? {} : { subdomain: serviceName }),
      ...volumesWith(set, ordinal, spec.volumes),
    },
  };
}

/** The pod with the labels and volumes of its ordinal, for an update. */
export function withIdentity(set: StoredSet, pod: StoredPod, dialect: Dialect): StoredPod {
  const ordinal = ordinalOf(set, pod.metadata.name);
  if (ordinal === undefined) return pod;
  const labels = { ...pod.metadata.labels, ...identityLabels(set, ordinal, dialect) };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: hasStorage(set, pod) ? pod.spec : { ...pod.spec, ...volumesWith(set, ordinal, pod.spec.volumes) },
  };
}

/** The set's claims come first and replace volumes with the same names. */
function volumesWith<Volume extends { readonly name: string }>(
  set: StoredSet,
  ordinal: number,
  volumes: readonly Volume[] = [],
): { volumes?: (Volume | ClaimVolume)[] } {
  const claims = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, metadata.name, ordinal) },
  }));
  const others = volumes.filter(({ name }) => !claims.some((claim) => claim.name === name));
  const all = [...claims, ...others];
  return all.length === 0 ? {} : { volumes: all };
}

interface ClaimVolume {
  name: string;
  persistentVolumeClaim: { claimName: string };
}
