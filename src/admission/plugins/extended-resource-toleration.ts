/**
 * Nodes with special devices are tainted by their names; a pod that asks for a device may go there.
 */
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import { isExtendedResource } from '../../kinds/shared/resources.js';
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf } from './match.js';

export const extendedResourceToleration: AdmissionPlugin = Object.freeze({
  name: 'ExtendedResourceToleration',
  looksAt: kindsOf(['', 'pods']),
  isBuiltIn: true,
  mutate,
});

function mutate(request: AdmissionRequest<DraftObject>, { dialect }: ClusterView): void {
  if (!isFor(request, '', 'pods') || request.object === undefined) return;
  const spec = request.object['spec'] as PodSpec;
  const names = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources.requests ?? {}).filter((name) => isExtendedResource(name, { dialect })),
  );
  for (const name of [...new Set(names)].sort()) tolerate(spec, name);
}

type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Changes the spec. One that differs only in its seconds is replaced. */
function tolerate(spec: PodSpec, key: string): void {
  const wanted: Toleration = { key, operator: 'Exists', effect: 'NoSchedule' };
  const present = spec.tolerations ?? [];
  const isWanted = ({ value = '', ...given }: Toleration): boolean =>
    given.key === key && given.operator === 'Exists' && given.effect === 'NoSchedule' && value === '';
  spec.tolerations = present.some(isWanted)
    ? present.map((toleration) => (isWanted(toleration) ? wanted : toleration))
    : [...present, wanted];
}
