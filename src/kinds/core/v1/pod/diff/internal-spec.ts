/** Converts pod specs to the form of the reference server's internal type. */
import { copySentEmpty } from '../../../../../schema/empty-values.js';
import type { PodSpec } from '../../../../generated/core-v1.js';

/** The spec with the host fields in the security context, where the internal type has them. */
export function internalSpec(spec: PodSpec): object {
  const { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers, securityContext } = spec;
  const shared = { hostNetwork, hostPID, hostIPC, shareProcessNamespace, hostUsers };
  const internal = { ...spec, securityContext: { ...securityContext, ...shared } };
  copySentEmpty(spec, internal);
  if (securityContext !== undefined) copySentEmpty(securityContext, internal.securityContext);
  return internal;
}
