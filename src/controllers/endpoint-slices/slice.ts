/**
 * Slices and their endpoints: conversion from pods, comparison, topology hints (with `trafficDistribution: PreferClose`, each
 * ready endpoint has a hint for its own zone), and writes.
 */

import type { Client } from '../../client/client.js';
import type { InformerEvent } from '../../client/informer.js';
import type { Node } from '../../kinds/core/v1/node/node.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import type {
  Endpoint,
  EndpointHints,
  EndpointSliceInput,
  EndpointSlicePort,
} from '../../kinds/generated/discovery-v1.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { StatusError } from '../../meta/errors.js';
import { type IpFamily, parseIpSloppy } from '../../meta/ip.js';
import type { ApiObject, DeepReadonly } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import {
  hostnameWithin,
  managedByLabel,
  podAddresses,
  type StoredService,
  serviceNameLabel,
} from '../endpoints/pod-services.js';
import { isNamespaceTerminating } from '../runtime/expected-errors.js';
import type { Lookup, SharedInformer } from '../runtime/shared-informer.js';
import { isPodReady, isTerminating, type StoredPod } from '../workloads/pod-state.js';

export type StoredSlice = ObjectOf<typeof EndpointSlice>;
export type SliceInput = DeepReadonly<EndpointSliceInput>;
export type SliceEndpoint = DeepReadonly<Endpoint>;
export type SlicePort = DeepReadonly<EndpointSlicePort>;
export type SliceMetadata = SliceInput['metadata'];

export interface SlicePlan {
  /** Absent: a new slice. */
  readonly name?: string;
  readonly metadata: SliceMetadata;
  readonly addressType: StoredSlice['addressType'];
  readonly endpoints: SliceEndpoint[];
  readonly ports: readonly SlicePort[];
}

/** The planned writes to the slices of a Service. */
export interface SliceChanges {
  readonly create: SlicePlan[];
  readonly update: SlicePlan[];
  readonly remove: StoredSlice[];
}

export function endpointsOf(slice: StoredSlice): readonly SliceEndpoint[] {
  return slice.endpoints ?? [];
}

export function portsOf(slice: StoredSlice): readonly SlicePort[] {
  return slice.ports ?? [];
}

/** The identity of an endpoint; all other fields may change in place. */
export function endpointKey({ addresses, hostname = '', targetRef }: SliceEndpoint): string {
  const ips = addresses.length > 1 ? [...addresses].sort().join(' ') : addresses[0];
  return `${ips}\n${hostname}\n${targetRef?.namespace ?? ''}\n${targetRef?.name ?? ''}`;
}

/** Whether two endpoints with the same key are equal, ignoring hints. */
export function isSameEndpoint(a: SliceEndpoint, b: SliceEndpoint): boolean {
  return (
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    a.conditions.ready === b.conditions.ready &&
    a.conditions.serving === b.conditions.serving &&
    a.conditions.terminating === b.conditions.terminating &&
    isSameTarget(a.targetRef, b.targetRef)
  );
}

/** Compares references without resourceVersion. */
function isSameTarget(a: SliceEndpoint['targetRef'], b: SliceEndpoint['targetRef']): boolean {
  if (a?.uid !== b?.uid || a?.name !== b?.name) return false;
  return deepEqual({ ...a, resourceVersion: '' }, { ...b, resourceVersion: '' });
}

/** The request body. Empty lists are omitted, as the reference server's encoding does. */
function bodyOf(plan: SlicePlan): SliceInput {
  const { metadata, addressType, endpoints, ports } = plan;
  return {
    metadata: plan.name === undefined ? metadata : { ...metadata, name: plan.name },
    addressType,
    ...(endpoints.length === 0 ? {} : { endpoints }),
    ...(ports.length === 0 ? {} : { ports }),
  } as SliceInput;
}

interface PodEndpointInput {
  readonly service: StoredService;
  readonly node: ObjectOf<typeof Node> | undefined;
  readonly family: IpFamily;
  readonly dialect: Dialect;
}

