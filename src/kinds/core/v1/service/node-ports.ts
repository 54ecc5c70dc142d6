/**
 * Ports on the nodes. Which ones are taken is known from the Services that are stored.
 */
import { errors } from '../../../../meta/errors.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { invalid } from '../../../../meta/field-error.js';
import type { ApiObject } from '../../../../meta/object.js';
import type { StrategyContext } from '../../../kind.js';
import { findFreeNumber, SERVICES } from './cluster-ips.js';
import { needsHealthCheck, needsNodePorts, nodePortsOf } from './needs.js';
import type { ServicePort, ServiceSpec } from './schema.js';

const FIRST = 30000;
const LAST = 32767;
/** Given out last, so that people who name a port find one. A 32nd part, but at least 16 and at most 128. */
const RESERVED = Math.min(Math.max(16, Math.floor((LAST - FIRST + 1) / 32)), 128);

const ALLOCATED = 'provided port is already allocated';
const HEALTH_CHECK_PATH = 'spec.healthCheckNodePort';

/** The ports of one write: those it has been given, beside those that others have. */
export class NodePortAllocator {
  readonly #context: StrategyContext;
  /** Each with the field in which the client named it; without one when it was picked. */
  readonly #given = new Map<number, string | undefined>();

  constructor(context: StrategyContext) {
    this.#context = context;
  }

  /** Whether a field of this write named it. */
  isNamed(port: number): boolean {
    return this.#given.get(port) !== undefined;
  }

