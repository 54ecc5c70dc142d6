/**
 * Scenario: an admission webhook whose program runs in the page.
 */
import { listAt, numberAt, textAt } from '../command-line/json.js';
import type { ObjectRef } from '../session/types.js';
import { expectThat, type Scenario } from './scenario.js';

const PROGRAM = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: policy
spec:
  selector:
    matchLabels: { app: policy }
  template:
    metadata:
      labels: { app: policy }
    spec:
      containers:
      - name: policy
        image: playground/webhook
        env:
        - name: REQUIRED_LABEL
          value: team
---
apiVersion: v1
kind: Service
metadata:
  name: policy
spec:
  selector: { app: policy }
  ports: [{ port: 443, targetPort: 8443 }]
`;

const CONFIGURATION = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: policy
webhooks:
- name: policy.example.com
  clientConfig:
    service: { namespace: default, name: policy }
  rules:
  - apiGroups: ['']
    apiVersions: [v1]
    operations: [CREATE, UPDATE]
    resources: [configmaps]
  namespaceSelector:
    matchLabels: { kubernetes.io/metadata.name: default }
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
`;

const LABELLED = `apiVersion: v1
kind: ConfigMap
metadata:
  name: sizes
  labels:
    team: shop
data:
  size: m
`;

const WEBHOOK: ObjectRef = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  name: 'policy',
};

export const webhook: Scenario = {
  id: 'webhook',
  title: 'A webhook that runs in the page',
  summary: 'The API server asks a program in a pod about every ConfigMap; the program rejects one.',
  object: WEBHOOK,
  steps: [
    {
      title: 'A program behind a Service',
      description:
        'A webhook is an HTTP server. This one is a program in a pod of this page; it requires the label `team`.',
      text: PROGRAM,
      object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'policy' },
      lines: ['apply -f - --server-side', 'rollout status deployment/policy', 'logs deployment/policy'],
      async check(context) {
        const found = await context.find('deployment/policy');
        return expectThat(numberAt(found, 'status', 'readyReplicas') === 1, 'the program should run');
      },
    },
    {
      title: 'A rejected object',
      description:
        'A ValidatingWebhookConfiguration makes the API server ask the Service `policy` about ConfigMaps. One without the label is rejected.',
      text: CONFIGURATION,
      lines: ['apply -f - --server-side', 'create configmap sizes --from-literal=size=m'],
      async check({ results: [, created] }) {
        const isDenied =
          created?.code === 1 && created.text.includes('denied the request: the label "team" is missing');
        return expectThat(isDenied, 'the webhook should deny the ConfigMap');
      },
    },
    {
      title: 'An accepted object',
      description: 'The same ConfigMap with the label is stored. The log of the program shows both decisions.',
      text: LABELLED,
      object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'sizes' },
      lines: ['apply -f - --server-side', 'logs deployment/policy'],
      async check(context) {
        const isStored = (await context.find('configmap/sizes')) !== undefined;
        const log = context.results[1]?.text ?? '';
        return expectThat(isStored && /denied[\s\S]*allowed/.test(log), 'the log should have both decisions');
      },
    },
    {
      title: 'The program is gone',
      description:
        'Without pods the webhook cannot answer. With `failurePolicy: Fail` the API server then rejects every ConfigMap.',
      lines: [
        'scale deployment policy --replicas=0',
        'wait pods -l app=policy --for=delete --timeout=60s',
        'create configmap more --from-literal=size=l',
      ],
      async check({ results }) {
        const created = results.at(-1);
        const isRefused = created?.code === 1 && created.text.includes('failed calling webhook');
        return expectThat(isRefused, 'the ConfigMap should be rejected, because the webhook does not answer');
      },
    },
    {
      title: 'Ignore failures',
      description:
        'With `failurePolicy: Ignore` the API server accepts what it cannot ask about, also without the label.',
      lines: [
        `patch validatingwebhookconfiguration policy --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'`,
        'create configmap more --from-literal=size=l',
      ],
      async check(context) {
        const [policy] = listAt(await context.find('validatingwebhookconfiguration/policy'), 'webhooks');
        const isStored = (await context.find('configmap/more')) !== undefined;
        return expectThat(
          isStored && textAt(policy, 'failurePolicy') === 'Ignore',
          'the ConfigMap should be stored without an answer of the webhook',
        );
      },
    },
  ],
};
