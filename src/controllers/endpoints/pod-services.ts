/**
 * Which pods are behind which services, and what of a pod an endpoint is made of. Shared by Endpoints and EndpointSlices.
 */
import type { InformerEvent } from '../../client/informer.js';
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { type IpFamily, parseIpSloppy, printIp } from '../../meta/ip.js';
import { type LabelSelector, type Labels, labelSelectorFrom, matchesLabels } from '../../meta/labels.js';
import { deepEqual } from '../../util/json.js';
import { keyOf, type Lookup, type SharedInformer } from '../runtime/shared-informer.js';
import { isPodFinished, isPodReady, isTerminating, type StoredPod } from '../workloads/pod-state.js';

export type StoredService = ObjectOf<typeof Service>;
export type ServicePort = NonNullable<StoredService['spec']['ports']>[number];

export interface PodServices {
  /** The pods that a service's selector picks. */
  podsOf(service: StoredService): readonly StoredPod[];
  /** Keys of the services that a change of a pod may concern. */
  touchedBy(event: InformerEvent<StoredPod>): ReadonlySet<string>;
}

/** Indexes both kinds by pairs of labels, so that neither a pod nor a service has to look at all of the others. */
export function podServices(pods: SharedInformer<typeof Pod>, services: SharedInformer<typeof Service>): PodServices {
  const pick = podsPickedBy(pods);
  const servicesByLabel = services.index('a label of the selector', (service) => {
    const pair = firstPair(service.spec.selector);
    return pair === undefined ? [] : labelKeys(service.metadata.namespace, pair);
  });
  return {
    podsOf: ({ metadata, spec }) =>
      spec.selector === undefined ? [] : pick(metadata.namespace ?? '', labelSelectorFrom(spec.selector)),
    touchedBy: (event) => touched(event, (pod) => servicesOf(pod, servicesByLabel)),
  };
}

/** The pods of a namespace that a selector picks, found by the labels it asks for. */
export function podsPickedBy(pods: SharedInformer<typeof Pod>): PickPods {
  const byLabel = indexByLabels(pods);
  return (namespace, selector) => {
    const keys = selector.requirements.flatMap(({ key, operator, values: [value, ...others] }) => {
      const isExact = (operator === '=' || operator === '==' || operator === 'in') && others.length === 0;
      return isExact && value !== undefined ? [labelKey(namespace, key, value)] : [];
    });
    const candidates = keys.length === 0 ? pods.list(namespace) : byLabel(keys);
    return [...candidates].filter((pod) => matchesLabels(selector, pod.metadata.labels));
  };
}

export type PickPods = (namespace: string, selector: LabelSelector) => readonly StoredPod[];

/** The pods with any one of the labels: that which the fewest have. */
type FewestWith = (keys: readonly string[]) => Iterable<StoredPod>;

const indexes = new WeakMap<SharedInformer<typeof Pod>, FewestWith>();

/** An index that knows how many it would give: a service that asks for one label of many pods and one of few is cheap. */
function indexByLabels(pods: SharedInformer<typeof Pod>): FewestWith {
  const known = indexes.get(pods);
  if (known !== undefined) return known;
  const buckets = new Map<string, Map<string, StoredPod>>();
  pods.subscribe((event) => {
    const { metadata } = event.type === 'ADDED' ? event.object : event.previous;
    const before = event.type === 'ADDED' ? NO_KEYS : labelKeys(metadata.namespace, metadata.labels);
    const after = event.type === 'DELETED' ? NO_KEYS : labelKeys(metadata.namespace, event.object.metadata.labels);
    for (const key of before) {
      if (after.includes(key)) continue;
      buckets.get(key)?.delete(metadata.uid);
      if (buckets.get(key)?.size === 0) buckets.delete(key);
    }
    for (const key of after) {
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, new Map([[metadata.uid, event.object]]));
      else bucket.set(metadata.uid, event.object);
    }
  });
  const fewest: FewestWith = (keys) => {
    let best: ReadonlyMap<string, StoredPod> | undefined;
    for (const key of keys) {
      const bucket = buckets.get(key);
      if (bucket === undefined) return [];
      if (best === undefined || bucket.size < best.size) best = bucket;
    }
    return best?.values() ?? [];
  };
  indexes.set(pods, fewest);
  return fewest;
}

const NO_KEYS: readonly string[] = [];

/** Of labels that were asked about before. Pods keep theirs from change to change, and share them with their likes. */
const keysOfLabels = new WeakMap<
  Labels,
  { readonly namespace: string | undefined; readonly keys: readonly string[] }
>();

function labelKeys(namespace: string | undefined, labels: Labels | undefined): readonly string[] {
  if (!labels) return NO_KEYS;
  const known = keysOfLabels.get(labels);
  if (known !== undefined && known.namespace === namespace) return known.keys;
  const keys = Object.entries(labels).map(([key, value]) => labelKey(namespace, key, value));
  keysOfLabels.set(labels, { namespace, keys });
  return keys;
}