  /** Why the port that a field names cannot be had; undefined when it was given. */
  allocate(port: number, field: string): string | undefined {
    // Where nothing is taken nobody looks at the range.
    if (!this.#context.dryRun && (port < FIRST || port > LAST)) {
      return `provided port is not in the valid range. The range of valid ports is ${FIRST}-${LAST}`;
    }
    if (this.#given.has(port) || takenPorts(this.#context).has(port)) return ALLOCATED;
    this.#given.set(port, field);
    return undefined;
  }

  /** Any port; undefined when all are taken. */
  allocateAny(): number | undefined {
    const port = this.#context.dryRun ? this.#made() : this.#anyFree();
    if (port !== undefined) this.#given.set(port, undefined);
    return port;
  }

  #anyFree(): number | undefined {
    const { random } = this.#context;
    const stored = takenPorts(this.#context);
    const isTaken = (port: number) => this.#given.has(port) || stored.has(port);
    return (
      findFreeNumber({ first: FIRST + RESERVED, size: LAST - FIRST + 1 - RESERVED }, isTaken, random) ??
      findFreeNumber({ first: FIRST, size: RESERVED }, isTaken, random)
    );
  }

  /** In a dry run, a number that only shows that there would be one: it goes on from the highest of this write. */
  #made(): number {
    return (this.#given.size === 0 ? LAST + 1 : Math.max(...this.#given.keys())) + 1;
  }

  /** Which of them others have come by since. */
  conflicts(): NodePortConflicts {
    const stored = takenPorts(this.#context);
    const lost = [...this.#given].filter(([port]) => stored.has(port));
    return {
      named: lost.flatMap(([port, field]) => (field === undefined ? [] : refusedPort(field, port, ALLOCATED))),
      picked: lost.some(([, field]) => field === undefined),
    };
  }
}

export interface NodePortConflicts {
  /** What is said about those that the client named. */
  readonly named: readonly FieldError[];
  /** Whether there are any for which another would do. */
  readonly picked: boolean;
}

function takenPorts({ objects }: StrategyContext) {
  return objects.index(SERVICES, portsOf);
}

/** Everything a stored Service uses on the nodes. */
function portsOf(service: ApiObject): number[] {
  const spec = service['spec'] as ServiceSpec;
  const ports = nodePortsOf(spec);
  if (needsHealthCheck(spec) && spec.healthCheckNodePort) ports.push(spec.healthCheckNodePort);
  return ports;
}

/** Gives a Service the ports it needs. Returns what is wrong with those it named; throws when none are left. */
export function allocateNodePorts(
  spec: ServiceSpec,
  live: ServiceSpec | undefined,
  ports: NodePortAllocator,
): FieldError[] {
  if (needsNodePorts(spec)) {
    const problems = live === undefined ? newPorts(spec, ports) : changedPorts(spec, live, ports);
    if (problems.length > 0) return problems;
  }
  if (needsHealthCheck(spec) && (live === undefined || !needsHealthCheck(live))) allocateHealthCheck(spec, ports);
  return [];
}

function newPorts(spec: ServiceSpec, ports: NodePortAllocator): FieldError[] {
  // Ports of one number that differ in protocol share their port on the nodes.
  const shared = new Map<number, number>();
  const named = namedByPort(spec);
  for (const [index, entry] of (spec.ports ?? []).entries()) {
    if (!entry.nodePort && !wantsNodePorts(spec)) continue;
    const allocated = shared.get(entry.port);
    if (allocated === undefined) {
      const wanted = named.get(entry.port);
      const problems = wanted === undefined ? [] : takeNamed(wanted, index, ports);
      if (problems.length > 0) return problems;
      entry.nodePort = wanted ?? anyPort(ports);
      shared.set(entry.port, entry.nodePort);
    } else if (!entry.nodePort) {
      entry.nodePort = allocated;
    } else if (entry.nodePort !== allocated) {
      const problems = takeNamed(entry.nodePort, index, ports);
      if (problems.length > 0) return problems;
    }
  }
  return [];
}

/** The first port on the nodes that is named for each number. */
function namedByPort({ ports = [] }: ServiceSpec): ReadonlyMap<number, number> {
  const named = new Map<number, number>();
  for (const { port, nodePort } of ports) if (nodePort && !named.has(port)) named.set(port, nodePort);
  return named;
}

function changedPorts(spec: ServiceSpec, live: ServiceSpec, ports: NodePortAllocator): FieldError[] {
  const before = new Set(nodePortsOf(live));
  const seen = new Set<string>();
  for (const [index, entry] of (spec.ports ?? []).entries()) {
    if (!entry.nodePort && !wantsNodePorts(spec)) continue;
    if (!entry.nodePort) entry.nodePort = anyPort(ports);
    else if (!before.has(entry.nodePort) && !ports.isNamed(entry.nodePort)) {
      const problems = takeNamed(entry.nodePort, index, ports);
      if (problems.length > 0) return problems;
    }
    const key = `{${entry.protocol} ${entry.nodePort}}`;
    if (seen.has(key)) throw errors.plain(`duplicate nodePort: ${key}`);
    seen.add(key);
  }
  return [];
}

/** A load balancer that reaches the pods without the nodes does not. */
function wantsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'NodePort' || allocateLoadBalancerNodePorts !== false;
}

function takeNamed(port: NonNullable<ServicePort['nodePort']>, index: number, ports: NodePortAllocator): FieldError[] {
  const field = `spec.ports[${index}].nodePort`;
  const refusal = ports.allocate(port, field);
  return refusal === undefined ? [] : refusedPort(field, port, refusal);
}

function anyPort(ports: NodePortAllocator): number {
  const port = ports.allocateAny();
  if (port === undefined) throw errors.internal('failed to allocate a nodePort: range is full');
  return port;
}

function allocateHealthCheck(spec: ServiceSpec, ports: NodePortAllocator): void {
  const { healthCheckNodePort: named } = spec;
  if (!named) {
    const port = ports.allocateAny();
    if (port === undefined) throw errors.internal('failed to allocate a HealthCheck NodePort 0: range is full');
    spec.healthCheckNodePort = port;
    return;
  }
  const refusal = ports.allocate(named, HEALTH_CHECK_PATH);
  if (refusal !== undefined) refusedPort(HEALTH_CHECK_PATH, named, refusal);
}

/** The server answers with an error of its own where a health check's port cannot be had: that one is thrown. */
function refusedPort(field: string, port: number, refusal: string): FieldError[] {
  if (field !== HEALTH_CHECK_PATH) return [invalid(field, port, refusal)];
  throw errors.internal(`failed to allocate requested HealthCheck NodePort ${port}: ${refusal}`);
}
