/**
 * Scenario: a HorizontalPodAutoscaler follows the CPU usage of web servers.
 */
import { at, numberAt } from '../command-line/json.js';
import { expectThat, type Scenario, type ScenarioContext } from './scenario.js';

const WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: { app: web }
  template:
    metadata:
      labels: { app: web }
    spec:
      containers:
      - name: web
        image: nginx:1.29
        ports: [{ containerPort: 80 }]
        resources:
          requests: { cpu: 100m }
---
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: { app: web }
  ports: [{ port: 80 }]
`;

const AUTOSCALER = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: web
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  minReplicas: 1
  maxReplicas: 5
  metrics:
  - type: Resource
    resource:
      name: cpu
      target: { type: Utilization, averageUtilization: 50 }
`;

const waitForReplicas = (count: number): string =>
  `wait deployment/web --for=jsonpath='{.status.readyReplicas}'=${count} --timeout=15m`;

async function replicas(context: ScenarioContext): Promise<number> {
  return numberAt(await context.find('deployment/web'), 'status', 'readyReplicas');
}

export const autoscaler: Scenario = {
  id: 'autoscaler',
  title: 'An autoscaler under load',
  summary: 'A HorizontalPodAutoscaler adds web servers while requests come in, and removes them later.',
  object: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', namespace: 'default', name: 'web' },
  steps: [
    {
      title: 'A web server without load',
      description:
        'The container requests 100m CPU; metrics show what it uses. In this scenario the clock runs 60 times as fast during most steps.',
      speed: 60,
      text: WEB,
      object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' },
      lines: [
        'apply -f - --server-side',
        'rollout status deployment/web',
        'exec deployment/web -- sleep 60',
        'top pods',
      ],
      async check(context) {
        return expectThat((await replicas(context)) === 1, 'one web server should be ready');
      },
    },
    {
      title: 'The autoscaler',
      description:
        'It wants the web servers to use half of what they request, on average. It reads the metrics every 15 seconds.',
      text: AUTOSCALER,
      speed: 60,
      lines: ['apply -f - --server-side'],
      async check(context) {
        const metrics = at(await context.find('hpa/web'), 'status', 'currentMetrics');
        return expectThat(Array.isArray(metrics) && metrics.length > 0, 'the autoscaler should read the CPU usage');
      },
    },
    {
      title: 'The load rises',
      description:
        'A load generator sends a request per second to the Service. Each request costs CPU time, so the autoscaler adds web servers.',
      speed: 60,
      lines: [
        'create deployment load --image=playground/load -- http://web',
        waitForReplicas(5),
        'top pods',
        'get hpa web',
      ],
      async check(context) {
        return expectThat((await replicas(context)) === 5, 'five web servers should be ready');
      },
    },
    {
      title: 'The log of the load generator',
      description: 'The Service spreads the requests over all ready web servers, the new ones included.',
      lines: ['logs deployment/load --tail=3', 'logs -l app=web --tail=2'],
      async check({ results: [load, web] }) {
        const isServed = load?.text.includes('200') === true && web?.text.includes('GET / 200') === true;
        return expectThat(isServed, 'the web servers should answer the requests');
      },
    },
    {
      title: 'The load ends',
      description:
        'The autoscaler waits five minutes before it removes web servers, so that a short pause changes nothing.',
      speed: 60,
      lines: ['delete deployment load', waitForReplicas(1), 'get hpa web', 'events --for hpa/web'],
      async check(context) {
        return expectThat((await replicas(context)) === 1, 'one web server should be left');
      },
    },
  ],
};
