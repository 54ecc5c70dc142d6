/**
 * Checks the availability of aggregated API services: requests the discovery document of each APIService with a reachable
 * Service, every 30 seconds. Conditions for a missing Service or missing endpoints are written by the server itself, with
 * the write that causes them.
 */
import {
  AGGREGATOR,
  type AggregatedApi,
  type Aggregation,
  aggregatedApi,
  checkAggregation,
  pathOfVersion,
  setRemoteUserHeaders,
} from '../kinds/apiregistration/reach.js';
import { APIService } from '../kinds/apiregistration/v1/api-service.js';
import {
  type AvailabilityView,
  type AvailableCondition,
  availableOf,
  failedCheck,
  PASSED,
  SERVICES,
  unreachableCondition,
  withAvailable,
} from '../kinds/apiregistration/v1/availability.js';
import { Endpoints } from '../kinds/core/v1/endpoints.js';
import { Service } from '../kinds/core/v1/service/service.js';
import { SERVER_MANAGER } from '../meta/dialect.js';
import { quote } from '../text/go/go-text.js';
import type { Clock } from '../util/clock.js';
import { deepEqual } from '../util/json.js';
import { messageOf } from '../util/message-of.js';
import { refuseUnknownOptions } from '../util/options.js';
import { type AggregationTarget, resolveAggregation } from '../webhook/aggregation.js';
import { networkProblem } from '../webhook/connection.js';
import { type ServiceView, UnresolvedService } from '../webhook/service-address.js';
import type { Controller, ControllerContext } from './runtime/controller.js';
import { keyOf } from './runtime/shared-informer.js';

export interface ApiServicesOptions {
  /**
   * The backends by APIService name, as given to `createFetchHandler`. Without a backend the controller uses an endpoint of
   * the Service.
   */
  readonly aggregate?: Aggregation | undefined;
  /** The time between successful checks; 30 s unless given. */
  readonly recheckMs?: number | undefined;
}

const OPTIONS = ['aggregate', 'recheckMs'] as const satisfies readonly (keyof ApiServicesOptions)[];
const RECHECK_MS = 30_000;
const BACKOFF = { firstMs: 5, longestMs: RECHECK_MS };
const CHECK_TIMEOUT_MS = 5000;
/** The number of parallel requests over a network; one success is enough. */
const ATTEMPTS = 5;

/**
 * The controller of APIServices: writes the Available condition of those with a Service.
 *
 * @example
 * const aggregate = { 'v1beta1.metrics.example.com': () => Response.json({ resources: [] }) };
 * const cluster = createCluster({ controllers: controllers([apiServices({ aggregate })]) });
 */
export function apiServices(options: ApiServicesOptions = {}): Controller {
  refuseUnknownOptions('apiServices', options, OPTIONS);
  checkAggregation(options.aggregate);
  return {
    // No account: in the reference server this loop runs in the API server.
    name: 'apiservice-availability-controller',
    needs: [APIService, Service, Endpoints],
    start: (context) => start(context, options),
  };
}

