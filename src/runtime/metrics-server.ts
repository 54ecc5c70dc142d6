/**
 * A metrics server: serves the resource usage of pods and nodes as the API group `metrics`, for `kubectl top` and
 * autoscalers. It runs as a pod of the cluster.
 */
import { type Controller, ControllerPart } from '../controllers/runtime/controller.js';
import { APIService } from '../kinds/apiregistration/v1/api-service.js';
import { Pod } from '../kinds/core/v1/pod/pod.js';
import { Service } from '../kinds/core/v1/service/service.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { matchesLabels, parseLabelSelector } from '../meta/labels.js';
import { Quantity } from '../meta/quantity.js';
import type { PodUsage, Usage } from '../protocol/connection.js';
import { formatTime } from '../text/time/time.js';
import type { Program } from './program.js';

/** The image of the metrics server. */
export const METRICS_IMAGE = 'orchplane/metrics-server';
const NAME = 'metrics-server';
/** The namespace of the metrics server. Pods of other namespaces cannot use its image. */
export const METRICS_NAMESPACE = 'kube-system';
const VERSION = 'v1beta1';
const PORT = 4443;
const WINDOW = '15s';

export interface UsageReader {
  pods(): readonly PodUsage[];
  nodes(): readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> | undefined }[];
}

/**
 * The program of the metrics server. The aggregator has authorized the users of its requests; others would read names and
 * labels of pods without a right to do so.
 */
export function metricsServer(reader: UsageReader, dialect: Dialect): Program {
  return async ({ listen, untilStopped, clock }) => {
    listen(PORT, ({ url }, { isFromApiServer }) =>
      isFromApiServer ? respond(new URL(url), { reader, dialect, now: formatTime(clock.now()) }) : unauthorized(),
    );
    await untilStopped();
  };
}

function unauthorized(): Response {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'Unauthorized' };
  return Response.json({ ...status, reason: 'Unauthorized', code: 401 }, { status: 401 });
}

interface MetricsContext {
  readonly reader: UsageReader;
  readonly dialect: Dialect;
  readonly now: string;
}

function respond(url: URL, context: MetricsContext): Response {
  const apiVersion = `${context.dialect.group(serviceGroup('metrics'))}/${VERSION}`;
  const base = `/apis/${apiVersion}`;
  if (!url.pathname.startsWith(base)) return new Response('404 page not found\n', { status: 404 });
  const path = url.pathname
    .slice(base.length)
    .split('/')
    .filter((part) => part !== '');
  if (path.length === 0) return Response.json(discoveryDocument(apiVersion));
  const selector = parseLabelSelector(url.searchParams.get('labelSelector') ?? '');
  const items = itemsAt(path, context).filter(({ metadata }) => matchesLabels(selector, metadata.labels));
  const isNamed = path.length === (path[0] === 'namespaces' ? 4 : 2);
  const kind = path.includes('nodes') ? 'NodeMetrics' : 'PodMetrics';
  if (!isNamed) return Response.json({ kind: `${kind}List`, apiVersion, metadata: {}, items });
  const [item] = items;
  if (item !== undefined) return Response.json({ kind, apiVersion, ...item });
  const group = context.dialect.group(serviceGroup('metrics'));
  const name = path.at(-1) ?? '';
  const resource = kind === 'NodeMetrics' ? 'nodes' : 'pods';
  const message = `${resource}.${group} ${JSON.stringify(name)} not found`;
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: 'NotFound' };
  return Response.json({ ...status, details: { name, group, kind: resource }, code: 404 }, { status: 404 });
}

/** `nodes`, `nodes/NAME`, `pods`, `namespaces/NAMESPACE/pods` or `namespaces/NAMESPACE/pods/NAME`. */
function itemsAt(path: readonly string[], { reader, now }: MetricsContext) {
  const [first, second, , fourth] = path;
  const facts = { timestamp: now, window: WINDOW };
  if (first === 'nodes') {
    const pods = reader.pods();
    return reader
      .nodes()
      .filter(({ name }) => second === undefined || name === second)
      .map(({ name, labels }) => {
        const used = pods.filter(({ nodeName }) => nodeName === name);
        const usage = sumOf(used.flatMap(({ containers }) => containers.map((each) => each.usage)));
        return { metadata: { name, creationTimestamp: now, labels }, ...facts, usage };
      });
  }
  return reader
    .pods()
    .filter(
      ({ namespace, name }) => first === 'pods' || (namespace === second && (fourth === undefined || name === fourth)),
    )
    .map(({ namespace, name, labels, containers }) => ({
      metadata: { name, namespace, creationTimestamp: now, labels },
      ...facts,
      containers: containers.map((each) => ({ name: each.name, usage: sumOf([each.usage]) })),
    }));
}

/** As the metrics server writes it: nanocores and kibibytes. */
function sumOf(usages: readonly Usage[]): Record<string, string> {
  const total = (read: (usage: Usage) => string | number | undefined) =>
    usages.reduce((sum, usage) => sum.add(quantityOf(read(usage))), Quantity.zero);
  return {
    cpu: `${total(({ cpu }) => cpu).scaledValue(-9)}n`,
    memory: `${total(({ memory }) => memory).value() / 1024n}Ki`,
  };
}

function quantityOf(amount: string | number | undefined): Quantity {
  return typeof amount === 'string' ? Quantity.parse(amount) : Quantity.parse(String(amount ?? 0));
}

function discoveryDocument(groupVersion: string) {
  const resource = (name: string, kind: string, namespaced: boolean) => ({
    name,
    singularName: '',
    namespaced,
    kind,
    verbs: ['get', 'list'],
  });
  const resources = [resource('nodes', 'NodeMetrics', false), resource('pods', 'PodMetrics', true)];
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** Creates the pod, the Service and the APIService of the metrics server. */
export function metricsObjects(): Controller {
  return {
    name: 'metrics-server-objects',
    fieldManager: NAME,
    needs: [Pod, Service, APIService],
    start: (context) => new MetricsObjects(context).start(),
  };
}

class MetricsObjects extends ControllerPart {
  readonly #queue = this.context.queue(async () => this.#create());

  start(): void {
    this.#queue.add('objects');
  }

  async #create(): Promise<undefined> {
    const { client, dialect } = this.context;
    const labels = { 'k8s-app': NAME };
    const group = dialect.group(serviceGroup('metrics'));
    const spec = {
      // The pod belongs to the cluster itself, so it needs no service account.
      automountServiceAccountToken: false,
      tolerations: [{ operator: 'Exists' as const }],
      containers: [{ name: NAME, image: METRICS_IMAGE, imagePullPolicy: 'Never' as const }],
    };
    await ignoringExisting(client.api(Pod, METRICS_NAMESPACE).create({ metadata: { name: NAME, labels }, spec }));
    const ports = [{ name: 'https', port: 443, targetPort: PORT }];
    await ignoringExisting(
      client
        .api(Service, METRICS_NAMESPACE)
        .create({ metadata: { name: NAME, labels }, spec: { selector: labels, ports } }),
    );
    await ignoringExisting(
      client.api(APIService).create({
        metadata: { name: `${VERSION}.${group}` },
        spec: {
          group,
          version: VERSION,
          service: { namespace: METRICS_NAMESPACE, name: NAME },
          insecureSkipTLSVerify: true,
          groupPriorityMinimum: 100,
          versionPriority: 100,
        },
      }),
    );
    return undefined;
  }
}

/** After a restart the objects exist. */
async function ignoringExisting(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}
