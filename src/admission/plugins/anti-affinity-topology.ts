/**
 * A pod may keep others off its own node, but not off a whole zone.
 */
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import { errors } from '../../meta/errors.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf } from './match.js';

export const limitPodHardAntiAffinityTopology: AdmissionPlugin = Object.freeze({
  name: 'LimitPodHardAntiAffinityTopology',
  looksAt: kindsOf(['', 'pods']),
  isBuiltIn: true,
  validate,
});

function validate(request: AdmissionRequest, { dialect }: ClusterView): void {
  if (!isFor(request, '', 'pods') || request.object === undefined) return;
  const { affinity } = request.object['spec'] as PodSpec;
  const allowed = dialect.key('hostname');
  const terms = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const other = terms.find(({ topologyKey }) => topologyKey !== allowed);
  if (other === undefined) return;
  throw errors.forbidden(
    request.served.groupResource,
    request.object.metadata.name,
    `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key ${allowed} is allowed`,
  );
}
