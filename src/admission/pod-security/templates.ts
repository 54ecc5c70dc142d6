/**
 * Where objects keep the pod that they are, or will make.
 */
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ApiObject } from '../../meta/object.js';

export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

/** By canonical group and plural, the fields that lead to the template. Pods are their own. */
const TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['/pods', []],
  ['/podtemplates', ['template']],
  ['/replicationcontrollers', ['spec', 'template']],
  ['apps/replicasets', ['spec', 'template']],
  ['apps/deployments', ['spec', 'template']],
  ['apps/statefulsets', ['spec', 'template']],
  ['apps/daemonsets', ['spec', 'template']],
  ['batch/jobs', ['spec', 'template']],
  ['batch/cronjobs', ['spec', 'jobTemplate', 'spec', 'template']],
]);

function pathOf({ kind }: ServedKind): readonly string[] | undefined {
  return TEMPLATES.get(`${kind.group}/${kind.names.plural}`);
}

export function hasPod(served: ServedKind): boolean {
  return pathOf(served) !== undefined;
}

/** Nothing where the template is left out. */
export function podOf(object: ApiObject, served: ServedKind): PodLike | undefined {
  let value: unknown = object;
  for (const field of pathOf(served) ?? []) value = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
  return value as PodLike | undefined;
}
