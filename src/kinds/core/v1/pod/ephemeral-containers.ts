/**
 * The `ephemeralcontainers` address of a pod: containers are put into it for a look around, and never taken out.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { forbidden } from '../../../../meta/field-error.js';
import { quote } from '../../../../text/go/go-text.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { copyJson, deepEqual } from '../../../../util/json.js';
import type { WriteContext } from '../../../kind.js';
import type { SubresourceStrategy } from '../../../subresource.js';
import { mirrorKey, NOWHERE } from '../pod-spec/annotations.js';
import { dropDisabledPodFields } from '../pod-spec/gates.js';
import type { PodSpec } from '../pod-spec/pod-spec.js';
import { diffText } from './diff/index.js';
import { keepAllBut } from './keep-live.js';
import type { Pod } from './pod.js';
import { podProblems } from './validate-pod.js';
import { annotationsUpdateProblems, restore } from './validate-update.js';

export const ephemeralContainersSubresource: SubresourceStrategy = Object.freeze({
  verbs: ['get', 'update', 'patch'] as const,
  tables: false,
  prepareForUpdate,
  validateUpdate,
});

function prepareForUpdate(draft: DraftObject, live: ApiObject, { features }: WriteContext): void {
  const asked = draft['spec'] as PodSpec;
  const spec = copyJson(live['spec']) as PodSpec;
  restore(spec, asked, 'ephemeralContainers');
  keepAllBut(draft, live, spec);
  dropDisabledPodFields(spec, live['spec'] as PodSpec, features);
}

function validateUpdate(next: ApiObject, live: ApiObject, context: WriteContext): readonly FieldError[] {
  const [pod, before] = [next as unknown as Pod, live as unknown as Pod];
  if (Object.hasOwn(before.metadata.annotations ?? {}, mirrorKey(context.dialect))) {
    return [forbidden(NOWHERE, 'static pods do not support ephemeral containers')];
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
