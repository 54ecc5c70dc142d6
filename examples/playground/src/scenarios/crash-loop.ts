/**
 * Scenario: a container that crashes, its log, the back-off between restarts, and the fix.
 */
import { at, listAt, numberAt, textAt } from '../command-line/json.js';
import { expectThat, type Scenario, type ScenarioContext } from './scenario.js';

const API = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
spec:
  selector:
    matchLabels: { app: api }
  template:
    metadata:
      labels: { app: api }
    spec:
      containers:
      - name: api
        image: busybox:1.37
        command:
        - sh
        - -c
        - PORT=$(cat /etc/api/port) && echo listening on port $PORT && sleep infinity
        volumeMounts:
        - name: config
          mountPath: /etc/api
      volumes:
      - name: config
        configMap: { name: api, optional: true }
`;

const RESTARTS = 4;
const waitFor = (path: string, value: string): string =>
  `wait pods -l app=api --for=jsonpath='{.status.containerStatuses[0].${path}}'=${value} --timeout=5m`;

/** The status of the container in the first pod. */
async function container(context: ScenarioContext): Promise<unknown> {
  const [pod] = listAt(await context.find('pods -l app=api'), 'items');
  return at(pod, 'status', 'containerStatuses', 0);
}

export const crashLoop: Scenario = {
  id: 'crash-loop',
  title: 'A crash loop',
  summary: 'A program ends with an error; its container is restarted after longer and longer pauses.',
  object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'api' },
  steps: [
    {
      title: 'A program that ends',
      description:
        'The program reads a file, which a ConfigMap should provide. The ConfigMap does not exist, so the program ends with an error.',
      text: API,
      lines: ['apply -f - --server-side'],
      async check(context) {
        const reason = textAt(await container(context), 'state', 'waiting', 'reason');
        return expectThat(reason === 'CrashLoopBackOff', 'the container should wait in CrashLoopBackOff');
      },
    },
    {
      title: 'The log says why',
      description:
        'The log of a container stays after its end. `--previous` prints the log of the last run that ended, also while a new one runs.',
      lines: ['get pods', 'logs deployment/api', 'logs deployment/api --previous'],
      async check({ results: [, current, previous] }) {
        const isShown = [current, previous].every((result) => result?.text.includes('no such file') === true);
        return expectThat(isShown, 'both logs should name the missing file');
      },
    },
    {
      title: 'The pauses grow',
      description:
        'The first restart comes at once, the next after 10 s, 20 s, 40 s, up to 5 minutes. The clock runs 60 times as fast in this step.',
      speed: 60,
      lines: [
        waitFor('restartCount', String(RESTARTS)),
        waitFor('state.waiting.reason', 'CrashLoopBackOff'),
        'get pods',
        'events --types=Warning',
      ],
      async check(context) {
        const restarts = numberAt(await container(context), 'restartCount');
        return expectThat(restarts >= RESTARTS, `the container should have ${RESTARTS} restarts`);
      },
    },
    {
      title: 'The fix',
      description:
        'The file comes from a ConfigMap. The next restart would find it; `rollout restart` does not wait for the back-off.',
      lines: [
        'create configmap api --from-literal=port=8080',
        'rollout restart deployment/api',
        'rollout status deployment/api',
        'logs deployment/api',
      ],
      async check(context) {
        const found = await context.find('deployment/api');
        const isFixed = numberAt(found, 'status', 'readyReplicas') === 1;
        return expectThat(
          isFixed && context.results.at(-1)?.text.includes('listening on port 8080') === true,
          'the Deployment should be ready, and its program should have started',
        );
      },
    },
  ],
};
