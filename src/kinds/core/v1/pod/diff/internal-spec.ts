/**
 * A pod's spec in the reference server's own arrangement: what the host shares is a part of the security context.
 */
import type { PodSpec } from '../../pod-spec/pod-spec.js';

export function internalSpec(spec: PodSpec): object {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers, securityContext } = spec;
  const shared = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  return { ...spec, securityContext: { ...securityContext, ...shared } };
}
