/**
 * Scenario: a rollout of a Deployment, one that never becomes ready, and a rollback. Controllers do all of it.
 */
import { listAt, numberAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario } from './scenario.js';

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3
  selector:
    matchLabels: { app: web }
  template:
    metadata:
      labels: { app: web }
    spec:
      containers:
      - name: web
        image: nginx:1.28
        ports: [{ containerPort: 80 }]
        readinessProbe:
          httpGet: { port: 80 }
          periodSeconds: 2
---
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: { app: web }
  ports: [{ port: 80 }]
`;

const image = (object: unknown): string => textAt(object, 'spec', 'template', 'spec', 'containers', 0, 'image');

export const rollout: Scenario = {
  id: 'rollout',
  title: 'A rollout and a rollback',
  summary: 'Controllers replace the pods of a Deployment a few at a time; a broken update stops automatically.',
  object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
  steps: [
    {
      title: 'Three replicas',
      description:
        'The Deployment creates a ReplicaSet, which creates three pods. A pod is ready when its program answers the readiness probe.',
      text: WEB,
      lines: ['apply -f - --server-side', 'rollout status deployment/web', 'get pods'],
      async check(context) {
        const found = await context.find('deployment/web');
        return expectThat(numberAt(found, 'status', 'readyReplicas') === 3, 'three replicas should be ready');
      },
    },
    {
      title: 'Another image',
      description:
        'A second ReplicaSet grows while the first shrinks. `rollout status` waits until the last old pod is deleted.',
      lines: ['set image deployment/web web=nginx:1.29', 'rollout status deployment/web', 'get replicasets'],
      async check(context) {
        const found = await context.find('deployment/web');
        const isDone =
          numberAt(found, 'status', 'updatedReplicas') === 3 && numberAt(found, 'status', 'replicas') === 3;
        return expectThat(
          isDone && image(found) === 'nginx:1.29',
          'three replicas of nginx:1.29 should exist, and no others',
        );
      },
    },
    {
      title: 'An update that is never ready',
      description:
        'In this page, images with the tag `broken` answer every request with an error. The probe fails, and the rollout waits.',
      lines: ['set image deployment/web web=nginx:broken'],
      async check(context) {
        const found = await context.find('deployment/web');
        const pods = listAt(await context.find('pods -l app=web'), 'items');
        const isStuck = pods.some(
          (pod) =>
            textAt(pod, 'spec', 'containers', 0, 'image') === 'nginx:broken' &&
            textAt(pod, 'status', 'phase') === 'Running',
        );
        return expectThat(
          isStuck && numberAt(found, 'status', 'availableReplicas') >= 2,
          'a new pod should run, and the old ones should be available',
        );
      },
    },
    {
      title: 'The Service still works',
      description:
        'A Service sends requests to ready pods only, so no request reaches the broken version. An Event says why it is not ready.',
      lines: [
        'rollout status deployment/web --watch=false',
        'get pods',
        'exec deployment/web -- wget -qO- http://web',
        'events --types=Warning',
      ],
      async check({ results: [, , request, events] }) {
        const isServed = request?.code === 0 && request.text.includes('nginx:1.29');
        return expectThat(
          isServed && events?.text.includes('Readiness probe failed') === true,
          'nginx:1.29 should answer, and the readiness probe of the new pod should have failed',
        );
      },
    },
    {
      title: 'Roll back',
      description: 'The ReplicaSets are the revisions. `rollout undo` restores the template of the previous one.',
      lines: [
        'rollout history deployment/web',
        'rollout undo deployment/web',
        'rollout status deployment/web',
        'get pods',
      ],
      async check(context) {
        const found = await context.find('deployment/web');
        const isBack = image(found) === 'nginx:1.29' && numberAt(found, 'status', 'availableReplicas') === 3;
        return expectThat(
          isBack && numberAt(found, 'status', 'updatedReplicas') === 3,
          'three replicas of the previous revision should be available',
        );
      },
    },
  ],
};
