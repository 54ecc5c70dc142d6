/**
 * What the controllers of Endpoints and EndpointSlices share: the mapping of pods to Services, the parts of a pod that endpoints
 * consist of, labels and annotations.
 */
import type { InformerEvent } from '../../client/informer.js';
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { type IpFamily, parseIpSloppy, printIp } from '../../meta/ip.js';
import { type LabelSelector, type Labels, matchesLabels, selectsLabels } from '../../meta/labels.js';
import { deepEqual } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { keyOf, type Lookup, type SharedInformer } from '../runtime/shared-informer.js';
import { isPodFinished, isPodReady, isTerminating, type StoredPod } from '../workloads/pod-state.js';

export type StoredService = ObjectOf<typeof Service>;
export type ServicePort = NonNullable<StoredService['spec']['ports']>[number];

export interface PodServiceIndex {
  /** The pods that a Service's selector matches. */
  podsOf(service: StoredService): readonly StoredPod[];
  /** Keys of the Services that a pod event may affect. */
  affectedBy(event: InformerEvent<StoredPod>): ReadonlySet<string>;
}

const podServiceIndexes = new WeakMap<SharedInformer<typeof Service>, PodServiceIndex>();

/** Indexes pods and Services by label, so that no event scans all objects. Controllers of the same informers share it. */
export function podServiceIndex(
  pods: SharedInformer<typeof Pod>,
  services: SharedInformer<typeof Service>,
): PodServiceIndex {
  return getOrInsertComputed(podServiceIndexes, services, () => newPodServiceIndex(pods, services));
}

function newPodServiceIndex(
  pods: SharedInformer<typeof Pod>,
  services: SharedInformer<typeof Service>,
): PodServiceIndex {
  const select = podIndex(pods);
  const servicesByLabel = services.index('a label of the selector', (service) => {
    const pair = firstPair(service.spec.selector);
    return pair === undefined ? [] : labelKeys(service.metadata.namespace, pair);
  });
  // A pod may have a hundred thousand labels, which it keeps while it changes, and hundreds of Services may select them.
  let found = new WeakMap<readonly string[], ReadonlySet<string>>();
  services.subscribe(() => {
    found = new WeakMap();
  });
  const servicesOfPod = (pod: StoredPod) =>
    getOrInsertComputed(found, labelKeys(pod.metadata.namespace, pod.metadata.labels), () =>
      servicesOf(pod, servicesByLabel),
    );
  return {
    podsOf: ({ metadata: { namespace }, spec: { selector } }) =>
      selector === undefined
        ? []
        : select(namespace ?? '', labelKeys(namespace, selector), (labels) =>
            selectsLabels({ matchLabels: selector }, labels),
          ),
    affectedBy: (event) => affectedServices(event, servicesOfPod),
  };
}

/** Finds the pods of a namespace that match a selector, by the labels it requires. */
export function podSelectorIndex(pods: SharedInformer<typeof Pod>): SelectPods {
  const select = podIndex(pods);
  return (namespace, selector) => {
    const keys = selector.requirements.flatMap(({ key, operator, values: [value, ...others] }) => {
      const isExact = (operator === '=' || operator === '==' || operator === 'in') && others.length === 0;
      return isExact && value !== undefined ? [labelKey(namespace, key, value)] : [];
    });
    return select(namespace, keys, (labels) => matchesLabels(selector, labels));
  };
}

export type SelectPods = (namespace: string, selector: LabelSelector) => readonly StoredPod[];

/** Finds the pods of a namespace with all of the labels of `keys` whose labels match. */
function podIndex(pods: SharedInformer<typeof Pod>) {
  const byLabel = indexByLabels(pods);
  return (
    namespace: string,
    keys: readonly string[],
    matches: (labels: Labels | undefined) => boolean,
  ): readonly StoredPod[] => {
    const candidates = keys.length === 0 ? pods.list(namespace) : byLabel(keys);
    return [...candidates].filter(({ metadata }) => matches(metadata.labels));
  };
}

/** Returns the pods with one of the labels: the one that the fewest pods have. */
type SmallestBucket = (keys: readonly string[]) => Iterable<StoredPod>;

const indexes = new WeakMap<SharedInformer<typeof Pod>, SmallestBucket>();

