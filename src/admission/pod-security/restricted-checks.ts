/**
 * The checks that the pod security level `restricted` adds: required hardening.
 */

import type { Volume } from '../../kinds/generated/core-v1.js';
import { addedCapabilities, isAllowedProfile, seccompProfileBaseline } from './baseline-checks.js';
import {
  type Check,
  containersWhere,
  containerViolation,
  counted,
  isInUserNamespace,
  isWindows,
  sorted,
  subjectsWhere,
} from './review.js';

/** From v1.25 some checks skip Windows pods, which cannot set the required fields. */
export function exceptWindows(check: Check): Check {
  return (pod) => (isWindows(pod) ? undefined : check(pod));
}

export const allowPrivilegeEscalation: Check = (pod) =>
  containerViolation(pod, (context) => context?.allowPrivilegeEscalation !== false, {
    reason: 'allowPrivilegeEscalation != false',
    must: 'must set securityContext.allowPrivilegeEscalation=false',
  });

export const capabilitiesRestricted: Check = (pod) => {
  const keeping = containersWhere(pod, (context) => context?.capabilities?.drop?.includes('ALL') !== true);
  const adding = addedCapabilities(pod, (name) => name === 'NET_BIND_SERVICE');
  const details = [
    ...(keeping.length > 0
      ? [`${counted('container', keeping)} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(adding === undefined ? [] : [adding]),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
};

const ALLOWED_SOURCES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const;

/** Of several sources in one volume, the first in this order is reported. */
const RESTRICTED_SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
] as const;

export const restrictedVolumes: Check = ({ spec }) => {
  const has = (volume: Volume) => (source: keyof Volume) => volume[source] !== undefined;
  const bad = (spec.volumes ?? []).filter((volume) => !ALLOWED_SOURCES.some(has(volume)));
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => RESTRICTED_SOURCES.find(has(volume)) ?? 'unknown'));
  const names = bad.map(({ name }) => name);
  const verb = names.length === 1 ? 'uses' : 'use';
  const detail = `${counted('volume', names)} ${verb} ${counted('restricted volume type', types)}`;
  return { reason: 'restricted volume types', detail };
};

export const runAsNonRoot: Check = (pod) => {
  if (isInUserNamespace(pod)) return undefined;
  const reason = 'runAsNonRoot != true';
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const subjects = subjectsWhere(pod, (context) => context?.runAsNonRoot === false);
  if (subjects !== '') return { reason, detail: `${subjects} must not set securityContext.runAsNonRoot=false` };
  const unset = containersWhere(pod, (context) => (context?.runAsNonRoot ?? ofPod) !== true);
  if (unset.length === 0) return undefined;
  return { reason, detail: `pod or ${counted('container', unset)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: Check = (pod) => {
  if (isInUserNamespace(pod)) return undefined;
  const subjects = subjectsWhere(pod, (context) => context?.runAsUser === 0);
  return subjects === '' ? undefined : { reason: 'runAsUser=0', detail: `${subjects} must not set runAsUser=0` };
};

/** Containers without a profile inherit that of the pod. */
export const seccompProfileRestricted: Check = (pod) => {
  const explicit = seccompProfileBaseline(pod);
  if (explicit !== undefined) return explicit;
  const ofPod = pod.spec.securityContext?.seccompProfile;
  const unset = containersWhere(pod, (context) => !isAllowedProfile((context?.seccompProfile ?? ofPod)?.type));
  if (unset.length === 0) return undefined;
  const types = '"RuntimeDefault" or "Localhost"';
  const detail = `pod or ${counted('container', unset)} must set securityContext.seccompProfile.type to ${types}`;
  return { reason: 'seccompProfile', detail };
};
