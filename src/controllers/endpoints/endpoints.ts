/**
 * The controller of Endpoints: for each Service with a selector, the addresses of its pods, in an object with the Service's name.
 */

import { Endpoints } from '../../kinds/core/v1/endpoints.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import type { EndpointPort, EndpointsInput } from '../../kinds/generated/core-v1.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { Labels } from '../../meta/labels.js';
import type { ApiObject, DeepReadonly } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { ignoreNotFound, isNamespaceTerminating } from '../runtime/expected-errors.js';
import { keyOf, splitKey } from '../runtime/shared-informer.js';
import { isPodReady, type StoredPod } from '../workloads/pod-state.js';
import {
  hasSelector,
  headlessLabel,
  hostnameWithin,
  isHeadless,
  leaderAnnotation,
  mayBeEndpoint,
  PortResolver,
  podAddresses,
  podServiceIndex,
  type ResolvedPort,
  type StoredService,
  triggerTimeAnnotation,
} from './pod-services.js';
import { type Address, omittedPortsText, repackSubsets, type Subset } from './subsets.js';
import { TriggerTimes } from './trigger-times.js';

const MAX_ADDRESSES = 1000;

type StoredEndpoints = ObjectOf<typeof Endpoints>;

const COMPONENT = 'endpoint-controller';
/** The queue key of the initial clean-up; no Service has an empty name. */
const LEFTOVERS = '';

/**
 * Maintains the Endpoints of Services with a selector, and deletes those of deleted Services.
 */
export function endpoints(): Controller {
  return {
    name: 'endpoints-controller',
    account: 'endpoint-controller',
    component: COMPONENT,
    needs: [Service, Pod, Endpoints],
    start(context) {
      const services = context.informer(Service);
      const pods = context.informer(Pod);
      const all = context.informer(Endpoints);
      const serviceIndex = podServiceIndex(pods, services);
      const times = new TriggerTimes();

      const queue = context.queue(
        async (key) => {
          if (key === LEFTOVERS) {
            for (const { metadata } of all.list())
              if (!isLeaderRecord(metadata, context.dialect)) queue.add(keyOf({ metadata }));
            return;
          }
          const service = services.at(key);
          const current = all.at(key);
          if (service === undefined) {
            times.forget(key);
            if (current !== undefined) await remove(context, key);
            return;
          }
          if (!hasSelector(service)) return;
          const selectedPods = serviceIndex.podsOf(service);
          const trigger = times.next(key, service, selectedPods);
          const resolver = new PortResolver(service);
          const { subsets, omittedPorts } = repackSubsets(podSubsets(service, selectedPods, resolver));
          const omissions = [resolver.omission, omittedPortsText(omittedPorts)];
          for (const text of omissions)
            if (text !== undefined) context.events.record(service, 'Warning', 'TooManyPorts', text);
          if (current !== undefined && isUpToDate(current, subsets, service, context.dialect)) return;
          await write(context, service, current, { subsets, trigger });
        },
        { workers: 5 },
      );

      queue.add(LEFTOVERS);
      services.onKey((key) => queue.add(key));
      pods.subscribe((event) => {
        for (const key of serviceIndex.affectedBy(event)) queue.add(key);
      });
      all.onKey((key, { type }) => {
        if (type === 'DELETED') queue.add(key);
      });
    },
  };
}

/** A subset for the pods with the same ports; not in the canonical form. */
function podSubsets(service: StoredService, pods: readonly StoredPod[], resolver: PortResolver): readonly Subset[] {
  const { publishNotReadyAddresses = false, clusterIP } = service.spec;
  const mayLackPorts = (service.spec.ports ?? []).length === 0 && clusterIP === 'None';
  const byPorts = new Map<
    readonly ResolvedPort[],
    { ports: EndpointPort[]; addresses: Address[]; notReadyAddresses: Address[] }
  >();
  for (const pod of pods) {
    if (!mayBeEndpoint(pod, { includeTerminating: publishNotReadyAddresses })) continue;
    const address = addressOf(pod, service);
    if (address === undefined) continue;
    const resolved = resolver.portsIn(pod);
    if (resolved === undefined || (resolved.length === 0 && !mayLackPorts)) continue;
    const subset = getOrInsertComputed(byPorts, resolved, () => ({
      ports: resolved.map(({ name, ...port }) => ({ ...(name === '' ? {} : { name }), ...port })),
      addresses: [],
      notReadyAddresses: [],
    }));
    const isReady = publishNotReadyAddresses || isPodReady(pod);
    subset[isReady ? 'addresses' : 'notReadyAddresses'].push(address);
  }
  return [...byPorts.values()];
}

/** The pod's address entry; undefined if it has no address of the Service's first family. */
function addressOf(pod: StoredPod, service: StoredService): Address | undefined {
  const family = service.spec.ipFamilies?.[0] ?? 'IPv4';
  const ip = podAddresses(pod).find((candidate) => candidate.family === family)?.text;
  if (ip === undefined) return undefined;
  const { name, namespace = '', uid } = pod.metadata;
  const hostname = hostnameWithin(pod, service);
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    // As in the reference server, a pod without node makes the whole object invalid.
    nodeName: pod.spec.nodeName ?? '',
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}

