/**
 * The policies and bindings of v1 under their old version: the same objects, and a warning to move on.
 */
import type { Dialect } from '../../../meta/dialect.js';
import { serviceGroup } from '../../../meta/dialect.js';
import { anotherVersion } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import type { ValidatingAdmissionPolicyInput } from '../v1/validating-admission-policy.js';
import { ValidatingAdmissionPolicy } from '../v1/validating-admission-policy.js';
import type { ValidatingAdmissionPolicyBindingInput } from '../v1/validating-admission-policy-binding.js';
import { ValidatingAdmissionPolicyBinding } from '../v1/validating-admission-policy-binding.js';

const GROUP = serviceGroup('admissionregistration');

export const ValidatingAdmissionPolicyV1beta1: Kind<
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyInput,
  'Cluster',
  'status'
> = anotherVersion(ValidatingAdmissionPolicy, {
  apiVersion: `${GROUP}/v1beta1`,
  deprecation: moveOn('ValidatingAdmissionPolicy'),
});

export const ValidatingAdmissionPolicyBindingV1beta1: Kind<
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingInput,
  'Cluster',
  never
> = anotherVersion(ValidatingAdmissionPolicyBinding, {
  apiVersion: `${GROUP}/v1beta1`,
  deprecation: moveOn('ValidatingAdmissionPolicyBinding'),
});

function moveOn(kind: string): (dialect: Dialect) => string {
  return (dialect) => `${dialect.group(GROUP)}/v1beta1 ${kind} is deprecated in v1.31+, unavailable in v1.34+`;
}
