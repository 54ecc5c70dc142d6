/**
 * Allocation of node ports. The stored Services determine which ports are taken.
 */
import { errors } from '../../../../meta/errors.js';
import { type FieldError, invalid } from '../../../../meta/field-error.js';
import type { ApiObject } from '../../../../meta/object.js';
import type { ServicePort, ServiceSpec } from '../../../generated/core-v1.js';
import type { StrategyContext } from '../../../kind.js';
import { SERVICES } from '../../../shared/control-plane/initial-objects.js';
import { findFreeNumber } from './cluster-ips.js';
import { needsHealthCheck, needsNodePorts, nodePortsOf } from './needs.js';

const FIRST = 30000;
const LAST = 32767;
/** The first and the last node port. */
export const NODE_PORT_RANGE = [FIRST, LAST] as const;
/** The number of ports at the start that are allocated last, for clients that request one: a 32nd, at least 16 and at most 128. */
const RESERVED = Math.min(Math.max(16, Math.floor((LAST - FIRST + 1) / 32)), 128);

const ALLOCATED = 'provided port is already allocated';
const HEALTH_CHECK_PATH = 'spec.healthCheckNodePort';

/** Allocates the node ports of one write. */
export class NodePortAllocator {
  readonly #context: StrategyContext;
  /** Ports of this write, with the path of the field that requested it; undefined if the allocator chose it. */
  readonly #allocated = new Map<number, string | undefined>();
  #highest = LAST + 1;

  constructor(context: StrategyContext) {
    this.#context = context;
  }

  /** True if a field of this write requested the port. */
  isRequested(port: number): boolean {
    return this.#allocated.get(port) !== undefined;
  }

  /** Allocates the port that a field requests. Returns the reason if it cannot be allocated. */
  allocate(port: number, field: string): string | undefined {
    // As in the reference server, dry runs do not check the range.
    if (!this.#context.dryRun && (port < FIRST || port > LAST)) {
      return `provided port is not in the valid range. The range of valid ports is ${FIRST}-${LAST}`;
    }
    if (this.#allocated.has(port) || takenPorts(this.#context).has(port)) return ALLOCATED;
    this.#take(port, field);
    return undefined;
  }

  /** Allocates a free port; returns undefined if all are taken. */
  allocateAny(): number | undefined {
    const port = this.#context.dryRun ? this.#placeholder() : this.#findFree();
    if (port !== undefined) this.#take(port, undefined);
    return port;
  }

  #take(port: number, field: string | undefined): void {
    this.#highest = this.#allocated.size === 0 ? port : Math.max(this.#highest, port);
    this.#allocated.set(port, field);
  }

  #findFree(): number | undefined {
    const { random } = this.#context;
    const stored = takenPorts(this.#context);
    const isTaken = (port: number) => this.#allocated.has(port) || stored.has(port);
    return (
      findFreeNumber({ first: FIRST + RESERVED, size: LAST - FIRST + 1 - RESERVED }, isTaken, random) ??
      findFreeNumber({ first: FIRST, size: RESERVED }, isTaken, random)
    );
  }