function isUpToDate(
  current: StoredEndpoints,
  subsets: readonly Subset[],
  service: StoredService,
  dialect: Dialect,
): boolean {
  const { annotations = {}, labels = {} } = current.metadata;
  const reserved = [headlessLabel(dialect), managedByLabel(dialect)];
  const own = Object.entries(labels).filter(([key]) => !reserved.includes(key));
  const wanted = service.metadata.labels ?? {};
  const isTruncated = countAddresses(current.subsets ?? []) > MAX_ADDRESSES;
  return (
    deepEqual(current.subsets ?? [], subsets) &&
    labels[managedByLabel(dialect)] === COMPONENT &&
    own.length === Object.keys(wanted).length &&
    own.every(([key, value]) => wanted[key] === value) &&
    !isTruncated &&
    annotations[overCapacityAnnotation(dialect)] === undefined
  );
}

interface Wanted {
  readonly subsets: readonly Subset[];
  readonly trigger: string | undefined;
}

async function write(
  { client, dialect, events }: ControllerContext,
  service: StoredService,
  current: StoredEndpoints | undefined,
  { subsets, trigger }: Wanted,
): Promise<void> {
  const { name, namespace = '' } = service.metadata;
  const fitting = truncateSubsets(subsets);
  const kept = { ...current?.metadata.annotations };
  delete kept[triggerTimeAnnotation(dialect)];
  delete kept[overCapacityAnnotation(dialect)];
  const annotations = {
    ...kept,
    ...(trigger === undefined ? {} : { [triggerTimeAnnotation(dialect)]: trigger }),
    ...(fitting === subsets ? {} : { [overCapacityAnnotation(dialect)]: 'truncated' }),
  };
  const { annotations: _old, ...metadata } = current?.metadata ?? { name, namespace };
  const object: DeepReadonly<EndpointsInput> & { readonly metadata: { readonly name: string } } = {
    metadata: {
      ...metadata,
      labels: labelsFor(service, dialect),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    ...(fitting.length === 0 ? {} : { subsets: fitting }),
  };
  const api = client.api(Endpoints, namespace);
  try {
    await (current === undefined ? api.create(object) : api.update(object));
  } catch (error) {
    if (current === undefined && isNamespaceTerminating(error)) return;
    const message = messageOf(error);
    if (current === undefined) {
      const text = `Failed to create endpoint for service ${namespace}/${name}: ${message}`;
      events.record(uncreatedEndpoints(name), 'Warning', 'FailedToCreateEndpoint', text);
    } else {
      const text = `Failed to update endpoint ${namespace}/${name}: ${message}`;
      events.record(current, 'Warning', 'FailedToUpdateEndpoint', text);
    }
    throw error;
  }
}

/**
 * The object of the event for a failed create. It has no uid and, as in the reference server, no namespace: the event is in `default`.
 * upstream: pkg/controller/endpoint/endpoints_controller.go Controller.syncService
 */
function uncreatedEndpoints(name: string): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, uid: '', resourceVersion: '', creationTimestamp: '' },
  };
}

async function remove({ client }: ControllerContext, key: string): Promise<void> {
  const { name, namespace } = splitKey(key);
  await ignoreNotFound(client.api(Endpoints, namespace).delete(name));
}

function labelsFor(service: StoredService, dialect: Dialect): Labels {
  const labels = { ...service.metadata.labels };
  delete labels[headlessLabel(dialect)];
  if (isHeadless(service)) labels[headlessLabel(dialect)] = '';
  labels[managedByLabel(dialect)] = COMPONENT;
  return labels;
}

function isLeaderRecord({ annotations }: StoredEndpoints['metadata'], dialect: Dialect): boolean {
  return annotations?.[leaderAnnotation(dialect)] !== undefined;
}

/** The label with the name of the managing controller. */
function managedByLabel(dialect: Dialect): string {
  return dialect.subkey('endpoints', 'managed-by');
}

function overCapacityAnnotation(dialect: Dialect): string {
  return dialect.subkey('endpoints', 'over-capacity');
}

/** Truncates the subsets to the maximum number of addresses. Returns the same array if all fit. */
export function truncateSubsets(subsets: readonly Subset[]): readonly Subset[] {
  const ready = count(subsets, 'addresses');
  const notReady = count(subsets, 'notReadyAddresses');
  if (ready + notReady <= MAX_ADDRESSES) return subsets;
  const list = ready > MAX_ADDRESSES ? 'addresses' : 'notReadyAddresses';
  const limit = list === 'addresses' ? MAX_ADDRESSES : MAX_ADDRESSES - ready;
  const total = list === 'addresses' ? ready : notReady;
  let left = limit;
  return subsets.flatMap((subset) => {
    const { addresses, notReadyAddresses, ...rest } = subset;
    const all = subset[list] ?? [];
    // Rounded up, so that the last subset gets fewer.
    const kept = all.slice(0, Math.min(left, Math.ceil((all.length / total) * limit)));
    left -= kept.length;
    const isKept = kept.length > 0 || (list === 'notReadyAddresses' && addresses !== undefined);
    if (!isKept) return [];
    return [
      {
        ...rest,
        ...(list === 'notReadyAddresses' && addresses !== undefined ? { addresses } : {}),
        ...(kept.length > 0 ? { [list]: kept } : {}),
      },
    ];
  });
}

function countAddresses(subsets: readonly Subset[]): number {
  return count(subsets, 'addresses') + count(subsets, 'notReadyAddresses');
}

function count(subsets: readonly Subset[], list: 'addresses' | 'notReadyAddresses'): number {
  return subsets.reduce((sum, subset) => sum + (subset[list]?.length ?? 0), 0);
}
