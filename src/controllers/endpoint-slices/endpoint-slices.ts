/**
 * The controller of EndpointSlices: for each Service with a selector, the addresses of its pods, in as few slices as possible.
 */
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { Dialect } from '../../meta/dialect.js';
import { messageOf } from '../../util/message-of.js';
import { hasSelector, manager, podServiceIndex, triggerTimeAnnotation } from '../endpoints/pod-services.js';
import { TriggerTimes } from '../endpoints/trigger-times.js';
import type { Controller } from '../runtime/controller.js';
import { planSlices } from './plan-slices.js';
import { distributionOf, familiesOf, OwnSlices, type SlicePlan, writeSlices } from './slice.js';
import { changesTopology, type TopologyEvent, TopologyHints, wantsTopologyHints } from './topology-hints.js';

export interface EndpointSlicesOptions {
  /** The maximum number of endpoints per slice; 100 unless given. */
  readonly maxEndpointsPerSlice?: number | undefined;
}

/** The controller's name in the managed-by label of its slices. */
const MANAGER = 'endpointslice-controller';
const MAX_PER_SLICE = 1000;
const BACKOFF = { firstMs: 1000, longestMs: 1_000_000 };

/**
 * Maintains the EndpointSlices of Services with a selector. The garbage collector deletes those of deleted Services.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([endpointSlices({ maxEndpointsPerSlice: 10 })]) });
 */
export function endpointSlices({ maxEndpointsPerSlice = 100 }: EndpointSlicesOptions = {}): Controller {
  if (!Number.isInteger(maxEndpointsPerSlice) || maxEndpointsPerSlice < 1 || maxEndpointsPerSlice > MAX_PER_SLICE) {
    throw new TypeError(`orchplane: maxEndpointsPerSlice must be a whole number from 1 to ${MAX_PER_SLICE}`);
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
      const serviceIndex = podServiceIndex(pods, services);
      const times = new TriggerTimes();
      const own = manager(dialect, MANAGER);
      const slices = new OwnSlices(context.informer(EndpointSlice), { dialect, manager: own });
      /** Keys of Services that omit a pod because its node does not exist, by node name. */
      const waiting = new Map<string, Set<string>>();
      const topology = new TopologyHints(() => nodes.list(), dialect);

      const queue = context.queue(
        async (key) => {
          const service = services.at(key);
          if (service === undefined) {
            times.forget(key);
            topology.forget(key);
            return;
          }
          if (!hasSelector(service)) return;
          const selectedPods = serviceIndex.podsOf(service);
          const trigger = times.next(key, service, selectedPods);
          const topologyEvents: (TopologyEvent | undefined)[] = [];
          const wantsHints = wantsTopologyHints(service, dialect);
          if (!wantsHints) topologyEvents.push(...familiesOf(service).map((family) => topology.disable(key, family)));
          const { podsWithoutNode, omission, ...changes } = planSlices({
            service,
            pods: selectedPods,
            existing: slices.of(key).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
            nodeNamed: (name) => (name === '' ? undefined : nodes.get(name)),
            maxEndpoints: maxEndpointsPerSlice,
            distribution: distributionOf(service.spec.trafficDistribution, (gate) => features?.enabled(gate) ?? false),
            addHints: wantsHints
              ? (family, plans) => {
                  const hinted = topology.add(key, family, plans);
                  topologyEvents.push(hinted.event);
                  return hinted;
                }
              : undefined,
            dialect,
            manager: own,
          });
          if (omission !== undefined) events.record(service, 'Warning', 'TooManyPorts', omission);
          for (const { node } of podsWithoutNode) waiting.set(node, (waiting.get(node) ?? new Set()).add(key));
          const problems = podsWithoutNode.map(
            ({ pod, node }) => `skipping Pod ${pod} for Service ${key}: Node ${node} Not Found`,
          );
          const recordFailure = (all: readonly string[]): string => {
            const list = all.length === 1 ? all.join('') : `[${all.join(', ')}]`;
            events.record(
              service,
              'Warning',
              FAILURE_REASON,
              `Error updating Endpoint Slices for Service ${key}: ${list}`,
            );
            return list;
          };
          try {
            const annotated = (plan: SlicePlan) => withTrigger(plan, trigger, dialect);
            await writeSlices({ client, key, slices, owner: service, changes, annotated });
            for (const event of topologyEvents) {
              if (event !== undefined) events.record(service, event.type, event.reason, event.message);
            }
          } catch (error) {
            recordFailure([...problems, messageOf(error)]);
            throw error;
          }
          if (problems.length > 0) throw new Error(recordFailure(problems));
        },
        { workers: 5, backoff: BACKOFF },
      );
      slices.onChange((key) => queue.add(key));

      services.onKey((key) => queue.add(key));
      pods.subscribe((event) => {
        for (const key of serviceIndex.affectedBy(event)) queue.add(key);
      });
      const topologyQueue = context.queue(
        async () => {
          for (const key of topology.overloaded()) queue.add(key);
        },
        { name: 'topology' },
      );
      nodes.subscribe((event) => {
        const { type, object } = event;
        const isRelevant = type !== 'MODIFIED' || changesTopology(object, event.previous, dialect);
        if (isRelevant && topology.nodesChanged()) topologyQueue.add('nodes');
        if (type !== 'ADDED') return;
        for (const key of waiting.get(object.metadata.name) ?? []) queue.add(key);
        waiting.delete(object.metadata.name);
      });
    },
  };
}

const FAILURE_REASON = 'FailedToUpdateEndpointSlices';

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
