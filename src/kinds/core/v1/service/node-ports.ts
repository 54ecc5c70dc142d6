/**
 * Ports on the nodes. Which ones are taken is known from the Services that are stored; one look at them serves all
 * ports of a write.
 */
import { errors } from '../../../../meta/errors.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { invalid } from '../../../../meta/field-error.js';
import type { ApiObject } from '../../../../meta/object.js';
import { needsHealthCheck, needsNodePorts, nodePortsOf } from './needs.js';
import type { ServicePort, ServiceSpec } from './schema.js';

const FIRST = 30000;
const LAST = 32767;
/** Given out last, so that people who name a port find one. A 32nd part, but at least 16 and at most 128. */
const RESERVED = Math.min(Math.max(16, Math.floor((LAST - FIRST + 1) / 32)), 128);

/** The ports of one write: those that others have, and those it has been given. */
export class NodePorts {
  readonly #taken = new Set<number>();
  readonly #random: () => number;
  readonly #given: number[] = [];

  constructor(services: readonly ApiObject[], random: () => number) {
    this.#random = random;
    for (const service of services) {
      const spec = service['spec'] as ServiceSpec;
      for (const port of nodePortsOf(spec)) this.#taken.add(port);
      if (needsHealthCheck(spec)) this.#taken.add(spec.healthCheckNodePort ?? 0);
    }
  }

  /** Those that this write was given. */
  get given(): readonly number[] {
    return this.#given;
  }

  isTaken(port: number): boolean {
    return this.#taken.has(port);
  }

  /** Why it cannot be had; undefined when it was given. */
  take(port: number): string | undefined {
    if (port < FIRST || port > LAST) {
      return `provided port is not in the valid range. The range of valid ports is ${FIRST}-${LAST}`;
    }
    if (this.#taken.has(port)) return 'provided port is already allocated';
    this.#taken.add(port);
    this.#given.push(port);
    return undefined;
  }

  /** Any port; undefined when all are taken. */
  takeAny(): number | undefined {
    const port = this.#freeIn(FIRST + RESERVED, LAST) ?? this.#freeIn(FIRST, FIRST + RESERVED - 1);
    if (port !== undefined) this.take(port);
    return port;
  }

  #freeIn(first: number, last: number): number | undefined {
    const size = last - first + 1;
    const start = Math.floor(this.#random() * size);
    for (let step = 0; step < size; step++) {
      const port = first + ((start + step) % size);
      if (!this.#taken.has(port)) return port;
    }
    return undefined;
  }
}

/** Gives a Service the ports it needs. Returns what is wrong with those it named; throws when none are left. */
export function allocateNodePorts(spec: ServiceSpec, live: ServiceSpec | undefined, ports: NodePorts): FieldError[] {
  if (needsNodePorts(spec)) {
    const problems = live === undefined ? newPorts(spec, ports) : changedPorts(spec, live, ports);
    if (problems.length > 0) return problems;
  }
  if (needsHealthCheck(spec) && (live === undefined || !needsHealthCheck(live))) allocateHealthCheck(spec, ports);
  return [];
}

function newPorts(spec: ServiceSpec, ports: NodePorts): FieldError[] {
  // Ports of one number that differ in protocol share their port on the nodes.
  const shared = new Map<number, number>();
  const all = spec.ports ?? [];
  for (const [index, entry] of all.entries()) {
    if (!entry.nodePort && !wantsNodePorts(spec)) continue;
    const allocated = shared.get(entry.port);
    if (allocated === undefined) {
      const named = all.find(({ port, nodePort }) => port === entry.port && nodePort)?.nodePort;
      const problems = named === undefined ? [] : takeNamed(named, index, ports);
      if (problems.length > 0) return problems;
      entry.nodePort = named ?? anyPort(ports);
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

function changedPorts(spec: ServiceSpec, live: ServiceSpec, ports: NodePorts): FieldError[] {
  const before = new Set(nodePortsOf(live));
  const seen = new Set<string>();
  for (const [index, entry] of (spec.ports ?? []).entries()) {
    if (!entry.nodePort && !wantsNodePorts(spec)) continue;
    if (!entry.nodePort) entry.nodePort = anyPort(ports);
    else if (!before.has(entry.nodePort) && !ports.given.includes(entry.nodePort)) {
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

function takeNamed(port: NonNullable<ServicePort['nodePort']>, index: number, ports: NodePorts): FieldError[] {
  const refusal = ports.take(port);
  return refusal === undefined ? [] : [invalid(`spec.ports[${index}].nodePort`, port, refusal)];
}

function anyPort(ports: NodePorts): number {
  const port = ports.takeAny();
  if (port === undefined) throw errors.internal('failed to allocate a nodePort: range is full');
  return port;
}

function allocateHealthCheck(spec: ServiceSpec, ports: NodePorts): void {
  const { healthCheckNodePort: named } = spec;
  if (!named) {
    const port = ports.takeAny();
    if (port === undefined) throw errors.internal('failed to allocate a HealthCheck NodePort 0: range is full');
    spec.healthCheckNodePort = port;
    return;
  }
  const refusal = ports.take(named);
  if (refusal !== undefined) {
    throw errors.internal(`failed to allocate requested HealthCheck NodePort ${named}: ${refusal}`);
  }
}
