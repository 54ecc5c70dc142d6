/**
 * AppArmor profiles are written in a field today and in annotations before; each follows the other, so that old and
 * new readers see the same.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import { deepEqual, own, setOwn } from '../../../../util/json.js';
import { sortedRecord } from '../../../../util/order.js';
import { appArmorPrefix } from '../pod-spec/annotations.js';
import { allContainers } from '../pod-spec/defaults.js';
import type { AppArmorProfile } from '../pod-spec/security-context.js';
import { appArmorProblems } from '../pod-spec/validate-security.js';
import { appArmorWarning } from '../pod-spec/warnings.js';
import type { Pod } from './pod.js';

/** What to tell who made the pod. Afterwards nobody can see whether a field was there before its annotation. */
const told = new WeakMap<object, readonly string[]>();

/** Warnings about the pod since it was last looked over by {@link syncAppArmor}. */
export function appArmorSyncWarnings(pod: object): readonly string[] {
  return told.get(pod) ?? [];
}

/** Changes the pod. */
export function syncAppArmor(pod: Pod, dialect: Dialect): void {
  if (pod.spec.os?.name === 'windows') return;
  const warnings: string[] = [];
  const ofPod = pod.spec.securityContext.appArmorProfile;
  for (const container of allContainers(pod.spec)) {
    const key = `${appArmorPrefix(dialect)}${container.name}`;
    const annotation = own(pod.metadata.annotations ?? {}, key);
    const profile = container.securityContext?.appArmorProfile;
    if (annotation === undefined) {
      const text = annotationFor(profile ?? ofPod);
      if (text !== '') annotate(pod, key, text);
    } else if (profile === undefined) {
      const derived = profileFor(annotation);
      if (deepEqual(derived, ofPod) && derived !== undefined) continue;
      warnings.push(appArmorWarning('metadata.annotations', key));
      if (derived === undefined) continue;
      container.securityContext = { ...container.securityContext, appArmorProfile: derived };
    }
  }
  told.set(pod, warnings);
}

function annotate(pod: Pod, key: string, text: string): void {
  const annotations = { ...pod.metadata.annotations };
  setOwn(annotations, key, text);
  const sorted = sortedRecord(Object.entries(annotations));
  (pod.metadata as { annotations?: Record<string, string> }).annotations = sorted;
}

function annotationFor(profile: AppArmorProfile | undefined): string {
  switch (profile?.type) {
    case 'Unconfined':
      return 'unconfined';
    case 'RuntimeDefault':
      return 'runtime/default';
    case 'Localhost':
      return profile.localhostProfile === undefined ? '' : `localhost/${profile.localhostProfile}`;
    default:
      return '';
  }
}

function profileFor(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith('localhost/')) return undefined;
  const derived: AppArmorProfile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) };
  return appArmorProblems('', derived).length === 0 ? derived : undefined;
}