function start(context: ControllerContext, { aggregate, recheckMs = RECHECK_MS }: ApiServicesOptions): void {
  const services = context.informer(APIService);
  const networkServices = context.informer(Service);
  const endpoints = context.informer(Endpoints);
  const client = context.client.with({ fieldManager: SERVER_MANAGER });
  const byService = services.index('service', ({ spec: { service } }) =>
    service === undefined ? [] : [`${service.namespace ?? ''}/${service.name ?? ''}`],
  );
  const lastFound = new Map<string, AvailableCondition>();
  const view: AvailabilityView = {
    service: (namespace, name) => networkServices.get(name, namespace) as Service | undefined,
    endpoints: (namespace, name) => endpoints.get(name, namespace) as Endpoints | undefined,
  };
  const serviceView: ServiceView = {
    dialect: context.dialect,
    runtimeSlot: context.host?.runtimeSlot,
    objects: {
      get: ({ resource, namespace, name }) =>
        resource === SERVICES.resource ? view.service(namespace, name) : view.endpoints(namespace, name),
      // An APIService without Endpoints is unavailable, so EndpointSlices do not matter.
      list: () => [],
    },
  };

  const queue = context.queue(
    async (key) => {
      const service = services.at(key);
      const api = service === undefined ? undefined : aggregatedApi(service as APIService);
      // A change that makes the service reachable queues it again.
      if (service?.spec.service === undefined || api === undefined) return;
      if (unreachableCondition(service.spec.service, view) !== undefined) return;
      // Requests to an available API verify the certificate; this check does not, as in the reference server.
      const target = { ...api, caBundle: '', insecureSkipTLSVerify: true };
      const found = await check(api, () => resolveAggregation(aggregate, target, serviceView), context.clock);
      const live = services.at(key);
      // The APIService may have changed during the check.
      if (live === undefined || live.metadata.uid !== service.metadata.uid || live.spec !== service.spec) {
        queue.add(key);
        return;
      }
      lastFound.set(key, found);
      const conditions = withAvailable(live as APIService, found, context.now());
      if (conditions !== undefined) {
        await client.api(APIService).status.update(key, { ...live, status: { conditions } });
      }
      if (found.status !== 'True') throw new Error(found.message ?? '');
      return { requeueAfterMs: recheckMs };
    },
    { backoff: BACKOFF, workers: ATTEMPTS },
  );

  services.onKey((key, event) => {
    const { spec } = event.object;
    if (event.type === 'DELETED') {
      queue.cancelDelay(key);
      lastFound.delete(key);
    } else if (spec.service !== undefined) {
      // Ignores the event of this controller's own status update.
      const isOwn =
        event.type === 'MODIFIED' &&
        deepEqual(event.previous.spec, spec) &&
        hasCondition(event.object, lastFound.get(key));
      if (!isOwn) queue.add(key);
    }
  });
  const onNetwork = (key: string): void => {
    for (const service of byService(key)) queue.add(keyOf(service as APIService));
  };
  networkServices.onKey(onNetwork);
  endpoints.onKey(onNetwork);
}

function hasCondition(service: Parameters<typeof availableOf>[0], found: AvailableCondition | undefined): boolean {
  const noted = availableOf(service);
  return found !== undefined && noted?.status === found.status && noted.message === found.message;
}

async function check(api: AggregatedApi, resolve: () => AggregationTarget, clock: Clock): Promise<AvailableCondition> {
  let url = '';
  try {
    const reached = resolve();
    url = `${reached.address}${pathOfVersion(api)}`;
    const length = reached.isRemote ? ATTEMPTS : 1;
    await Promise.any(Array.from({ length }, () => requestDiscovery(url, reached, clock)));
    return PASSED;
  } catch (error) {
    if (error instanceof UnresolvedService) return failedCheck(error.message);
    const last: unknown = error instanceof AggregateError ? error.errors.at(-1) : error;
    return failedCheck(`failing or missing response from ${url}: ${messageOf(last)}`);
  }
}

/** Requests the discovery document. Rejects with the reason if it is not available. */
async function requestDiscovery(url: string, reached: AggregationTarget, clock: Clock): Promise<void> {
  const headers = new Headers();
  setRemoteUserHeaders(headers, AGGREGATOR);
  const timeout = new AbortController();
  const late = new Promise<never>((_, reject) => {
    timeout.signal.addEventListener('abort', () => reject(timeout.signal.reason), { once: true });
  });
  const giveUp = () =>
    timeout.abort(new Error('context deadline exceeded (Client.Timeout exceeded while awaiting headers)'));
  const undo = clock.after(CHECK_TIMEOUT_MS, giveUp, { background: true });
  try {
    const sent = reached.send(url, { method: 'GET', headers, signal: timeout.signal });
    const { status, body } = await Promise.race([sent, late]).catch((error) => {
      throw new Error(`Get ${quote(url)}: ${networkProblem(error, url)}`, { cause: error });
    });
    // Only the status matters.
    await body?.cancel();
    if (status < 200 || status >= 300) throw new Error(`bad status from ${url}: ${status}`);
  } finally {
    undo();
  }
}
