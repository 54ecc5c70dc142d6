/**
 * Scenario: a rollout of a Deployment, one that fails, and a rollback. Controllers do all of it.
 */
import { at, listAt, numberAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario } from './scenario.js';

const image = (object: unknown): string => textAt(object, 'spec', 'template', 'spec', 'containers', 0, 'image');
const CRASH = '{"spec":{"template":{"metadata":{"labels":{"playground/crash":"true"}}}}}';

export const rollout: Scenario = {
  id: 'rollout',
  title: 'A rollout and a rollback',
  summary: 'Controllers replace the pods of a Deployment a few at a time; a broken update stops automatically.',
  object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
  steps: [
    {
      title: 'Three replicas',
      description:
        'The Deployment controller creates a ReplicaSet, the ReplicaSet controller creates three pods, and the pods become ready.',
      lines: ['create deployment web --image=nginx:1.28 --replicas=3', 'rollout status deployment/web', 'get pods'],
      async check(context) {
        const found = await context.find('deployment/web');
        return expectThat(numberAt(found, 'status', 'readyReplicas') === 3, 'three replicas should be ready');
      },
    },
    {
      title: 'Another image',
      description:
        'A second ReplicaSet grows while the first shrinks. `rollout status` waits until the last old pod is deleted.',
      lines: ['set image deployment/web nginx=nginx:1.29', 'rollout status deployment/web', 'get replicasets'],
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
      title: 'An update that crashes',
      description:
        'Pods with the label `playground/crash` crash in this page. The rollout waits for the first new pod, and the old pods keep running.',
      lines: [`patch deployment web -p '${CRASH}'`, 'rollout status deployment/web --watch=false'],
      async check(context) {
        const found = await context.find('deployment/web');
        const pods = listAt(await context.find('pods -l playground/crash=true'), 'items');
        const isStuck = pods.length > 0 && numberAt(found, 'status', 'updatedReplicas') < 3;
        return expectThat(
          isStuck && numberAt(found, 'status', 'availableReplicas') >= 2,
          'the rollout should not progress',
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
        const labels = at(found, 'spec', 'template', 'metadata', 'labels', 'playground/crash');
        const isBack = labels === undefined && numberAt(found, 'status', 'availableReplicas') === 3;
        return expectThat(
          isBack && numberAt(found, 'status', 'updatedReplicas') === 3,
          'three replicas of the previous revision should be available',
        );
      },
    },
  ],
};
