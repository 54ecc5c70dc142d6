/**
 * Scenario: a rollout of a Deployment, one that fails, and a rollback. Controllers do all of it.
 */
import { at, listAt, numberAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario } from './scenario.js';

const image = (object: unknown): string => textAt(object, 'spec', 'template', 'spec', 'containers', 0, 'image');
const CRASH = '{"spec":{"template":{"metadata":{"labels":{"playground/crash":"true"}}}}}';

export const rollout: Scenario = {
  id: 'rollout',
  title: 'A rollout, and back',
  summary: 'Controllers replace the pods of a Deployment a few at a time; a broken update stops by itself.',
  about: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
  steps: [
    {
      title: 'Three replicas',
      prose:
        'The Deployment makes a ReplicaSet, that makes three pods, and they become ready one by one. Nobody but controllers does that.',
      lines: ['create deployment web --image=nginx:1.28 --replicas=3', 'rollout status deployment/web', 'get pods'],
      async check(world) {
        const found = await world.find('deployment/web');
        return expectThat(numberAt(found, 'status', 'readyReplicas') === 3, 'three replicas should be ready');
      },
    },
    {
      title: 'Another image',
      prose:
        'A second ReplicaSet grows while the first shrinks. `rollout status` follows until the last old pod has gone.',
      lines: ['set image deployment/web nginx=nginx:1.29', 'rollout status deployment/web', 'get replicasets'],
      async check(world) {
        const found = await world.find('deployment/web');
        const isDone =
          numberAt(found, 'status', 'updatedReplicas') === 3 && numberAt(found, 'status', 'replicas') === 3;
        return expectThat(
          isDone && image(found) === 'nginx:1.29',
          'three replicas of nginx:1.29 should be there, and no others',
        );
      },
    },
    {
      title: 'An update that crashes',
      prose:
        'Pods with the label `playground/crash` crash in this page. The rollout waits for the first of them; enough old pods keep running.',
      lines: [`patch deployment web -p '${CRASH}'`, 'rollout status deployment/web --watch=false'],
      async check(world) {
        const found = await world.find('deployment/web');
        const pods = listAt(await world.find('pods -l playground/crash=true'), 'items');
        const isStuck = pods.length > 0 && numberAt(found, 'status', 'updatedReplicas') < 3;
        return expectThat(
          isStuck && numberAt(found, 'status', 'availableReplicas') >= 2,
          'the rollout should stand still',
        );
      },
    },
    {
      title: 'And back',
      prose: 'The revisions are still there, as ReplicaSets. `rollout undo` puts the last good template back.',
      lines: [
        'rollout history deployment/web',
        'rollout undo deployment/web',
        'rollout status deployment/web',
        'get pods',
      ],
      async check(world) {
        const found = await world.find('deployment/web');
        const labels = at(found, 'spec', 'template', 'metadata', 'labels', 'playground/crash');
        const isBack = labels === undefined && numberAt(found, 'status', 'availableReplicas') === 3;
        return expectThat(
          isBack && numberAt(found, 'status', 'updatedReplicas') === 3,
          'three good replicas should be there',
        );
      },
    },
  ],
};
