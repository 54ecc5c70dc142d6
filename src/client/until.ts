/**
 * Conditions for `waitFor`. Each is a predicate that describes what it requires and what is missing, so that a timeout
 * error can report both. It also contains the readiness rules of each kind, which the matcher `toBeReady` shares.
 */

import type { ApiObject } from '../meta/object.js';
import { isRecord } from '../util/json.js';
import { type DescribedCondition, isDescribed } from './wait-for.js';

/** A condition on any object. */
export type UntilCondition = ((object: unknown) => boolean) & DescribedCondition;

/** A condition that only an existing object can meet. */
export type UntilPresent = UntilCondition & { readonly needsObject: true };

/** A condition that is met when the object does not exist. */
export type UntilAbsent = ((object: unknown) => object is undefined) & DescribedCondition;

/**
 * Conditions for `waitFor`. They compose with `until.and`, `until.or` and `until.not`; `until.that` creates one from a
 * function.
 *
 * @example
 * await cluster.api(Pod).waitFor('web', until.condition('Ready'), { timeoutMs: 60_000 });
 */
export const until = Object.freeze({
  /** The object exists. */
  exists: presentCondition('it exists', () => undefined),
  /** The object does not exist. */
  deleted: createCondition<UntilAbsent>('it is deleted', (object) => {
    if (object === undefined) return undefined;
    const finalizers = metaOf(object).finalizers ?? [];
    const held = finalizers.length === 0 ? '' : ` and has finalizers ${finalizers.join(', ')}`;
    return metaOf(object).deletionTimestamp === undefined
      ? 'it exists and is not being deleted'
      : `it is being deleted${held}`;
  }),
  /** The object is ready: its replicas, phase or conditions match its spec, depending on its kind. */
  ready: presentCondition('it is ready', whyNotReady),
  /** The status is about the current generation. */
  generationObserved: presentCondition('its generation is observed', (object) => {
    if ((object as AnyObject).status?.['observedGeneration'] === undefined) return 'its status observes no generation';
    return unobservedGeneration(object as AnyObject);
  }),
  condition,
  phase,
  that,
  and,
  or,
  not,
});

/** A status condition has this value, `True` by default. */
function condition(type: string, status: 'True' | 'False' | 'Unknown' = 'True'): UntilPresent {
  requireText('until.condition', type);
  return presentCondition(`condition ${type} is "${status}"`, (object) => {
    const found = conditionOf(object, type);
    if (found?.status === status) return undefined;
    if (found !== undefined) return `condition ${printCondition(found)}`;
    const others = conditionsOf(object).map((each) => each.type);
    return `it has no condition ${type}${others.length === 0 ? '' : `, only ${others.join(', ')}`}`;
  });
}

/** `status.phase` is one of these. */
function phase(...phases: readonly [string, ...string[]]): UntilPresent {
  for (const each of phases) requireText('until.phase', each);
  return presentCondition(`phase is ${phases.map((each) => `"${each}"`).join(' or ')}`, (object) => {
    const found = phaseOf(object);
    if (found !== undefined && phases.includes(found)) return undefined;
    return found === undefined ? 'it has no phase' : `its phase is "${found}"`;
  });
}

/** A predicate on an existing object, with a description for the error message. */
function that<Object>(description: string, predicate: (object: Object) => boolean): UntilPresent {
  requireText('until.that', description);
  if (typeof predicate !== 'function') throw new TypeError('orchplane: until.that takes a description and a function');
  return presentCondition(description, (object) =>
    predicate(object as Object) ? undefined : `not so: ${description}`,
  );
}

/** All conditions are met. */
function and(...all: readonly [UntilPresent, ...UntilPresent[]]): UntilPresent;
function and(...all: readonly [UntilCondition, ...UntilCondition[]]): UntilCondition;
function and(...all: readonly UntilCondition[]): UntilCondition {
  requireConditions('until.and', all);
  const needsObject = all.some((each) => 'needsObject' in each);
  const condition = createCondition(all.map((each) => each.description).join(' and '), (object) => {
    const missing = all.map((each) => each.missing(object)).filter((text) => text !== undefined);
    return missing.length === 0 ? undefined : [...new Set(missing)].join(' and ');
  });
  return needsObject ? Object.assign(condition, { needsObject }) : condition;
}

