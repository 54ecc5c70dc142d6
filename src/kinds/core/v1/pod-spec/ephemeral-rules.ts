/**
 * The rules of a volume for which a claim is made with the pod.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, required } from '../../../../meta/field-error.js';
import { labelErrors } from '../../../../meta/labels.js';
import { dnsSubdomainProblems } from '../../../../meta/names.js';
import type { DraftMeta } from '../../../../meta/object.js';
import { quote } from '../../../../text/go/go-text.js';
import { annotationErrors } from '../../../shared/annotations.js';
import type { ClaimSpecContext } from '../claim-spec-rules.js';
import { claimSpecProblems } from '../claim-spec-rules.js';
import type { EphemeralVolumeSource } from './volume.js';

export function ephemeralProblems(path: string, source: EphemeralVolumeSource, about: ClaimSpecContext): FieldError[] {
  const { volumeClaimTemplate: template } = source;
  const at = childPath(path, 'volumeClaimTemplate');
  if (template === undefined) return [required(at)];
  return [
    ...templateMetaProblems(childPath(at, 'metadata'), template.metadata),
    ...claimSpecProblems(childPath(at, 'spec'), template.spec, about),
  ];
}

/** The name of the claim that is made for a volume. */
export function claimNameFor(podName: string, volumeName: string): string {
  return `${podName}-${volumeName}`;
}

/** The claim's name must be one; what is wrong with it is reported at the name of the volume. */
export function claimNameProblems(path: string, podName: string, volumeName: string): FieldError[] {
  if (podName === '' || volumeName === '') return [];
  const claimName = claimNameFor(podName, volumeName);
  return dnsSubdomainProblems(claimName).map((why) =>
    invalid(path, volumeName, `PVC name ${quote(claimName)}: ${why}`),
  );
}

/** All of metadata but labels and annotations, as messages spell it. */
const NOT_FOR_TEMPLATES: readonly (readonly [field: keyof DraftMeta, spelling: string])[] = [
  ['name', 'name'],
  ['generateName', 'generateName'],
  ['namespace', 'namespace'],
  ['selfLink', 'selfLink'],
  ['uid', 'uID'],
  ['resourceVersion', 'resourceVersion'],
  ['generation', 'generation'],
  ['creationTimestamp', 'creationTimestamp'],
  ['deletionTimestamp', 'deletionTimestamp'],
  ['deletionGracePeriodSeconds', 'deletionGracePeriodSeconds'],
  ['ownerReferences', 'ownerReferences'],
  ['finalizers', 'finalizers'],
  ['managedFields', 'managedFields'],
];

function templateMetaProblems(path: string, metadata: DraftMeta): FieldError[] {
  // An empty creation time is null.
  const given = NOT_FOR_TEMPLATES.filter(([field]) => (metadata[field] ?? null) !== null);
  return [
    ...annotationErrors(metadata.annotations ?? {}, childPath(path, 'annotations')),
    ...labelErrors(metadata.labels ?? {}, childPath(path, 'labels')),
    ...given.map(([, spelling]) => forbidden(childPath(path, spelling), 'cannot be set')),
  ];
}
