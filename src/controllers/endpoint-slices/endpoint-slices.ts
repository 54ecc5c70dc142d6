/**
 * EndpointSlices: for each service with a selector, the addresses of its pods, in slices that are full rather than many.
 */
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { Dialect } from '../../meta/dialect.js';
import { messageOf } from '../../util/message-of.js';
import { manager, triggerTimeAnnotation } from '../endpoints/names.js';
import { isSelecting, podServices } from '../endpoints/pod-services.js';
import { TriggerTimes } from '../endpoints/trigger-times.js';
import type { Controller } from '../runtime/controller.js';
import { OwnSlices } from './own-slices.js';
import { sliceNeeds } from './reconcile.js';
import type { SlicePlan } from './slice.js';
import { distributionOf } from './traffic-hints.js';
import { writeSlices } from './write-slices.js';

export interface EndpointSlicesOptions {
  /** How many endpoints a slice holds; 100 unless given. */
  readonly maxEndpointsPerSlice?: number | undefined;
}

/** Names the controller in the label of its slices. */
const MANAGER = 'endpointslice-controller';
const MOST_PER_SLICE = 1000;
const BACKOFF = { firstMs: 1000, longestMs: 1_000_000 };

/**
 * Keeps the EndpointSlices of services with a selector. Those of services that are gone are the garbage collector's.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([endpointSlices({ maxEndpointsPerSlice: 10 })]) });
 */
export function endpointSlices({ maxEndpointsPerSlice = 100 }: EndpointSlicesOptions = {}): Controller {
  if (!Number.isInteger(maxEndpointsPerSlice) || maxEndpointsPerSlice < 1 || maxEndpointsPerSlice > MOST_PER_SLICE) {
    throw new TypeError(`orchplane: maxEndpointsPerSlice must be a whole number from 1 to ${MOST_PER_SLICE}`);
  }
  return {
    name: 'endpointslice-controller',
    account: 'endpointslice-controller',
    component: 'endpoint-slice-controller',
    needs: [Service, Pod, Node, EndpointSlice],
    start(context) {
      const { client, dialect, events, features } = context;
      const services = context.informer(Service);
      const pods = context.informer(Pod);
      const nodes = context.informer(Node);
      const selected = podServices(pods, services);
      const times = new TriggerTimes();
      const own = manager(dialect, MANAGER);
      const slices = new OwnSlices(context.informer(EndpointSlice), { dialect, manager: own });
      /** Services that lack a pod because its node does not exist, by that node. */
      const waiting = new Map<string, Set<string>>();

      const queue = context.queue(
        async (key) => {
          const service = services.at(key);
          if (service === undefined) {
            times.forget(key);
            return;
          }
          if (!isSelecting(service)) return;
          const behind = selected.podsOf(service);
          const trigger = times.next(key, service, behind);
          const { nowhere, ...changes } = sliceNeeds({
            service,
            pods: behind,
            existing: slices.of(key).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
            nodeNamed: (name) => (name === '' ? undefined : nodes.get(name)),
            maxEndpoints: maxEndpointsPerSlice,
            distribution: distributionOf(service.spec.trafficDistribution, (gate) => features?.enabled(gate) ?? false),
            dialect,
            manager: own,
          });
          for (const { node } of nowhere) waiting.set(node, (waiting.get(node) ?? new Set()).add(key));
          const problems = nowhere.map(
            ({ pod, node }) => `skipping Pod ${pod} for Service ${key}: Node ${node} Not Found`,
          );
          const refused = (all: readonly string[]): string => {
            const list = all.length === 1 ? all.join('') : `[${all.join(', ')}]`;
            events.record(service, 'Warning', REFUSED, `Error updating Endpoint Slices for Service ${key}: ${list}`);
            return list;
          };
          try {
            const annotated = (plan: SlicePlan) => withTrigger(plan, trigger, dialect);
            await writeSlices({ client, key, slices, owner: service, changes, annotated });
          } catch (error) {
            refused([...problems, messageOf(error)]);
            throw error;
          }
          if (problems.length > 0) throw new Error(refused(problems));
        },
        { workers: 5, backoff: BACKOFF },
      );
      slices.onChange((key) => queue.add(key));

      services.onKey((key) => queue.add(key));
      pods.subscribe((event) => {
        for (const key of selected.touchedBy(event)) queue.add(key);
      });
      nodes.subscribe(({ type, object }) => {
        if (type !== 'ADDED') return;
        for (const key of waiting.get(object.metadata.name) ?? []) queue.add(key);
        waiting.delete(object.metadata.name);
      });
    },
  };
}

const REFUSED = 'FailedToUpdateEndpointSlices';

/** The plan with the time of what brought it about, or without any. */
function withTrigger(plan: SlicePlan, trigger: string | undefined, dialect: Dialect): SlicePlan {
  const { annotations: before, ...metadata } = plan.metadata ?? {};
  const annotations = { ...before };
  if (trigger === undefined) delete annotations[triggerTimeAnnotation(dialect)];
  else annotations[triggerTimeAnnotation(dialect)] = trigger;
  return {
    ...plan,
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
  };
}
