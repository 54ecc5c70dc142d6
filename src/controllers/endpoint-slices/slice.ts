/**
 * Plans of slices, and comparison of endpoints.
 */
import type {
  Endpoint,
  EndpointSlice,
  EndpointSliceInput,
  EndpointSlicePort,
} from '../../kinds/discovery/v1/endpoint-slice.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { DeepReadonly } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';

export type StoredSlice = ObjectOf<typeof EndpointSlice>;
export type SliceInput = DeepReadonly<EndpointSliceInput>;
export type SliceEndpoint = DeepReadonly<Endpoint>;
export type SlicePort = DeepReadonly<EndpointSlicePort>;
export type SliceMetadata = SliceInput['metadata'];

/** The wanted state of a slice. */
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
export function bodyOf(plan: SlicePlan): SliceInput {
  const { metadata, addressType, endpoints, ports } = plan;
  return {
    metadata: plan.name === undefined ? metadata : { ...metadata, name: plan.name },
    addressType,
    ...(endpoints.length === 0 ? {} : { endpoints }),
    ...(ports.length === 0 ? {} : { ports }),
  } as SliceInput;
}
