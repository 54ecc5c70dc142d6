/**
 * Topology-aware hints (annotation `topology-mode: Auto` of a Service): endpoints are allocated to zones in proportion to the
 * CPU of the nodes there. Endpoints of the same zone come first; some are given to other zones to balance the load.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { IpFamily } from '../../meta/ip.js';
import { Quantity } from '../../meta/quantity.js';
import { compareText } from '../../util/order.js';
import type { StoredService } from '../endpoints/pod-services.js';
import type { EventType } from '../runtime/events.js';
import { isNodeReady, type StoredNode } from '../workloads/daemon-set/placement.js';
import { endpointsOf, type SliceEndpoint, type SlicePlan, type StoredSlice } from './slice.js';

/** The load of an endpoint may exceed its fair share by this fraction. */
const OVERLOAD = 0.2;

export interface TopologyEvent {
  readonly type: EventType;
  readonly reason: 'TopologyAwareHintsEnabled' | 'TopologyAwareHintsDisabled';
  readonly message: string;
}

/** The slices of one address family. */
export interface HintableSlices {
  readonly create: readonly SlicePlan[];
  readonly update: readonly SlicePlan[];
  readonly unchanged: readonly StoredSlice[];
  /** The plan that writes an unchanged slice with other endpoints. */
  readonly changed: (slice: StoredSlice, endpoints: readonly SliceEndpoint[]) => SlicePlan;
}

export interface HintedSlices {
  readonly create: readonly SlicePlan[];
  readonly update: readonly SlicePlan[];
  readonly event: TopologyEvent | undefined;
}

/** Whether the annotations of a Service ask for hints. The deprecated annotation takes precedence. */
export function wantsTopologyHints({ metadata: { annotations = {} } }: StoredService, dialect: Dialect): boolean {
  const mode =
    annotations[dialect.subkey('service', 'topology-aware-hints')] ??
    annotations[dialect.subkey('service', 'topology-mode')];
  return mode === 'Auto' || mode === 'auto';
}

/** Whether a change of a node affects the shares of zones. */
export function changesTopology(node: StoredNode, previous: StoredNode, dialect: Dialect): boolean {
  const label = dialect.subkey('topology', 'zone');
  return (
    isNodeReady(node) !== isNodeReady(previous) || node.metadata.labels?.[label] !== previous.metadata.labels?.[label]
  );
}

/** The number of endpoints by zone. */
type Counts = Map<string, number>;

interface Allocation {
  readonly maximum: number;
  readonly desired: number;
}

/** Knows the share of the cluster's CPU in each zone, and the hints of each Service. */
export class TopologyHints {
  readonly #nodes: () => readonly StoredNode[];
  readonly #dialect: Dialect;
  /** The result of {@link sharesOf} for the current nodes; undefined: it must be computed. */
  #current: { readonly shares: ReadonlyMap<string, number> | undefined } | undefined;
  readonly #hinted = new Map<string, Map<IpFamily, Counts>>();

  constructor(nodes: () => readonly StoredNode[], dialect: Dialect) {
    this.#nodes = nodes;
    this.#dialect = dialect;
  }

  /** Nodes have changed. Returns whether some Services have hints that may no longer fit. */
  nodesChanged(): boolean {
    this.#current = undefined;
    return this.#hinted.size > 0;
  }

