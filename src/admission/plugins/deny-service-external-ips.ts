/**
 * The DenyServiceExternalIPs plugin: rejects new external IPs; existing ones may stay.
 */
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { ApiObject } from '../../meta/object.js';
import type { AdmissionRequest } from '../types.js';
import { builtIn, forbiddenError, isRequestFor, kindsOf } from './requests.js';

export const denyServiceExternalIPs = /* @__PURE__ */ builtIn('DenyServiceExternalIPs', {
  handlesKind: kindsOf(['', 'services']),
  validate,
});

function validate(request: AdmissionRequest): void {
  if (!isRequestFor(request, '', 'services') || request.object === undefined) return;
  const present = new Set(addressesOf(request.oldObject));
  if (addressesOf(request.object).every((address) => present.has(address))) return;
  throw forbiddenError(request, 'Use of external IPs is denied by admission control');
}

function addressesOf(object: ApiObject | undefined): readonly string[] {
  return (object?.['spec'] as Service['spec'] | undefined)?.externalIPs ?? [];
}
