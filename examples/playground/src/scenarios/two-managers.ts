/**
 * Scenario: two field managers set the same field to different values.
 */
import { at, listAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario, type ScenarioContext } from './scenario.js';

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
async function owners(context: ScenarioContext): Promise<readonly string[]> {
  const deployment = await context.find('deployment/web');
  return listAt(deployment, 'metadata', 'managedFields')
    .filter((entry) => textAt(entry, 'operation') === 'Apply')
    .filter((entry) => at(entry, 'fieldsV1', 'f:spec', 'f:replicas') !== undefined)
    .map((entry) => textAt(entry, 'manager'));
}

async function replicas(context: ScenarioContext): Promise<unknown> {
  return at(await context.find('deployment/web'), 'spec', 'replicas');
}

export const twoManagers: Scenario = {
  id: 'two-managers',
  title: 'Two managers, one field',
  summary: 'CI and an autoscaler both set the number of replicas.',
  object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
  steps: [
    {
      title: 'CI applies a Deployment',
      description: 'The manager `ci` applies a Deployment with two replicas. It now owns every field in its document.',
      text: web(2),
      lines: ['apply -f - --server-side --field-manager=ci'],
      async check(context) {
        return expectThat((await owners(context)).join() === 'ci', 'ci should own .spec.replicas');
      },
    },
    {
      title: 'The autoscaler gets a conflict',
      description:
        'The manager `autoscaler` applies five replicas. Another manager owns the field: the server rejects the request and names the owner.',
      text: FIVE,
      lines: ['apply -f - --server-side --field-manager=autoscaler'],
      async check({ results: [line] }) {
        const isRefused =
          line?.code === 1 && line.text.includes('conflict with "ci"') && line.text.includes('.spec.replicas');
        return expectThat(isRefused, 'the apply should fail with a conflict with "ci" about .spec.replicas');
      },
    },
    {
      title: 'The autoscaler forces the conflict',
      description: 'With `--force-conflicts` the autoscaler takes over the field. CI still owns all other fields.',
      lines: ['apply -f - --server-side --field-manager=autoscaler --force-conflicts'],
      async check(context) {
        const isTaken = (await owners(context)).join() === 'autoscaler' && (await replicas(context)) === 5;
        return expectThat(isTaken, 'only autoscaler should own .spec.replicas, which should be 5');
      },
    },
    {
      title: 'CI gets a conflict',
      description:
        'CI applies its unchanged document. It still contains two replicas, which conflicts with the autoscaler.',
      text: web(2),
      lines: ['apply -f - --server-side --field-manager=ci'],
      async check({ results: [line] }) {
        return expectThat(
          line?.code === 1 && line.text.includes('conflict with "autoscaler"'),
          'the apply should fail with a conflict with "autoscaler"',
        );
      },
    },
    {
      title: 'CI gives up the field',
      description: 'CI removes the field from its document. The apply succeeds, and there are still five replicas.',
      text: web(),
      lines: ['apply -f - --server-side --field-manager=ci', 'get deployment web'],
      async check(context) {
        const isLeft = context.results[0]?.code === 0 && (await replicas(context)) === 5;
        return expectThat(isLeft, 'the apply should succeed and leave five replicas');
      },
    },
  ],
};
