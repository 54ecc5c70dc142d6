/**
 * Warnings about deprecated annotations, labels, policies and sources of persistent volumes.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, keyPath } from '../../../../meta/field-error.js';
import type { ApiObject } from '../../../../meta/object.js';
import type { PersistentVolumeSource, PersistentVolumeSpec } from '../../../generated/core-v1.js';
import { expressionWarnings } from '../../../shared/deprecated-node-labels.js';

/** The deprecated annotation for the storage class of a volume or claim. */
export function classAnnotation(dialect: Dialect): string {
  return dialect.subkey('volume.beta', 'storage-class');
}

/** Warns about the deprecated storage class annotation. */
export function classAnnotationWarnings({ metadata }: ApiObject, dialect: Dialect): string[] {
  const annotation = classAnnotation(dialect);
  if (!Object.hasOwn(metadata.annotations ?? {}, annotation)) return [];
  const path = keyPath('metadata.annotations', annotation);
  return [`${path}: deprecated since v1.8; use "storageClassName" attribute instead`];
}

/** The deprecated annotation for mount options. */
export function mountOptionsAnnotation(dialect: Dialect): string {
  return dialect.subkey('volume.beta', 'mount-options');
}

function mountOptionsWarnings({ metadata }: ApiObject, dialect: Dialect): string[] {
  const annotation = mountOptionsAnnotation(dialect);
  if (!Object.hasOwn(metadata.annotations ?? {}, annotation)) return [];
  const path = keyPath('metadata.annotations', annotation);
  return [`${path}: deprecated since v1.31; use "mountOptions" attribute instead`];
}

/** Deprecated sources with their paths in warnings. */
const DEPRECATED_SOURCES: readonly (readonly [
  source: keyof PersistentVolumeSource,
  path: string,
  deprecation: string,
])[] = [
  ['cephfs', 'spec.cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'spec.photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'spec.scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'spec.storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'spec.glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'spec.rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** Warnings about a PersistentVolume. */
export function volumeWarnings(object: ApiObject, dialect: Dialect): string[] {
  const spec = object['spec'] as PersistentVolumeSpec;
  const recycled =
    spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [
          'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
        ]
      : [];
  return [
    ...classAnnotationWarnings(object, dialect),
    ...mountOptionsWarnings(object, dialect),
    ...recycled,
    ...labelWarnings(spec, dialect),
    ...DEPRECATED_SOURCES.filter(([source]) => spec[source] !== undefined).map(
      ([, path, deprecation]) => `${path}: ${deprecation}`,
    ),
  ];
}

function labelWarnings({ nodeAffinity }: PersistentVolumeSpec, dialect: Dialect): string[] {
  return (nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term, index) => {
    const path = keyPath('spec.nodeAffinity.required.nodeSelectorTerms', index);
    return expressionWarnings(childPath(path, 'matchExpressions'), term.matchExpressions ?? [], dialect);
  });
}