  /** The Services whose hints overload the endpoints of a zone. */
  overloaded(): readonly string[] {
    return [...this.#hinted].flatMap(([key, families]) =>
      [...families.values()].some((counts) => this.#isOverloaded(counts)) ? [key] : [],
    );
  }

  /** Forgets the hints of a Service. Returns the event if it had some. */
  disable(service: string, family: IpFamily): TopologyEvent | undefined {
    const event = this.#hinted.has(service)
      ? disabled(`Topology Aware Hints has been disabled, addressType: ${family}`)
      : undefined;
    this.forget(service);
    return event;
  }

  forget(service: string): void {
    this.#hinted.delete(service);
  }

  /** Adds hints to slices. If that is not possible, all hints are removed, and the event says why. */
  add(service: string, family: IpFamily, slices: HintableSlices): HintedSlices {
    const ready = [...slices.create, ...slices.update, ...slices.unchanged].flatMap((slice) =>
      (slice.endpoints ?? []).filter(isReady),
    );
    const allocations = this.#allocate(ready.length);
    if (typeof allocations === 'string') return this.#remove(service, family, slices, allocations);
    const update = [...slices.update];
    const counts: Counts = new Map();
    for (const slice of slices.unchanged) {
      const hints = validHints(slice, counts, allocations);
      if (hints === undefined) update.push(slices.changed(slice, endpointsOf(slice)));
      else for (const [zone, count] of hints) add(counts, zone, count);
    }
    const changing = [...slices.create, ...update];
    for (const endpoint of changing.flatMap(({ endpoints }) => endpoints.filter(isReady))) {
      if (!endpoint.zone) {
        return this.#remove(service, family, slices, 'One or more endpoints do not have a zone specified');
      }
      add(counts, endpoint.zone, 1);
    }
    const { giving, receiving } = exchange(allocations, counts);
    const hint = (plan: SlicePlan): SlicePlan => ({
      ...plan,
      endpoints: plan.endpoints.map((endpoint) => {
        const { zone = '' } = endpoint;
        if (!isReady(endpoint)) return endpoint;
        const [receiver] = (giving.get(zone) ?? 0) > 0 ? receiving.keys() : [];
        if (receiver !== undefined) {
          take(giving, zone);
          take(receiving, receiver);
          add(counts, receiver, 1);
          add(counts, zone, -1);
        }
        return { ...endpoint, hints: { forZones: [{ name: receiver ?? zone }] } };
      }),
    });
    const hinted = { create: slices.create.map(hint), update: update.map(hint) };
    const families = this.#hinted.get(service) ?? new Map<IpFamily, Counts>();
    const isNew = families.size === 0;
    this.#hinted.set(service, families.set(family, counts));
    const message = `Topology Aware Hints has been enabled, addressType: ${family}`;
    const event = isNew ? ({ type: 'Normal', reason: 'TopologyAwareHintsEnabled', message } as const) : undefined;
    return { ...hinted, event };
  }

  #remove(service: string, family: IpFamily, slices: HintableSlices, why: string): HintedSlices {
    const families = this.#hinted.get(service);
    families?.delete(family);
    if (families?.size === 0) this.#hinted.delete(service);
    const plain = (plan: SlicePlan): SlicePlan => ({ ...plan, endpoints: plan.endpoints.map(withoutHints) });
    const unhinted = slices.unchanged.filter((slice) => endpointsOf(slice).some(({ hints }) => hints !== undefined));
    return {
      create: slices.create.map(plain),
      update: [
        ...slices.update.map(plain),
        ...unhinted.map((slice) => slices.changed(slice, endpointsOf(slice).map(withoutHints))),
      ],
      event: disabled(`${why}, addressType: ${family}`),
    };
  }