function labelKey(namespace: string | undefined, key: string, value: string): string {
  return `${namespace ?? ''}\n${key}=${value}`;
}

function firstPair(selector: Labels | undefined): Labels | undefined {
  for (const [key, value] of Object.entries(selector ?? {})) return { [key]: value };
  return undefined;
}

function servicesOf({ metadata }: StoredPod, byLabel: Lookup<StoredService>): ReadonlySet<string> {
  let found: Set<string> | undefined;
  for (const label of labelKeys(metadata.namespace, metadata.labels)) {
    for (const service of byLabel(label)) {
      const wanted = Object.entries(service.spec.selector ?? {});
      if (!wanted.every(([key, value]) => metadata.labels?.[key] === value)) continue;
      found ??= new Set();
      found.add(keyOf(service));
    }
  }
  return found ?? NO_SERVICES;
}

const NO_SERVICES: ReadonlySet<string> = new Set();

/**
 * A pod that merely finishes is not looked at: as long as it counts as ready, its endpoint stays until something else
 * concerns the service.
 */
function touched(event: InformerEvent<StoredPod>, of: (pod: StoredPod) => ReadonlySet<string>): ReadonlySet<string> {
  if (event.type !== 'MODIFIED') return of(event.object);
  const { object: next, previous } = event;
  const now = of(next);
  // Most pods are behind no service, and keep their labels.
  if (now.size === 0 && previous.metadata.labels === next.metadata.labels) return now;
  const isChanged = changesEndpoint(previous, next);
  if (!isChanged && !changesMembership(previous, next)) return NO_SERVICES;
  if (!changesMembership(previous, next)) return now;
  const before = of(previous);
  if (isChanged) return new Set([...before, ...now]);
  // Nothing but labels: services that pick it as before need no look.
  return new Set([...[...now].filter((key) => !before.has(key)), ...[...before].filter((key) => !now.has(key))]);
}

function changesEndpoint(before: StoredPod, after: StoredPod): boolean {
  return (
    isTerminating(before) ||
    isTerminating(after) ||
    isPodReady(before) !== isPodReady(after) ||
    // The reference finds pods that were ready before they were anywhere by trying again and again.
    before.spec.nodeName !== after.spec.nodeName ||
    !deepEqual(before.status.podIPs ?? [], after.status.podIPs ?? [])
  );
}

function changesMembership(before: StoredPod, after: StoredPod): boolean {
  return (
    !deepEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}) ||
    before.spec.hostname !== after.spec.hostname ||
    before.spec.subdomain !== after.spec.subdomain
  );
}

/** Whether a pod may be an endpoint at all. */
export function mayBeEndpoint(pod: StoredPod, about: { readonly evenTerminating: boolean }): boolean {
  if (isPodFinished(pod)) return false;
  const { podIP = '', podIPs = [] } = pod.status;
  if (podIP === '' && podIPs.length === 0) return false;
  return about.evenTerminating || !isTerminating(pod);
}

const addressesOfPods = new WeakMap<StoredPod, readonly PodAddress[]>();

export interface PodAddress {
  readonly family: IpFamily;
  /** In its one form, however the pod has it. */
  readonly text: string;
}

/** The addresses of a pod; what is none is left out. Objects never change, so each is read once. */
export function podAddresses(pod: StoredPod): readonly PodAddress[] {
  const known = addressesOfPods.get(pod);
  if (known !== undefined) return known;
  const addresses = (pod.status.podIPs ?? []).flatMap(({ ip: text }) => {
    const ip = parseIpSloppy(text);
    return ip === undefined ? [] : [{ family: ip.family, text: printIp(ip) }];
  });
  addressesOfPods.set(pod, addresses);
  return addresses;
}

/** The host name of a pod that is a name of its own within the service. */
export function hostnameWithin(pod: StoredPod, service: StoredService): string | undefined {
  const { hostname, subdomain } = pod.spec;
  return hostname !== undefined && hostname !== '' && subdomain === service.metadata.name ? hostname : undefined;
}

/** The number behind a port of a service in this pod; undefined: the pod has no port of that name. */
export function portNumber(pod: StoredPod, { targetPort = 0, protocol }: ServicePort): number | undefined {
  if (typeof targetPort === 'number') return targetPort;
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const { ports = [] } of [...pod.spec.containers, ...sidecars]) {
    const port = ports.find((candidate) => candidate.name === targetPort && candidate.protocol === protocol);
    if (port !== undefined) return port.containerPort;
  }
  return undefined;
}

export function isHeadless({ spec }: StoredService): boolean {
  return spec.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None';
}

/** Whether controllers say what is behind the service; otherwise its users do. */
export function isSelecting({ spec }: StoredService): boolean {
  return spec.type !== 'ExternalName' && spec.selector !== undefined;
}
