/**
 * ValidatingAdmissionPolicy and its binding in v1beta1, with the fields of v1.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { anotherVersion } from '../../define-kind.js';
import type {
  ValidatingAdmissionPolicyBindingKind,
  ValidatingAdmissionPolicyKind,
} from '../../generated/admissionregistration-v1.js';
import type { Lifecycle } from '../../lifecycle.js';
import { OWN_POLICY_TYPES } from '../v1/policy-parts.js';
import { ValidatingAdmissionPolicy } from '../v1/validating-admission-policy.js';
import { ValidatingAdmissionPolicyBinding } from '../v1/validating-admission-policy-binding.js';

const GROUP = serviceGroup('admissionregistration');
/** The reference server's warning names no replacement. */
const lifecycle: Lifecycle = { introducedIn: '1.28', deprecatedIn: '1.31', removedIn: '1.34' };

export const ValidatingAdmissionPolicyV1beta1: ValidatingAdmissionPolicyKind<ValidatingAdmissionPolicy> =
  anotherVersion(ValidatingAdmissionPolicy, {
    apiVersion: `${GROUP}/v1beta1`,
    lifecycle,
    ownTypes: OWN_POLICY_TYPES,
  });

export const ValidatingAdmissionPolicyBindingV1beta1: ValidatingAdmissionPolicyBindingKind<ValidatingAdmissionPolicyBinding> =
  anotherVersion(ValidatingAdmissionPolicyBinding, {
    apiVersion: `${GROUP}/v1beta1`,
    lifecycle,
    ownTypes: OWN_POLICY_TYPES,
  });
