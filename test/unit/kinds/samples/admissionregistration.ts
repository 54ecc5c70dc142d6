/** Samples of admission policies, bindings and webhook configurations. */
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingV1beta1,
  ValidatingAdmissionPolicyV1beta1,
  ValidatingWebhookConfiguration,
} from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];
const COMMON = { deletedAtOnce: true, unconditionalUpdate: false, createOnUpdate: false } as const;
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const policy = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] };
const policies = {
  body: { spec: policy },
  change: { spec: { ...policy, failurePolicy: 'Ignore' } },
  wireOrder: [...TYPE, 'spec', 'status'],
  ...COMMON,
};
const binding = { policyName: 'p', validationActions: ['Deny'] };
const bindings = {
  body: { spec: binding },
  change: { spec: { ...binding, validationActions: ['Warn'] } },
  wireOrder: [...TYPE, 'spec'],
  ...COMMON,
};
const webhooks = {
  body: {},
  change: {
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: { url: 'https://h/x' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  },
  wireOrder: [...TYPE, 'webhooks'],
  ...COMMON,
};
const mutation = { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data"}]' } };
const mutating = {
  matchConstraints: { resourceRules: [rule] },
  mutations: [mutation],
  reinvocationPolicy: 'Never',
};

export const samples: readonly KindSample[] = [
  { kind: ValidatingAdmissionPolicy, ...policies },
  { kind: ValidatingAdmissionPolicyV1beta1, ...policies },
  { kind: ValidatingAdmissionPolicyBinding, ...bindings },
  { kind: ValidatingAdmissionPolicyBindingV1beta1, ...bindings },
  { kind: ValidatingWebhookConfiguration, ...webhooks },
  { kind: MutatingWebhookConfiguration, ...webhooks },
  {
    kind: MutatingAdmissionPolicy,
    body: { spec: mutating },
    change: { spec: { ...mutating, reinvocationPolicy: 'IfNeeded' } },
    wireOrder: [...TYPE, 'spec'],
    ...COMMON,
  },
  {
    kind: MutatingAdmissionPolicyBinding,
    body: { spec: { policyName: 'p' } },
    change: { spec: { policyName: 'q' } },
    wireOrder: [...TYPE, 'spec'],
    ...COMMON,
  },
];
