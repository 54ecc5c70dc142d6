/**
 * Finds out whether those answer who stand in for the server: for each APIService whose Service could be reached, its
 * document of the version's resources is asked for, again every half a minute. What speaks against reaching it at all
 * (no Service, no endpoints) the server itself notes with the write that caused it.
 */
import {
  AGGREGATOR,
  type AggregatedApi,
  type Aggregation,
  aggregatedApi,
  checkAggregation,
  messageOfFailure,
  pathOfVersion,
  type Reached,
  reach,
  tellIdentity,
} from '../../kinds/apiregistration/reach.js';
import { APIService } from '../../kinds/apiregistration/v1/api-service.js';
import {
  type AvailabilityView,
  type AvailableCondition,
  availableOf,
  failedCheck,
  PASSED,
  whyUnreachable,
  withAvailable,
} from '../../kinds/apiregistration/v1/availability.js';
import { Endpoints } from '../../kinds/core/v1/endpoints.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import { SERVER_MANAGER } from '../../meta/dialect.js';
import { quote } from '../../text/go/go-text.js';
import type { Clock } from '../../util/clock.js';
import { deepEqual } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { keyOf } from '../runtime/shared-informer.js';

export interface ApiServicesOptions {
  /**
   * Who answers for which version: the same that `createFetchHandler` is given. Absent, or undefined for one of them: it
   * is looked for by `fetch`, where its Service would be in a cluster's network.
   */
  readonly aggregate?: Aggregation | undefined;
  /** How long after a good answer it is asked for again; 30 s unless given. */
  readonly recheckMs?: number | undefined;
}

const OPTIONS = ['aggregate', 'recheckMs'] as const satisfies readonly (keyof ApiServicesOptions)[];
const RECHECK_MS = 30_000;
/** Who fails is asked again soon, then later and later. */
const BACKOFF = { firstMs: 5, longestMs: RECHECK_MS };
const PATIENCE_MS = 5000;
/** Over a network one answer of so many is enough. */
const ATTEMPTS = 5;

/**
 * The controller of APIServices: writes the condition Available of those that name a Service.
 *
 * @example
 * const aggregate = { 'v1beta1.metrics.example.com': () => Response.json({ resources: [] }) };
 * const cluster = createCluster({ controllers: controllers([apiServices({ aggregate })]) });
 */
export function apiServices(options: ApiServicesOptions = {}): Controller {
  refuseUnknownOptions('apiServices', options, OPTIONS);
  checkAggregation(options.aggregate);
  return {
    // It is a loop of the server's own, which has no account.
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

  const queue = context.queue(
    async (key) => {
      const service = services.at(key);
      const api = service === undefined ? undefined : aggregatedApi(service as APIService);
      // The next look comes with the change that makes one worth while.
      if (service?.spec.service === undefined || api === undefined) return;
      if (whyUnreachable(service.spec.service, view) !== undefined) return;
      const found = await check(api, reach(aggregate, api), context.clock);
      const live = services.at(key);
      // While it was asked, it may have become another.
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
      // What was found out here need not be found out again.
      const isOwn =
        event.type === 'MODIFIED' && deepEqual(event.previous.spec, spec) && says(event.object, lastFound.get(key));
      if (!isOwn) queue.add(key);
    }
  });
  const onNetwork = (key: string): void => {
    for (const service of byService(key)) queue.add(keyOf(service as APIService));
  };
  networkServices.onKey(onNetwork);
  endpoints.onKey(onNetwork);
}

function says(service: Parameters<typeof availableOf>[0], found: AvailableCondition | undefined): boolean {
  const noted = availableOf(service);
  return found !== undefined && noted?.status === found.status && noted.message === found.message;
}

async function check(api: AggregatedApi, reached: Reached, clock: Clock): Promise<AvailableCondition> {
  const url = `${reached.address}${pathOfVersion(api)}`;
  const asked = Array.from({ length: reached.isFar ? ATTEMPTS : 1 }, () => ask(url, reached, clock));
  try {
    await Promise.any(asked);
    return PASSED;
  } catch (error) {
    const last = error instanceof AggregateError ? error.errors.at(-1) : error;
    return failedCheck(`failing or missing response from ${url}: ${messageOfFailure(last)}`);
  }
}

/** Rejects with why it is not there. */
async function ask(url: string, reached: Reached, clock: Clock): Promise<void> {
  const headers = new Headers();
  tellIdentity(headers, AGGREGATOR);
  const patience = new AbortController();
  const late = new Promise<never>((_, reject) => {
    patience.signal.addEventListener('abort', () => reject(patience.signal.reason), { once: true });
  });
  const giveUp = () => {
    const why = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
    patience.abort(new Error(`Get ${quote(url)}: ${why}`));
  };
  const undo = clock.after(PATIENCE_MS, giveUp, { background: true });
  try {
    const sent = reached.send(url, { method: 'GET', headers, signal: patience.signal });
    const { status, body } = await Promise.race([sent, late]);
    // What it says is for others to read.
    await body?.cancel();
    if (status < 200 || status >= 300) throw new Error(`bad status from ${url}: ${status}`);
  } finally {
    undo();
  }
}