/** An index of pods by label that uses the rarest of the required labels. */
function indexByLabels(pods: SharedInformer<typeof Pod>): SmallestBucket {
  const known = indexes.get(pods);
  if (known !== undefined) return known;
  const buckets = new Map<string, Map<string, StoredPod>>();
  pods.subscribe((event) => {
    const { metadata } = event.type === 'ADDED' ? event.object : event.previous;
    const before = event.type === 'ADDED' ? NO_KEYS : labelKeys(metadata.namespace, metadata.labels);
    const after = event.type === 'DELETED' ? NO_KEYS : labelKeys(metadata.namespace, event.object.metadata.labels);
    // A pod may have a hundred thousand labels.
    const kept = new Set(after);
    for (const key of before) {
      if (kept.has(key)) continue;
      buckets.get(key)?.delete(metadata.uid);
      if (buckets.get(key)?.size === 0) buckets.delete(key);
    }
    for (const key of after) {
      const bucket = buckets.get(key);
      if (bucket === undefined) buckets.set(key, new Map([[metadata.uid, event.object]]));
      else bucket.set(metadata.uid, event.object);
    }
  });
  const smallestBucket: SmallestBucket = (keys) => {
    let best: ReadonlyMap<string, StoredPod> | undefined;
    for (const key of keys) {
      const bucket = buckets.get(key);
      if (bucket === undefined) return [];
      if (best === undefined || bucket.size < best.size) best = bucket;
    }
    return best?.values() ?? [];
  };
  indexes.set(pods, smallestBucket);
  return smallestBucket;
}

const NO_KEYS: readonly string[] = [];

/** A cache of index keys by label object. A pod keeps its label object across changes and shares it with similar pods. */
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
      if (!selectsLabels({ matchLabels: service.spec.selector ?? {} }, metadata.labels)) continue;
      found ??= new Set();
      found.add(keyOf(service));
    }
  }
  return found ?? NO_SERVICES;
}

const NO_SERVICES: ReadonlySet<string> = new Set();

/**
 * The Services that a pod event affects. As in the reference server, a pod that merely finishes affects none: while it counts
 * as ready, its endpoint stays until something else queues the Service.
 * upstream: endpointslice/util/controller_utils.go podEndpointsChanged
 */
function affectedServices(
  event: InformerEvent<StoredPod>,
  servicesOf: (pod: StoredPod) => ReadonlySet<string>,
): ReadonlySet<string> {
  if (event.type !== 'MODIFIED') return servicesOf(event.object);
  const { object: next, previous } = event;
  const now = servicesOf(next);
  // Most pods belong to no Service and keep their labels.
  if (now.size === 0 && previous.metadata.labels === next.metadata.labels) return now;
  const isChanged = changesEndpoint(previous, next);
  if (!isChanged && !changesMembership(previous, next)) return NO_SERVICES;
  if (!changesMembership(previous, next)) return now;
  const before = servicesOf(previous);
  if (isChanged) return new Set([...before, ...now]);
  // Only labels changed: Services that match the pod before and after are not affected.
  return new Set([...[...now].filter((key) => !before.has(key)), ...[...before].filter((key) => !now.has(key))]);
}

