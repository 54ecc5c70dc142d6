/**
 * Validation of volume sources that are local to the node or provided by other objects: emptyDir, hostPath, gitRepo,
 * images, CSI drivers, claims, ephemeral claims. Each function takes the path of the source.
 */

import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, required, tooLong } from '../../../../meta/field-error.js';
import { byteLength, dnsSubdomainProblems } from '../../../../meta/names.js';
import { Quantity } from '../../../../meta/quantity.js';
import { quote } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import type {
  CSIVolumeSource,
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  GitRepoVolumeSource,
  HostPathVolumeSource,
  ImageVolumeSource,
  PersistentVolumeClaimVolumeSource,
} from '../../../generated/core-v1.js';
import { templateMetaProblems } from '../../../shared/annotations.js';
import { valueErrors } from '../../../shared/field-rules.js';
import { type ClaimSpecContext, claimSpecProblems } from '../claim-spec-rules.js';
import { descendingPathProblems, noBackstepsProblems, requiredProblems } from './volume-paths.js';

export function emptyDirProblems(path: string, { sizeLimit }: EmptyDirVolumeSource): FieldError[] {
  if (sizeLimit === undefined || Quantity.parse(sizeLimit).sign() >= 0) return [];
  return [forbidden(childPath(path, 'sizeLimit'), 'SizeLimit field must be a valid resource quantity')];
}

const HOST_PATH_TYPES: readonly string[] = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function hostPathProblems(path: string, { path: hostPath, type }: HostPathVolumeSource): FieldError[] {
  const at = childPath(path, 'path');
  if (hostPath === '') return [required(at)];
  const found = noBackstepsProblems(at, hostPath);
  append(found, valueErrors(childPath(path, 'type'), type, HOST_PATH_TYPES));
  return found;
}

export function gitRepoProblems(path: string, { repository, directory = '' }: GitRepoVolumeSource): FieldError[] {
  return [
    ...requiredProblems(path, { repository }),
    ...descendingPathProblems(childPath(path, 'directory'), directory),
  ];
}

export function claimProblems(path: string, { claimName }: PersistentVolumeClaimVolumeSource): FieldError[] {
  return requiredProblems(path, { claimName });
}

const MAX_DRIVER_NAME = 63;

/** Validates the name of a CSI driver, in lower case. */
export function driverNameProblems(path: string, driver: string): FieldError[] {
  return [
    ...(driver === '' ? [required(path)] : []),
    ...(byteLength(driver) > MAX_DRIVER_NAME ? [tooLong(path, MAX_DRIVER_NAME)] : []),
    ...dnsSubdomainProblems(driver.toLowerCase()).map((problem) => invalid(path, driver, problem)),
  ];
}

export function csiProblems(path: string, { driver, nodePublishSecretRef }: CSIVolumeSource): FieldError[] {
  const found = driverNameProblems(childPath(path, 'driver'), driver);
  if (nodePublishSecretRef === undefined) return found;
  const { name = '' } = nodePublishSecretRef;
  if (name === '') return [...found, required(childPath(path, 'nodePublishSecretRef.name'))];
  // As in the reference server, the path is `name` instead of `nodePublishSecretRef.name`.
  return [...found, ...dnsSubdomainProblems(name).map((problem) => invalid(childPath(path, 'name'), name, problem))];
}

const PULL_POLICIES: readonly string[] = ['Always', 'IfNotPresent', 'Never'];

/** The image reference is required in pods and optional in templates. */
export function imageProblems(
  path: string,
  { reference, pullPolicy }: ImageVolumeSource,
  { inPod }: { readonly inPod: boolean },
): FieldError[] {
  const at = childPath(path, 'pullPolicy');
  const found = inPod ? requiredProblems(path, { reference }) : [];
  if (pullPolicy === undefined) found.push(required(at));
  else append(found, valueErrors(at, pullPolicy, PULL_POLICIES));
  return found;
}

/** Validates the claim template of an ephemeral volume. */
export function ephemeralProblems(
  path: string,
  source: EphemeralVolumeSource,
  context: ClaimSpecContext,
): FieldError[] {
  const { volumeClaimTemplate: template } = source;
  const at = childPath(path, 'volumeClaimTemplate');
  if (template === undefined) return [required(at)];
  return [
    ...templateMetaProblems(childPath(at, 'metadata'), template.metadata),
    ...claimSpecProblems(childPath(at, 'spec'), template.spec, context),
  ];
}

/** The name of the claim that is created for an ephemeral volume. */
export function claimNameFor(podName: string, volumeName: string): string {
  return `${podName}-${volumeName}`;
}

/** Validates the name of the claim that will be created. Errors are reported at the name of the volume. */
export function claimNameProblems(path: string, podName: string, volumeName: string): FieldError[] {
  if (podName === '' || volumeName === '') return [];
  const claimName = claimNameFor(podName, volumeName);
  return dnsSubdomainProblems(claimName).map((problem) =>
    invalid(path, volumeName, `PVC name ${quote(claimName)}: ${problem}`),
  );
}
