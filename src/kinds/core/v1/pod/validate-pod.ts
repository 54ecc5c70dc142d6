/**
 * What must hold of a pod at any time, beyond what holds of a template.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import type { WriteContext } from '../../../kind.js';
import { mirrorKey, podAnnotationsProblems } from '../pod-spec/annotations.js';
import { podSpecProblems } from '../pod-spec/validate.js';
import { paddedImagesProblems } from '../pod-spec/validate-containers.js';
import { tokenVolumesProblems } from '../pod-spec/validate-volumes.js';
import type { Pod } from './pod.js';

export function podProblems(pod: Pod, { dialect, features }: WriteContext, live?: Pod): FieldError[] {
  const { spec, metadata } = pod;
  const podName = metadata.name ?? '';
  const isStatic = Object.hasOwn(metadata.annotations ?? {}, mirrorKey(dialect));
  return [
    ...podAnnotationsProblems('metadata.annotations', metadata.annotations ?? {}, { spec, dialect }),
    ...podSpecProblems('spec', spec, { dialect, features, podName, isStatic, live: live?.spec }),
    ...(spec.serviceAccountName === undefined ? tokenVolumesProblems('spec.volumes', spec.volumes) : []),
    ...paddedImagesProblems('spec.containers', spec.containers),
    ...paddedImagesProblems('spec.initContainers', spec.initContainers),
  ];
}