/** The endpoint of a pod; undefined if it has no address of that family. */
export function podEndpoint(pod: StoredPod, input: PodEndpointInput): SliceEndpoint | undefined {
  const { service, node, family, dialect } = input;
  const addresses = podAddresses(pod).flatMap((address) => (address.family === family ? [address.text] : []));
  if (addresses.length === 0) return undefined;
  const serving = isPodReady(pod);
  const terminating = isTerminating(pod);
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const { name, namespace = '', uid } = pod.metadata;
  const { nodeName = '' } = pod.spec;
  const zone = node?.metadata.labels?.[dialect.subkey('topology', 'zone')] ?? '';
  const hostname = hostnameWithin(pod, service);
  return {
    addresses: addresses.sort(),
    conditions: { ready, serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone === '' ? {} : { zone }),
  };
}

/** The address families for which a Service has slices. */
export function familiesOf({ spec }: StoredService): readonly IpFamily[] {
  const { ipFamilies = [], clusterIP = '' } = spec;
  if (ipFamilies.length > 0) return [...new Set(ipFamilies)];
  // For Services stored before ipFamilies existed.
  if (clusterIP === '' || clusterIP === 'None') return ['IPv4', 'IPv6'];
  return [parseIpSloppy(clusterIP)?.family ?? 'IPv4'];
}

export type TrafficDistribution = 'none' | 'zone' | 'node';

export function distributionOf(
  trafficDistribution: string | undefined,
  isEnabled: (gate: string) => boolean,
): TrafficDistribution {
  if (trafficDistribution === 'PreferClose') return 'zone';
  if (!isEnabled('PreferSameTrafficDistribution')) return 'none';
  if (trafficDistribution === 'PreferSameZone') return 'zone';
  return trafficDistribution === 'PreferSameNode' ? 'node' : 'none';
}

/** The endpoint with the right hints; the same object if nothing changes. */
export function withHints(endpoint: SliceEndpoint, distribution: TrafficDistribution): SliceEndpoint {
  const { hints, ...plain } = endpoint;
  if (distribution === 'none') return hints === undefined ? endpoint : plain;
  // An endpoint that is not ready gets no traffic; its hints stay unchanged.
  if (endpoint.conditions.ready !== true) return endpoint;
  const wanted = hintsFor(endpoint, distribution);
  if (deepEqual(hints, wanted)) return endpoint;
  return wanted === undefined ? plain : { ...plain, hints: wanted };
}

function hintsFor(
  { zone, nodeName }: SliceEndpoint,
  distribution: TrafficDistribution,
): DeepReadonly<EndpointHints> | undefined {
  const hints = {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(nodeName === undefined || distribution !== 'node' ? {} : { forNodes: [{ name: nodeName }] }),
  };
  return Object.keys(hints).length === 0 ? undefined : hints;
}

export interface OwnSlicesOptions {
  readonly dialect: Dialect;
  /** The value of the managed-by label. */
  readonly manager: string;
}

/**
 * The slices of one controller, indexed by Service. Distinguishes the controller's own writes from those of other clients, so
 * that its own writes do not cause a reconcile.
 */
export class OwnSlices {
  readonly #options: OwnSlicesOptions;
  readonly #slices: SharedInformer<typeof EndpointSlice>;
  readonly #byService: Lookup<StoredSlice>;
  /** The resourceVersion of this controller's last write of each slice, by uid. */
  readonly #written = new Map<string, string>();
  /** Events received while slices of a Service are being written: only afterwards is it known whose writes they are. */
  readonly #writing = new Map<string, InformerEvent<StoredSlice>[]>();
  #listener: (key: string) => void = () => undefined;

