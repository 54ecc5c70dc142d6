/**
 * Keeps the control plane's Service, its Endpoints and its EndpointSlice: an object that is deleted, or that has other
 * addresses, is restored after 10 s. A listener that starts or stops changes the endpoints at once.
 * upstream: pkg/controlplane/controller/kubernetesservice/controller.go, pkg/controlplane/reconcilers/lease.go
 */
import type { GroupResource } from '../../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import type { EndpointSubset } from '../../generated/core-v1.js';
import type { ReconcilerHost, ServerListener, ServerReconciler } from '../../reconciler.js';
import { type Repair, RepairTimer } from '../repair-timer.js';
import { addressesOf, IN_PROCESS, portsOf, sliceOf, subsetsOf } from './endpoints.js';
import {
  addressIn,
  ENDPOINT_SLICES,
  ENDPOINTS,
  endpointsLabels,
  NAMED,
  SERVICE_LABELS,
  SERVICE_SPEC,
  SERVICES,
  sliceLabels,
} from './initial-objects.js';

const INTERVAL_MS = 10_000;

/** Recreates the Service. Changes of it stay, as in the reference server. */
export function serviceReconciler(server: ReconcilerHost): ServerReconciler {
  return upkeepOf(server, [SERVICES], () => {
    if (server.objects.get(addressIn(SERVICES)) !== undefined) return [];
    const spec = { ...SERVICE_SPEC, clusterIP: server.settings.controlPlaneIP };
    return [() => server.create({ metadata: { ...NAMED, labels: SERVICE_LABELS }, spec })];
  });
}

/** Writes the addresses of the listeners to the Endpoints. */
export function endpointsReconciler(server: ReconcilerHost): ServerReconciler {
  return upkeepOf(server, [ENDPOINTS], (hasNewListeners) => {
    const live = server.objects.get(addressIn(ENDPOINTS)) as EndpointsLike | undefined;
    const wanted = wantedSubsets(live, server, hasNewListeners);
    if (wanted === undefined) return [];
    const labels = { ...live?.metadata.labels, ...endpointsLabels(server.dialect) };
    if (live === undefined) return [() => server.create({ metadata: { ...NAMED, labels }, subsets: wanted })];
    if (deepEqual(live.subsets ?? [], wanted) && deepEqual(live.metadata.labels, labels)) return [];
    const change = (draft: DraftObject): void => {
      draft.metadata.labels = labels;
      draft['subsets'] = wanted;
    };
    return [() => server.update(live, change)];
  });
}

/** Writes the same to the EndpointSlice. */
export function endpointSliceReconciler(server: ReconcilerHost): ServerReconciler {
  return upkeepOf(server, [ENDPOINT_SLICES, ENDPOINTS], (hasNewListeners) => {
    const endpoints = server.objects.get(addressIn(ENDPOINTS)) as EndpointsLike | undefined;
    const subsets = wantedSubsets(endpoints, server, hasNewListeners);
    if (subsets === undefined) return [];
    const labels = sliceLabels(server.dialect);
    const content = sliceOf(subsets);
    const create: Repair = () => server.create({ metadata: { ...NAMED, labels }, ...content });
    const live = server.objects.get(addressIn(ENDPOINT_SLICES));
    if (live === undefined) return [create];
    // The type is immutable.
    if (live['addressType'] !== content.addressType) return [() => server.remove(live), create];
    const isSame =
      deepEqual(live['endpoints'] ?? [], content.endpoints) &&
      deepEqual(live['ports'] ?? [], content.ports) &&
      deepEqual(live.metadata.labels, labels);
    if (isSame) return [];
    const change = (draft: DraftObject): void => {
      // Nothing else of the metadata stays.
      draft.metadata = { ...NAMED, labels };
      Object.assign(draft, content);
    };
    return [() => server.update(live, change)];
  });
}

type EndpointsLike = ApiObject & { readonly subsets?: readonly EndpointSubset[] };

/**
 * The subsets that the Endpoints should have. Undefined: they stay as they are, because all listeners have closed. In a
 * shared cluster they also stay while no listener is known. Ports that another client has changed stay until there are new
 * listeners.
 */
function wantedSubsets(
  live: EndpointsLike | undefined,
  server: Pick<ReconcilerHost, 'listeners' | 'isShared'>,
  hasNewListeners: boolean,
): readonly EndpointSubset[] | undefined {
  const listeners = server.listeners();
  if (listeners === undefined && live !== undefined && server.isShared) return live.subsets;
  const isClosed = listeners?.length === 0;
  if (isClosed && (live === undefined || !hasNewListeners)) return live?.subsets ?? undefined;
  const all = listeners ?? [IN_PROCESS];
  const [before, ...others] = live?.subsets ?? [];
  if (before === undefined || others.length > 0 || all.length === 0) {
    // The port of servers in other processes is not known: they write it.
    return all.length > 0 && portsOf(all) === undefined ? live?.subsets : subsetsOf(all);
  }
  const isShared = all.some(({ port }) => port === undefined);
  const ports = hasNewListeners && !isShared ? portsOf(all) : before.ports;
  const expected = addressesOf(all);
  const sorted = (addresses: typeof expected) => addresses.map(({ ip }) => ip).sort();
  const isSame = deepEqual(sorted(before.addresses ?? []), sorted(expected));
  return [{ ...(isSame ? before : { addresses: expected }), ...(ports === undefined ? {} : { ports }) }];
}

/** Calls `repairsFor` when a table or the listeners have changed. A change of the listeners is urgent. */
function upkeepOf(
  server: ReconcilerHost,
  resources: readonly GroupResource[],
  repairsFor: (hasNewListeners: boolean) => readonly Repair[],
): ServerReconciler {
  const timer = new RepairTimer(server, INTERVAL_MS);
  const lastChanges = (): readonly number[] => resources.map((resource) => server.lastChange(resource));
  let seen: readonly number[] = [];
  let listenersSeen = server.listeners();
  /** The listeners for which the object was last correct; after a start none, so that the ports are compared. */
  let correctFor: readonly ServerListener[] | undefined | 'none' = 'none';
  return {
    reconcile() {
      const listeners = server.listeners();
      const isUrgent = listeners !== listenersSeen;
      const changes = lastChanges();
      if (changes[0] === 0) {
        // Nothing was ever stored: a cluster under construction, which gets them as initial objects.
        correctFor = listeners;
        return;
      }
      if (!timer.isDue && !isUrgent && changes.every((change, index) => change === seen[index])) return;
      listenersSeen = listeners;
      if (timer.settle(repairsFor(listeners !== correctFor), { now: isUrgent })) correctFor = listeners;
      seen = lastChanges();
    },
  };
}
