/**
 * Scenario: two field managers set the same field to different values.
 */
import { at, listAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario, type World } from './scenario.js';

const web = (replicas?: number): string => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:${replicas === undefined ? '' : `\n  replicas: ${replicas}`}
  selector:
    matchLabels: { app: web }
  template:
    metadata:
      labels: { app: web }
    spec:
      containers:
      - name: web
        image: nginx:1.29
`;

const FIVE = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 5
`;

/** The managers that own `spec.replicas` by apply. */
async function holders(world: World): Promise<readonly string[]> {
  const deployment = await world.find('deployment/web');
  return listAt(deployment, 'metadata', 'managedFields')
    .filter((entry) => textAt(entry, 'operation') === 'Apply')
    .filter((entry) => at(entry, 'fieldsV1', 'f:spec', 'f:replicas') !== undefined)
    .map((entry) => textAt(entry, 'manager'));
}

async function replicas(world: World): Promise<unknown> {
  return at(await world.find('deployment/web'), 'spec', 'replicas');
}

export const twoManagers: Scenario = {
  id: 'two-managers',
  title: 'Two managers, one field',
  summary: 'CI and an autoscaler both want to say how many replicas there are.',
  about: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
  steps: [
    {
      title: 'CI applies a Deployment',
      prose:
        'The manager `ci` applies a Deployment with two replicas. From now on it holds every field that it has named.',
      text: web(2),
      lines: ['apply -f - --server-side --field-manager=ci'],
      async check(world) {
        return expectThat((await holders(world)).join() === 'ci', 'ci should hold .spec.replicas');
      },
    },
    {
      title: 'The autoscaler is refused',
      prose:
        'The manager `autoscaler` applies five replicas. The field is taken: the server refuses and names who holds it.',
      text: FIVE,
      lines: ['apply -f - --server-side --field-manager=autoscaler'],
      async check({ ran: [line] }) {
        const isRefused =
          line?.code === 1 && line.text.includes('conflict with "ci"') && line.text.includes('.spec.replicas');
        return expectThat(isRefused, 'the apply should fail with a conflict with "ci" about .spec.replicas');
      },
    },
    {
      title: 'It takes the field by force',
      prose: 'With `--force-conflicts` the autoscaler takes the field. CI holds everything else as before.',
      lines: ['apply -f - --server-side --field-manager=autoscaler --force-conflicts'],
      async check(world) {
        const isTaken = (await holders(world)).join() === 'autoscaler' && (await replicas(world)) === 5;
        return expectThat(isTaken, 'autoscaler alone should hold .spec.replicas, which should be 5');
      },
    },
    {
      title: 'Now CI is refused',
      prose:
        'CI applies its document as it is. It still says two replicas, and now it is CI that is in the way of somebody.',
      text: web(2),
      lines: ['apply -f - --server-side --field-manager=ci'],
      async check({ ran: [line] }) {
        return expectThat(
          line?.code === 1 && line.text.includes('conflict with "autoscaler"'),
          'the apply should fail with a conflict with "autoscaler"',
        );
      },
    },
    {
      title: 'CI leaves the number to others',
      prose:
        'CI takes the line out of its document. Nothing is in the way any more, and there are still five replicas.',
      text: web(),
      lines: ['apply -f - --server-side --field-manager=ci', 'get deployment web'],
      async check(world) {
        const isLeft = world.ran[0]?.code === 0 && (await replicas(world)) === 5;
        return expectThat(isLeft, 'the apply should succeed and leave five replicas');
      },
    },
  ],
};
