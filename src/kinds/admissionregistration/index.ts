/**
 * The admissionregistration group: admission webhooks and admission policies.
 */
import type { Kind } from '../kind.js';
import { MutatingWebhookConfiguration } from './v1/mutating-webhook-configuration.js';
import { ValidatingAdmissionPolicy } from './v1/validating-admission-policy.js';
import { ValidatingAdmissionPolicyBinding } from './v1/validating-admission-policy-binding.js';
import { ValidatingWebhookConfiguration } from './v1/validating-webhook-configuration.js';
import { MutatingAdmissionPolicy } from './v1alpha1/mutating-admission-policy.js';
import { MutatingAdmissionPolicyBinding } from './v1alpha1/mutating-admission-policy-binding.js';
import {
  ValidatingAdmissionPolicyBindingV1beta1,
  ValidatingAdmissionPolicyV1beta1,
} from './v1beta1/validating-admission-policies.js';

export * from './v1/mutating-webhook-configuration.js';
export { ValidatingAdmissionPolicy } from './v1/validating-admission-policy.js';
export * from './v1/validating-admission-policy-binding.js';
export * from './v1/validating-webhook-configuration.js';
export { MutatingAdmissionPolicy } from './v1alpha1/mutating-admission-policy.js';
export * from './v1alpha1/mutating-admission-policy-binding.js';
export * from './v1beta1/validating-admission-policies.js';

/** The kinds of the group, in the order of discovery. */
export const admissionregistrationKinds: readonly Kind[] = [
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
  ValidatingAdmissionPolicyV1beta1,
  ValidatingAdmissionPolicyBindingV1beta1,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
];
