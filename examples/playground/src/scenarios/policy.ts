/**
 * Scenario: a ValidatingAdmissionPolicy that first warns and then rejects.
 */
import type { ObjectRef } from '../session/types.js';
import { expectThat, type Scenario } from './scenario.js';

const POLICY = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: few-replicas
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
  variables:
  - name: replicas
    expression: object.spec.?replicas.orValue(1)
  validations:
  - expression: variables.replicas <= 3
    messageExpression: "'three replicas are enough for ' + object.metadata.name + ', not ' + string(variables.replicas)"
`;

const binding = (action: string): string => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: few-replicas
spec:
  policyName: few-replicas
  validationActions: [${action}]
`;

const BINDING: ObjectRef = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  name: 'few-replicas',
};

const MESSAGE = 'three replicas are enough for';

export const policy: Scenario = {
  id: 'policy',
  title: 'An admission policy',
  summary: 'A ValidatingAdmissionPolicy first does nothing, then warns, then rejects.',
  object: { ...BINDING, kind: 'ValidatingAdmissionPolicy' },
  steps: [
    {
      title: 'A policy without a binding has no effect',
      description:
        'The policy limits the replicas of Deployments. No binding activates it yet, so five replicas are accepted.',
      text: POLICY,
      lines: ['apply -f - --server-side', 'create deployment one --image=nginx:1.29 --replicas=5'],
      async check(context) {
        const isMade =
          context.results.every(({ code }) => code === 0) && (await context.find('deployment/one')) !== undefined;
        return expectThat(isMade, 'the Deployment should be created');
      },
    },
    {
      title: 'A binding that warns',
      description:
        'A binding activates the policy. With the action `Warn` the server accepts the write and sends a warning to the client.',
      text: binding('Warn'),
      object: BINDING,
      lines: ['apply -f - --server-side', 'create deployment two --image=nginx:1.29 --replicas=5'],
      async check(context) {
        const isWarned =
          context.results[1]?.code === 0 &&
          context.results[1].text.includes(`Warning: `) &&
          context.results[1].text.includes(MESSAGE);
        return expectThat(isWarned, 'the Deployment should be created with a warning');
      },
    },
    {
      title: 'A binding that denies',
      description: 'With the action `Deny` the server rejects the same write with the message of the policy.',
      text: binding('Deny'),
      object: BINDING,
      lines: ['apply -f - --server-side', 'create deployment three --image=nginx:1.29 --replicas=5'],
      async check(context) {
        const isDenied = context.results[1]?.code === 1 && context.results[1].text.includes(`${MESSAGE} three, not 5`);
        return expectThat(
          isDenied && (await context.find('deployment/three')) === undefined,
          'the Deployment should be rejected',
        );
      },
    },
    {
      title: 'Existing objects stay',
      description:
        'Policies validate writes, not stored objects. The first Deployment keeps its five replicas, but every update of it is rejected.',
      object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'one' },
      lines: ['get deployments', 'label deployment one checked=yes'],
      async check({ results: [listed, labelled] }) {
        const isKept = listed?.text.includes('one') === true && labelled?.code === 1 && labelled.text.includes(MESSAGE);
        return expectThat(isKept, 'the Deployment should exist, and its update should be rejected');
      },
    },
  ],
};
