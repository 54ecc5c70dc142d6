/**
 * Pod: containers that run together on one node. spec: Pod
 */

import type { FieldError } from '../../../../meta/field-error.js';
import { forbidden } from '../../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { always } from '../../../../schema/hints.js';
import type { Input, Output } from '../../../../schema/type.js';
import { quote } from '../../../../text/go/go-text.js';
import { copyJson, deepEqual } from '../../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../../define-kind.js';
import type { Kind, WriteContext } from '../../../kind.js';
import type { SubresourceStrategy } from '../../../subresource.js';
import { podConnections } from '../connect-subresources.js';
import { EMPTY_PATH, mirrorKey } from '../pod-spec/annotations.js';
import { dropDisabledPodFields } from '../pod-spec/gates.js';
import type { PodSpec } from '../pod-spec/pod-spec.js';
import { podSpec } from '../pod-spec/pod-spec.js';
import { Binding, bindPod } from './binding.js';
import { podColumns, podRowConditions } from './columns.js';
import { diffText } from './diff/diff.js';
import { Eviction, evictPod } from './eviction.js';
import { keepLiveExceptSpec, resizeSubresource } from './spec-subresources.js';
import { podStatus } from './status.js';
import { podStatusSubresource } from './status-rules.js';
import { podStrategy } from './strategy.js';
import { annotationsUpdateProblems, podProblems, restore } from './validate.js';

const ephemeralContainersSubresource: SubresourceStrategy = Object.freeze({
  verbs: ['get', 'update', 'patch'] as const,
  tables: false,
  prepare: prepareForUpdate,
  validate: validateUpdate,
});

const shape = () => ({ spec: always(podSpec()), status: always(podStatus()) });
export interface Pod extends ObjectBase, Output<typeof shape> {}
export interface PodInput extends InputBase, Input<typeof shape> {}

export const Pod: Kind<
  Pod,
  PodInput,
  'Namespaced',
  'binding' | 'ephemeralcontainers' | 'eviction' | 'resize' | 'status'
> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'Pod',
  scope: 'Namespaced',
  names: { shortNames: ['po'], categories: ['all'] },
  body: shape,
  strategy: podStrategy,
  columns: podColumns,
  rowConditions: podRowConditions,
  connectSubresources: podConnections,
  subresources: {
    binding: { type: 'action', verbs: ['create'], kind: Binding, run: bindPod },
    ephemeralcontainers: ephemeralContainersSubresource,
    eviction: { type: 'action', verbs: ['create'], kind: Eviction, alsoAccepts: ['policy/v1beta1'], run: evictPod },
    resize: resizeSubresource,
    status: podStatusSubresource,
  },
});

function prepareForUpdate(draft: DraftObject, live: ApiObject, { features }: WriteContext): void {
  const asked = draft['spec'] as PodSpec;
  const spec = copyJson(live['spec']) as PodSpec;
  restore(spec, asked, 'ephemeralContainers');
  keepLiveExceptSpec(draft, live, spec);
  dropDisabledPodFields(spec, live['spec'] as PodSpec, features);
}

function validateUpdate(next: ApiObject, live: ApiObject, context: WriteContext): readonly FieldError[] {
  const [pod, before] = [next as unknown as Pod, live as unknown as Pod];
  if (Object.hasOwn(before.metadata.annotations ?? {}, mirrorKey(context.dialect))) {
    return [forbidden(EMPTY_PATH, 'static pods do not support ephemeral containers')];
  }
  const path = 'spec.ephemeralContainers';
  const now = new Map((pod.spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  const changes = (before.spec.ephemeralContainers ?? []).flatMap((container) => {
    const next = now.get(container.name);
    const which = `existing ephemeral containers ${quote(container.name)} may not be`;
    if (next === undefined) return [forbidden(path, `${which} removed\n`)];
    if (deepEqual(next, container)) return [];
    return [forbidden(path, `${which} changed\n${diffText('EphemeralContainer', container, next)}`)];
  });
  return [...podProblems(pod, context, before), ...annotationsUpdateProblems(pod, before, context), ...changes];
}