  /** The port of a dry run: a number outside of the range, above all ports of this write. */
  #placeholder(): number {
    return this.#highest + 1;
  }

  /** The ports that other writes have taken since. */
  conflicts(): NodePortConflicts {
    const stored = takenPorts(this.#context);
    const lost = [...this.#allocated].filter(([port]) => stored.has(port));
    return {
      requested: lost.flatMap(([port, field]) => (field === undefined ? [] : portProblem(field, port, ALLOCATED))),
      hasChosen: lost.some(([, field]) => field === undefined),
    };
  }
}

export interface NodePortConflicts {
  /** Errors about requested ports. */
  readonly requested: readonly FieldError[];
  /** True if a port that the allocator chose is taken. */
  readonly hasChosen: boolean;
}

function takenPorts({ objects }: StrategyContext) {
  return objects.index(SERVICES, allNodePortsOf);
}

/** All node ports of a stored Service, including the health check port. */
export function allNodePortsOf(service: ApiObject): number[] {
  const spec = service['spec'] as ServiceSpec;
  const ports = nodePortsOf(spec);
  if (needsHealthCheck(spec) && spec.healthCheckNodePort) ports.push(spec.healthCheckNodePort);
  return ports;
}

/** Allocates the ports that a Service needs. Returns errors about requested ports; throws if no port is free. */
export function allocateNodePorts(
  spec: ServiceSpec,
  live: ServiceSpec | undefined,
  ports: NodePortAllocator,
): FieldError[] {
  if (needsNodePorts(spec)) {
    const problems = live === undefined ? allocateNewPorts(spec, ports) : allocateChangedPorts(spec, live, ports);
    if (problems.length > 0) return problems;
  }
  if (needsHealthCheck(spec) && (live === undefined || !needsHealthCheck(live))) allocateHealthCheck(spec, ports);
  return [];
}

function allocateNewPorts(spec: ServiceSpec, ports: NodePortAllocator): FieldError[] {
  // Ports with the same number and different protocols share a node port.
  const shared = new Map<number, number>();
  const requested = requestedByPort(spec);
  for (const [index, entry] of (spec.ports ?? []).entries()) {
    if (!entry.nodePort && !allocatesNodePorts(spec)) continue;
    const allocated = shared.get(entry.port);
    if (allocated === undefined) {
      const wanted = requested.get(entry.port);
      const problems = wanted === undefined ? [] : allocateRequested(wanted, index, ports);
      if (problems.length > 0) return problems;
      entry.nodePort = wanted ?? allocateAnyPort(ports);
      shared.set(entry.port, entry.nodePort);
    } else if (!entry.nodePort) {
      entry.nodePort = allocated;
    } else if (entry.nodePort !== allocated) {
      const problems = allocateRequested(entry.nodePort, index, ports);
      if (problems.length > 0) return problems;
    }
  }
  return [];
}

/** The first requested node port by port number. */
function requestedByPort({ ports = [] }: ServiceSpec): ReadonlyMap<number, number> {
  const requested = new Map<number, number>();
  for (const { port, nodePort } of ports) if (nodePort && !requested.has(port)) requested.set(port, nodePort);
  return requested;
}

function allocateChangedPorts(spec: ServiceSpec, live: ServiceSpec, ports: NodePortAllocator): FieldError[] {
  const before = new Set(nodePortsOf(live));
  const seen = new Set<string>();
  for (const [index, entry] of (spec.ports ?? []).entries()) {
    if (!entry.nodePort && !allocatesNodePorts(spec)) continue;
    if (!entry.nodePort) entry.nodePort = allocateAnyPort(ports);
    else if (!before.has(entry.nodePort) && !ports.isRequested(entry.nodePort)) {
      const problems = allocateRequested(entry.nodePort, index, ports);
      if (problems.length > 0) return problems;
    }
    const key = `{${entry.protocol} ${entry.nodePort}}`;
    if (seen.has(key)) throw errors.plain(`duplicate nodePort: ${key}`);
    seen.add(key);
  }
  return [];
}

/** Load balancers that route to pods directly disable node ports. */
function allocatesNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'NodePort' || allocateLoadBalancerNodePorts !== false;
}

function allocateRequested(
  port: NonNullable<ServicePort['nodePort']>,
  index: number,
  ports: NodePortAllocator,
): FieldError[] {
  const field = `spec.ports[${index}].nodePort`;
  const refusal = ports.allocate(port, field);
  return refusal === undefined ? [] : portProblem(field, port, refusal);
}

function allocateAnyPort(ports: NodePortAllocator): number {
  const port = ports.allocateAny();
  if (port === undefined) throw errors.internal('failed to allocate a nodePort: range is full');
  return port;
}

function allocateHealthCheck(spec: ServiceSpec, ports: NodePortAllocator): void {
  const { healthCheckNodePort: requested } = spec;
  if (!requested) {
    const port = ports.allocateAny();
    if (port === undefined) throw errors.internal('failed to allocate a HealthCheck NodePort 0: range is full');
    spec.healthCheckNodePort = port;
    return;
  }
  const refusal = ports.allocate(requested, HEALTH_CHECK_PATH);
  if (refusal !== undefined) portProblem(HEALTH_CHECK_PATH, requested, refusal);
}

/** The error about a requested port. For the health check port, the reference server returns an internal error. */
function portProblem(field: string, port: number, refusal: string): FieldError[] {
  if (field !== HEALTH_CHECK_PATH) return [invalid(field, port, refusal)];
  throw errors.internal(`failed to allocate requested HealthCheck NodePort ${port}: ${refusal}`);
}
