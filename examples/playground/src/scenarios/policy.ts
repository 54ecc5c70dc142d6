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
  title: 'A policy for everybody',
  summary: 'A ValidatingAdmissionPolicy first does nothing, then warns, then refuses.',
  about: { ...BINDING, kind: 'ValidatingAdmissionPolicy' },
  steps: [
    {
      title: 'A policy alone does nothing',
      prose: 'The policy says what is to hold for Deployments. Nothing binds it yet, so five replicas are fine.',
      text: POLICY,
      lines: ['apply -f - --server-side', 'create deployment one --image=nginx:1.29 --replicas=5'],
      async check(world) {
        const isMade = world.ran.every(({ code }) => code === 0) && (await world.find('deployment/one')) !== undefined;
        return expectThat(isMade, 'the Deployment should be made');
      },
    },
    {
      title: 'Bound to warn',
      prose: 'A binding puts it to work. With the action `Warn` the write goes through, and whoever sent it is told.',
      text: binding('Warn'),
      about: BINDING,
      lines: ['apply -f - --server-side', 'create deployment two --image=nginx:1.29 --replicas=5'],
      async check(world) {
        const isWarned =
          world.ran[1]?.code === 0 && world.ran[1].text.includes(`Warning: `) && world.ran[1].text.includes(MESSAGE);
        return expectThat(isWarned, 'the Deployment should be made with a warning');
      },
    },
    {
      title: 'Bound to deny',
      prose: 'With the action `Deny` the same write is refused, in the words of the policy.',
      text: binding('Deny'),
      about: BINDING,
      lines: ['apply -f - --server-side', 'create deployment three --image=nginx:1.29 --replicas=5'],
      async check(world) {
        const isDenied = world.ran[1]?.code === 1 && world.ran[1].text.includes(`${MESSAGE} three, not 5`);
        return expectThat(
          isDenied && (await world.find('deployment/three')) === undefined,
          'the Deployment should be refused',
        );
      },
    },
    {
      title: 'What is there stays',
      prose:
        'Policies judge writes, not what is there. The first Deployment keeps its five replicas, until somebody changes it.',
      about: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'one' },
      lines: ['get deployments', 'label deployment one checked=yes'],
      async check({ ran: [listed, labelled] }) {
        const isKept = listed?.text.includes('one') === true && labelled?.code === 1 && labelled.text.includes(MESSAGE);
        return expectThat(isKept, 'the Deployment should be there, and a change of it refused');
      },
    },
  ],
};