  /** The endpoints that each zone should get; a text if they cannot be allocated. */
  #allocate(count: number): ReadonlyMap<string, Allocation> | string {
    const shares = this.#shares();
    if (shares === undefined) {
      return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
    }
    const numbers = `(${count} endpoints, ${shares.size} zones)`;
    if (shares.size > count) return `Insufficient number of endpoints ${numbers}`;
    const minimums = new Map([...shares].map(([zone, share]) => [zone, minimumOf(share * count)]));
    const left = count - [...minimums.values()].reduce((sum, minimum) => sum + minimum, 0);
    if (left < 0) {
      return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${numbers}`;
    }
    return new Map(
      [...shares].map(([zone, share]) => {
        const minimum = minimums.get(zone) ?? 0;
        return [zone, { maximum: minimum + left, desired: Math.max(share * count, minimum) }];
      }),
    );
  }

  #shares(): ReadonlyMap<string, number> | undefined {
    this.#current ??= { shares: sharesOf(this.#nodes(), this.#dialect) };
    return this.#current.shares;
  }

  #isOverloaded(counts: Counts): boolean {
    if (counts.size === 0) return false;
    const shares = this.#shares();
    if (shares === undefined) return true;
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return [...shares].some(([zone, share]) => (counts.get(zone) ?? -1) < minimumOf(total * share));
  }
}

/** The fewest endpoints for a fair share, so that none is overloaded. */
function minimumOf(fairShare: number): number {
  return Math.ceil(fairShare * (1 / (1 + OVERLOAD)));
}

/**
 * The share of each zone in the CPU of all ready nodes except those of the control plane, in the order of the zones' names;
 * undefined if a node has no zone or CPU, or if there is one zone only.
 */
function sharesOf(nodes: readonly StoredNode[], dialect: Dialect): ReadonlyMap<string, number> | undefined {
  const byZone: Counts = new Map();
  let total = 0;
  for (const node of nodes) {
    const { labels = {} } = node.metadata;
    const isControlPlane = ['control-plane', 'master'].some((role) =>
      Object.hasOwn(labels, dialect.subkey('node-role', role)),
    );
    if (isControlPlane || !isNodeReady(node)) continue;
    const zone = labels[dialect.subkey('topology', 'zone')] ?? '';
    const cpu = Number(Quantity.parse(node.status.allocatable?.['cpu'] ?? '0').milliValue());
    if (zone === '' || cpu === 0) return undefined;
    add(byZone, zone, cpu);
    total += cpu;
  }
  if (byZone.size < 2) return undefined;
  const zones = [...byZone].sort(([left], [right]) => compareText(left, right));
  return new Map(zones.map(([zone, cpu]) => [zone, cpu / total]));
}

/**
 * The hints of a slice by zone; undefined if the slice must be written: an endpoint has no hint, or one for a zone without
 * nodes, or a zone would get too many endpoints.
 */
function validHints(
  slice: StoredSlice,
  counted: Counts,
  allocations: ReadonlyMap<string, Allocation>,
): Counts | undefined {
  const hints: Counts = new Map();
  for (const endpoint of endpointsOf(slice).filter(isReady)) {
    const zones = endpoint.hints?.forZones ?? [];
    if (zones.length === 0) return undefined;
    for (const { name } of zones) add(hints, name, 1);
  }
  const isValid = [...hints].every(([zone, count]) => {
    const allocation = allocations.get(zone);
    return allocation !== undefined && count + (counted.get(zone) ?? 0) <= allocation.maximum;
  });
  return isValid ? hints : undefined;
}

/** How many endpoints zones give to others, so that each has about what it should have. */
function exchange(allocations: ReadonlyMap<string, Allocation>, counts: Counts) {
  const surplus: Counts = new Map();
  const shortage: Counts = new Map();
  for (const [zone, { desired }] of allocations) {
    const difference = (counts.get(zone) ?? 0) - desired;
    if (difference > 0) surplus.set(zone, difference);
    if (difference < 0) shortage.set(zone, -difference);
  }
  const giving: Counts = new Map();
  const receiving: Counts = new Map();
  for (;;) {
    const [giver, most] = largest(surplus);
    const [receiver, least] = largest(shortage);
    if ((most < 1 && least < 1) || most < 0.5 || least < 0.5) return { giving, receiving };
    add(giving, giver, 1);
    add(surplus, giver, -1);
    add(receiving, receiver, 1);
    add(shortage, receiver, -1);
  }
}

function largest(numbers: Counts): readonly [zone: string, number: number] {
  let found: readonly [string, number] = ['', 0];
  for (const entry of numbers) if (entry[1] > found[1]) found = entry;
  return found;
}

function add(counts: Counts, zone: string, count: number): void {
  counts.set(zone, (counts.get(zone) ?? 0) + count);
}

/** Removes the zone with its last endpoint. */
function take(counts: Counts, zone: string): void {
  const left = (counts.get(zone) ?? 0) - 1;
  if (left > 0) counts.set(zone, left);
  else counts.delete(zone);
}

function isReady({ conditions }: SliceEndpoint): boolean {
  return conditions.ready === true;
}

function withoutHints({ hints: _hints, ...endpoint }: SliceEndpoint): SliceEndpoint {
  return endpoint;
}

function disabled(message: string): TopologyEvent {
  return { type: 'Warning', reason: 'TopologyAwareHintsDisabled', message };
}