/** At least one condition is met. */
function or(...any: readonly [UntilPresent, ...UntilPresent[]]): UntilPresent;
function or(...any: readonly [UntilCondition, ...UntilCondition[]]): UntilCondition;
function or(...any: readonly UntilCondition[]): UntilCondition {
  requireConditions('until.or', any);
  const needsObject = any.every((each) => 'needsObject' in each);
  const condition = createCondition(any.map((each) => each.description).join(' or '), (object) => {
    const missing = any.map((each) => each.missing(object));
    return missing.includes(undefined) ? undefined : [...new Set(missing)].join(' and ');
  });
  return needsObject ? Object.assign(condition, { needsObject }) : condition;
}

/** The condition is not met. An object that does not exist satisfies this if the condition requires an object. */
function not(one: UntilCondition): UntilCondition {
  requireConditions('until.not', [one]);
  const description = `not (${one.description})`;
  return createCondition(description, (object) =>
    one.missing(object) === undefined ? `still so: ${one.description}` : undefined,
  );
}

function presentCondition(description: string, missing: (object: unknown) => string | undefined): UntilPresent {
  const condition = createCondition(description, (object) =>
    object === undefined ? 'it does not exist' : missing(object),
  );
  return Object.assign(condition, { needsObject: true } as const);
}

function createCondition<Condition extends DescribedCondition = UntilCondition>(
  description: string,
  missing: (object: unknown) => string | undefined,
): Condition {
  const predicate = (object: unknown) => missing(object) === undefined;
  return Object.assign(predicate, { description, missing }) as unknown as Condition;
}

function requireText(where: string, text: unknown): void {
  if (typeof text !== 'string' || text === '')
    throw new TypeError(`orchplane: ${where} takes a non-empty string, not ${String(text)}`);
}

/** Other predicates have no description; `until.that` adds one. */
function requireConditions(where: string, all: readonly unknown[]): void {
  if (all.length > 0 && all.every(isDescribed)) return;
  throw new TypeError(`orchplane: ${where} takes conditions of until; until.that('…', predicate) makes one`);
}

function metaOf(object: unknown): NonNullable<AnyObject['metadata']> {
  return (isRecord(object) ? (object as AnyObject).metadata : undefined) ?? {};
}

interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** The common parts of objects of any kind. */
interface AnyObject {
  readonly kind?: string;
  readonly metadata?: Partial<ApiObject['metadata']>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Returns what is missing until the object is ready; undefined: it is ready. It only reads the object itself. */
export function whyNotReady(object: unknown): string | undefined {
  if (!isRecord(object)) return 'it does not exist';
  const any = object as AnyObject;
  if (any.metadata?.deletionTimestamp !== undefined) return 'it is being deleted';
  const rule = READINESS_RULES[any.kind ?? ''] ?? readyByConditions;
  const why = unobservedGeneration(any) ?? rule(any);
  if (why === undefined) return undefined;
  const reasons = conditionsOf(object).filter(reportsFailure).map(printCondition);
  return [why, ...reasons.filter((reason) => !why.includes(reason))].join('; ');
}

/** Conditions that report a failure, with the status that means failure. */
const FAILURE_CONDITIONS: Readonly<Record<string, string>> = {
  Progressing: 'False',
  ReplicaFailure: 'True',
  Failed: 'True',
};

function reportsFailure({ type, status }: StatusCondition): boolean {
  return FAILURE_CONDITIONS[type] === status;
}

/** Reports a status that is about an earlier generation. */
function unobservedGeneration({ metadata, status }: AnyObject): string | undefined {
  const { generation } = metadata ?? {};
  const observed = status?.['observedGeneration'];
  if (generation === undefined || typeof observed !== 'number' || observed >= generation) return undefined;
  return `generation ${generation} is not observed yet: status is about generation ${observed}`;
}

/** The status condition of a type, if present. */
export function conditionOf(object: unknown, type: string): StatusCondition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

export function conditionsOf(object: unknown): readonly StatusCondition[] {
  const conditions = isRecord(object) ? (object as AnyObject).status?.['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions.filter((each): each is StatusCondition => isRecord(each)) : [];
}

/** `Ready is "False" (ContainersNotReady: containers with unready status: [web])`. */
export function printCondition({ type, status, reason, message }: StatusCondition): string {
  const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
  return `${type} is "${status}"${why === '' ? '' : ` (${why})`}`;
}

type ReadinessRule = (object: AnyObject) => string | undefined;

const READINESS_RULES: Readonly<Record<string, ReadinessRule>> = {
  Pod: (pod) =>
    phaseOf(pod) === 'Succeeded' ? undefined : (requirePhase('Running')(pod) ?? requireCondition('Ready')(pod)),
  Deployment: ({ spec, status }) =>
    requireCount(status, 'updatedReplicas', desiredReplicas(spec)) ??
    requireCount(status, 'replicas', desiredReplicas(spec)) ??
    requireCount(status, 'availableReplicas', desiredReplicas(spec)),
  ReplicaSet: ({ spec, status }) => requireCount(status, 'readyReplicas', desiredReplicas(spec)),
  ReplicationController: ({ spec, status }) => requireCount(status, 'readyReplicas', desiredReplicas(spec)),
  StatefulSet: ({ spec, status }) => requireCount(status, 'readyReplicas', desiredReplicas(spec)),
  DaemonSet: ({ status }) => {
    const desired = countOf(status, 'desiredNumberScheduled');
    return requireCount(status, 'updatedNumberScheduled', desired) ?? requireCount(status, 'numberReady', desired);
  },
  Job: requireCondition('Complete'),
  Node: requireCondition('Ready'),
  Namespace: requirePhase('Active'),
  PersistentVolumeClaim: requirePhase('Bound'),
  PersistentVolume: requirePhase('Bound', 'Available'),
  CustomResourceDefinition: requireCondition('Established'),
  APIService: requireCondition('Available'),
  Service: ({ spec, status }) =>
    spec?.['type'] !== 'LoadBalancer' || hasIngress(status) ? undefined : 'no address of a load balancer yet',
};

/** Custom resources: the condition Ready or Available, by convention. */
function readyByConditions(object: AnyObject): string | undefined {
  if (conditionOf(object, 'Ready') !== undefined) return requireCondition('Ready')(object);
  if (conditionOf(object, 'Available') !== undefined) return requireCondition('Available')(object);
  const existing = conditionsOf(object).map(printCondition).join(', ');
  return `it has no condition Ready or Available${existing === '' ? '' : `, but ${existing}`}`;
}

function requireCondition(type: string): ReadinessRule {
  return (object) => {
    const condition = conditionOf(object, type);
    if (condition === undefined) return `it has no condition ${type}`;
    return condition.status === 'True' ? undefined : `condition ${printCondition(condition)}`;
  };
}

function requirePhase(...phases: readonly string[]): ReadinessRule {
  return (object) => {
    const phase = phaseOf(object);
    return phases.includes(phase ?? '') ? undefined : `its phase is ${phase === undefined ? 'not set' : `"${phase}"`}`;
  };
}

/** `status.phase`, if present. */
function phaseOf(object: unknown): string | undefined {
  const phase = isRecord(object) ? (object as AnyObject).status?.['phase'] : undefined;
  return typeof phase === 'string' ? phase : undefined;
}

function requireCount(status: AnyObject['status'], field: string, count: number): string | undefined {
  const found = countOf(status, field);
  return found === count ? undefined : `${field} is ${found} of ${count}`;
}

/** Servers omit counts that are zero. */
function countOf(status: AnyObject['status'], field: string): number {
  const count = status?.[field];
  return typeof count === 'number' ? count : 0;
}

function desiredReplicas(spec: AnyObject['spec']): number {
  const replicas = spec?.['replicas'];
  return typeof replicas === 'number' ? replicas : 1;
}

function hasIngress(status: AnyObject['status']): boolean {
  const balancer = status?.['loadBalancer'];
  const ingress = isRecord(balancer) ? balancer['ingress'] : undefined;
  return Array.isArray(ingress) && ingress.length > 0;
}