  constructor(slices: SharedInformer<typeof EndpointSlice>, options: OwnSlicesOptions) {
    this.#options = options;
    this.#byService = slices.index(`service, of ${options.manager}`, (slice) => {
      const service = this.#isOwn(slice) ? this.#serviceOf(slice) : undefined;
      return service === undefined ? [] : [service];
    });
    this.#slices = slices;
  }

  /**
   * Calls the listener with the Services whose slices were changed by other clients, starting with those of all existing
   * slices. Call it after the queue is created, because existing slices are reported within the call.
   */
  onChange(listener: (key: string) => void): void {
    this.#listener = listener;
    this.#slices.subscribe((event) => this.#receive(event));
  }

  of(key: string): readonly StoredSlice[] {
    return this.#byService(key);
  }

  /** Runs writes to slices of a Service; `run` must report each written slice. */
  async write(key: string, run: (recordWrite: (slice: StoredSlice) => void) => Promise<void>): Promise<void> {
    this.#writing.set(key, []);
    try {
      await run(({ metadata }) => this.#written.set(metadata.uid, metadata.resourceVersion));
    } finally {
      const events = this.#writing.get(key) ?? [];
      this.#writing.delete(key);
      for (const event of events) this.#notify(event);
    }
  }

  #receive(event: InformerEvent<StoredSlice>): void {
    const key = this.#serviceOf(event.object);
    const held = key === undefined ? undefined : this.#writing.get(key);
    if (held === undefined) this.#notify(event);
    else held.push(event);
  }

  #notify(event: InformerEvent<StoredSlice>): void {
    const { type, object } = event;
    const { uid, resourceVersion } = object.metadata;
    const written = this.#written.get(uid);
    if (type === 'DELETED') {
      this.#written.delete(uid);
      if (written === GONE) return;
    } else if (written === resourceVersion) return;
    const previous = type === 'MODIFIED' ? event.previous : object;
    const keys = new Set([this.#serviceOf(object), this.#serviceOf(previous)]);
    // A slice of another manager, before and after the change.
    if (keys.size === 1 && !this.#isOwn(object) && !this.#isOwn(previous)) return;
    for (const key of keys) if (key !== undefined) this.#listener(key);
  }

  /** Records that this controller deletes the slice. */
  recordDelete({ metadata }: StoredSlice): void {
    this.#written.set(metadata.uid, GONE);
  }

  #serviceOf({ metadata }: StoredSlice): string | undefined {
    const name = metadata.labels?.[serviceNameLabel(this.#options.dialect)] ?? '';
    return name === '' ? undefined : `${metadata.namespace ?? ''}/${name}`;
  }

  #isOwn({ metadata }: StoredSlice): boolean {
    return metadata.labels?.[managedByLabel(this.#options.dialect)] === this.#options.manager;
  }
}

/** Marks a deletion; not a valid resourceVersion. */
const GONE = '';

interface SliceWrites {
  readonly client: Client;
  /** The key of the service. */
  readonly key: string;
  /** Records each write. */
  readonly slices: OwnSlices;
  /** The Service or Endpoints that the slices belong to. */
  readonly owner: ApiObject;
  readonly changes: SliceChanges;
  /** Adds annotations before a slice is sent. */
  readonly annotated?: (plan: SlicePlan) => SlicePlan;
}

/** Rejects with the first failure, with the reference server's message. */
export async function writeSlices(writes: SliceWrites): Promise<void> {
  const { create, update, remove } = writes.changes;
  if (create.length + update.length + remove.length === 0) return;
  await writes.slices.write(writes.key, (recordWrite) => writeAll(writes, recordWrite));
}

async function writeAll(
  { client, owner, changes, slices, annotated = (plan) => plan }: SliceWrites,
  recordWrite: (slice: StoredSlice) => void,
): Promise<void> {
  const { kind, metadata } = owner;
  const { name, namespace = '' } = metadata;
  const api = client.api(EndpointSlice, namespace);
  const description = `EndpointSlice for ${kind} ${namespace}/${name}`;
  // An owner that is being deleted gets no new slices: they would have to be garbage-collected.
  if (metadata.deletionTimestamp === undefined) {
    for (const plan of changes.create) {
      try {
        recordWrite(await api.create(bodyOf(annotated(plan))));
      } catch (error) {
        if (isNamespaceTerminating(error)) return;
        throw withContext(`failed to create ${description}`, error);
      }
    }
  }
  for (const plan of changes.update) {
    const { name: slice = '', ...rest } = annotated(plan);
    try {
      recordWrite(await api.update({ ...bodyOf(rest), metadata: { ...rest.metadata, name: slice } }));
    } catch (error) {
      throw withContext(`failed to update ${slice} ${description}`, error);
    }
  }
  for (const slice of changes.remove) {
    const { name: deletedName, uid } = slice.metadata;
    try {
      await api.delete(deletedName, { preconditions: { uid } });
      slices.recordDelete(slice);
    } catch (error) {
      if (!StatusError.is(error, 'NotFound'))
        throw withContext(`failed to delete ${deletedName} ${description}`, error);
    }
  }
}

/** Prefixes the message and keeps the status, because the queue checks the reason. */
function withContext(text: string, error: unknown): unknown {
  if (StatusError.is(error)) {
    return new StatusError({ ...error.status, message: `${text}: ${error.message}` }, { cause: error });
  }
  return error;
}
