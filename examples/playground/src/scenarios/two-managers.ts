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
  summary: 'CI and an autoscaler both set the number of replicas.',
  about: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
  steps: [
    {
      title: 'CI applies a Deployment',
      prose: 'The manager `ci` applies a Deployment with two replicas. It now owns every field in its document.',
      text: web(2),
      lines: ['apply -f - --server-side --field-manager=ci'],
      async check(world) {
        return expectThat((await holders(world)).join() === 'ci', 'ci should own .spec.replicas');
      },
    },
    {
      title: 'The autoscaler gets a conflict',
      prose:
        'The manager `autoscaler` applies five replicas. Another manager owns the field: the server rejects the request and names the owner.',
      text: FIVE,
      lines: ['apply -f - --server-side --field-manager=autoscaler'],
      async check({ ran: [line] }) {
        const isRefused =
          line?.code === 1 && line.text.includes('conflict with "ci"') && line.text.includes('.spec.replicas');
        return expectThat(isRefused, 'the apply should fail with a conflict with "ci" about .spec.replicas');
      },
    },
    {
      title: 'The autoscaler forces the conflict',
      prose: 'With `--force-conflicts` the autoscaler takes over the field. CI still owns all other fields.',
      lines: ['apply -f - --server-side --field-manager=autoscaler --force-conflicts'],
      async check(world) {
        const isTaken = (await holders(world)).join() === 'autoscaler' && (await replicas(world)) === 5;
        return expectThat(isTaken, 'only autoscaler should own .spec.replicas, which should be 5');
      },
    },
    {
      title: 'CI gets a conflict',
      prose: 'CI applies its unchanged document. It still contains two replicas, which conflicts with the autoscaler.',
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
      title: 'CI gives up the field',
      prose: 'CI removes the field from its document. The apply succeeds, and there are still five replicas.',
      text: web(),
      lines: ['apply -f - --server-side --field-manager=ci', 'get deployment web'],
      async check(world) {
        const isLeft = world.ran[0]?.code === 0 && (await replicas(world)) === 5;
        return expectThat(isLeft, 'the apply should succeed and leave five replicas');
      },
    },
  ],
};