function changesEndpoint(before: StoredPod, after: StoredPod): boolean {
  return (
    isTerminating(before) ||
    isTerminating(after) ||
    isPodReady(before) !== isPodReady(after) ||
    // The reference server finds pods that were ready before they had a node by retries.
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

/** Whether a pod can be an endpoint. */
export function mayBeEndpoint(pod: StoredPod, options: { readonly includeTerminating: boolean }): boolean {
  if (isPodFinished(pod)) return false;
  const { podIP = '', podIPs = [] } = pod.status;
  if (podIP === '' && podIPs.length === 0) return false;
  return options.includeTerminating || !isTerminating(pod);
}

const addressesOfPods = new WeakMap<StoredPod, readonly PodAddress[]>();

export interface PodAddress {
  readonly family: IpFamily;
  /** In canonical form. */
  readonly text: string;
}

/** The valid addresses of a pod. Objects are immutable, so the result is cached. */
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

/** The pod's hostname if its subdomain is the Service. */
export function hostnameWithin(pod: StoredPod, service: StoredService): string | undefined {
  const { hostname, subdomain } = pod.spec;
  return hostname !== undefined && hostname !== '' && subdomain === service.metadata.name ? hostname : undefined;
}

/** The port number of a Service port in this pod; undefined if the pod has no port of that name. */
export function portNumber(
  pod: StoredPod,
  servicePort: Pick<ServicePort, 'targetPort' | 'protocol'>,
): number | undefined {
  const { targetPort = 0 } = servicePort;
  return typeof targetPort === 'number' ? targetPort : namedPortsOf(pod).numbers.get(targetKey(servicePort));
}

/** A port of a Service with its number in a pod. */
export interface ResolvedPort {
  /** Empty: no name. */
  readonly name: string;
  readonly protocol: ServicePort['protocol'];
  readonly port: number;
  readonly appProtocol?: string;
}

/** The most ports of a Service times the number of different lists of numbers that they have in its pods. */
const MAX_RESOLVED_PORTS = 100_000;

/**
 * Resolves the ports of a Service in its pods. A Service may have thousands of ports, so pods in which they have the same
 * numbers share one list.
 */
export class PortResolver {
  readonly #ports: readonly ServicePort[];
  /** The named target ports, as keys of {@link NamedPorts}. */
  readonly #targets: ReadonlySet<string>;
  readonly #byPodPorts = new Map<string, readonly ResolvedPort[] | undefined>();
  readonly #byNumbers = new Map<string, readonly ResolvedPort[]>();
  readonly #omitted = new Set<StoredPod>();

  constructor({ spec: { ports = [] } }: StoredService) {
    this.#ports = ports;
    this.#targets = new Set(ports.flatMap((port) => (typeof port.targetPort === 'string' ? [targetKey(port)] : [])));
  }

  /**
   * The ports that the pod has. Undefined: the pod is omitted, because the Service has too many ports with other numbers in
   * other pods.
   */
  portsIn(pod: StoredPod): readonly ResolvedPort[] | undefined {
    const named = this.#targets.size === 0 ? NO_NAMED_PORTS : namedPortsOf(pod);
    let ports = this.#byPodPorts.get(named.text);
    if (ports === undefined && !this.#byPodPorts.has(named.text)) {
      ports = this.#resolve(pod, named);
      this.#byPodPorts.set(named.text, ports);
    }
    if (ports === undefined) this.#omitted.add(pod);
    return ports;
  }

  /** Describes the omitted pods, for an event; undefined: none. */
  get omission(): string | undefined {
    const { size } = this.#omitted;
    if (size === 0) return undefined;
    return `Skipped ${size} pods: a Service can have at most ${MAX_RESOLVED_PORTS} ports with different numbers in its pods`;
  }

  #resolve(pod: StoredPod, { numbers }: NamedPorts): readonly ResolvedPort[] | undefined {
    const [fewer, others] = numbers.size < this.#targets.size ? [numbers, this.#targets] : [this.#targets, numbers];
    const key = Array.from(fewer.keys())
      .filter((target) => others.has(target))
      .map((target) => `${target} ${numbers.get(target)}`)
      .sort()
      .join('\n');
    const known = this.#byNumbers.get(key);
    if (known !== undefined) return known;
    const isFirst = this.#byNumbers.size === 0;
    if (!isFirst && (this.#byNumbers.size + 1) * this.#ports.length > MAX_RESOLVED_PORTS) return undefined;
    const ports = this.#ports.flatMap((servicePort) => {
      const { name = '', protocol, appProtocol } = servicePort;
      const port = portNumber(pod, servicePort);
      return port === undefined
        ? []
        : [{ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) }];
    });
    this.#byNumbers.set(key, ports);
    return ports;
  }
}

function targetKey({ protocol, targetPort }: Pick<ServicePort, 'targetPort' | 'protocol'>): string {
  return `${protocol} ${targetPort}`;
}

interface NamedPorts {
  /** By protocol and name. */
  readonly numbers: ReadonlyMap<string, number>;
  /** Equal for pods with equal ports. */
  readonly text: string;
}

const NO_NAMED_PORTS: NamedPorts = { numbers: new Map(), text: '' };

/** A pod may have thousands of ports with names. Objects are immutable, so the result is cached. */
const portsOfPods = new WeakMap<StoredPod, NamedPorts>();

function namedPortsOf(pod: StoredPod): NamedPorts {
  return getOrInsertComputed(portsOfPods, pod, namedPorts);
}

/** The named ports of a pod; the first one of a name counts. */
function namedPorts({ spec: { containers, initContainers = [] } }: StoredPod): NamedPorts {
  const named = new Map<string, number>();
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const { ports = [] } of [...containers, ...sidecars]) {
    for (const { name, protocol, containerPort } of ports) {
      const key = `${protocol} ${name}`;
      if (name !== undefined && !named.has(key)) named.set(key, containerPort);
    }
  }
  return { numbers: named, text: JSON.stringify([...named]) };
}

export function isHeadless({ spec }: StoredService): boolean {
  return spec.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None';
}

/** Whether controllers manage the endpoints of the Service; otherwise its users do. */
export function hasSelector({ spec }: StoredService): boolean {
  return spec.type !== 'ExternalName' && spec.selector !== undefined;
}

export function serviceNameLabel(dialect: Dialect): string {
  return dialect.key('service-name');
}

/** The label with the manager of a slice. */
export function managedByLabel(dialect: Dialect): string {
  return dialect.subkey('endpointslice', 'managed-by');
}

/** The value of {@link managedByLabel} for a built-in controller. */
export function manager(dialect: Dialect, controller: string): string {
  return dialect.group(serviceGroup(controller));
}

/** The label of Endpoints and slices of headless Services. */
export function headlessLabel(dialect: Dialect): string {
  return dialect.subkey('service', 'headless');
}

export function triggerTimeAnnotation(dialect: Dialect): string {
  return dialect.subkey('endpoints', 'last-change-trigger-time');
}

/** The annotation of the leader election record that old clients stored in Endpoints. */
export function leaderAnnotation(dialect: Dialect): string {
  return dialect.subkey('control-plane.alpha', 'leader');
}
