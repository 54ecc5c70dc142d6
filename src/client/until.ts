/**
 * What `waitFor` may wait for, in words: each condition is a predicate that can say what it wants and what is missing,
 * so that a wait which runs out of time ends with an error that tells both.
 */

import type { ApiObject } from '../meta/object.js';
import { isRecord } from '../util/json.js';
import { isTold, type Told } from './wait-for.js';

/** What says by itself that something has gone wrong, and why. */
const REASONS: Readonly<Record<string, string>> = { Progressing: 'False', ReplicaFailure: 'True', Failed: 'True' };

const RULES: Readonly<Record<string, Rule>> = {
  Pod: (pod) => (phaseOf(pod) === 'Succeeded' ? undefined : (needPhase('Running')(pod) ?? needTrue('Ready')(pod))),
  Deployment: ({ spec, status }) =>
    needCount(status, 'updatedReplicas', wanted(spec)) ??
    needCount(status, 'replicas', wanted(spec)) ??
    needCount(status, 'availableReplicas', wanted(spec)),
  ReplicaSet: ({ spec, status }) => needCount(status, 'readyReplicas', wanted(spec)),
  ReplicationController: ({ spec, status }) => needCount(status, 'readyReplicas', wanted(spec)),
  StatefulSet: ({ spec, status }) => needCount(status, 'readyReplicas', wanted(spec)),
  DaemonSet: ({ status }) => {
    const desired = countOf(status, 'desiredNumberScheduled');
    return needCount(status, 'updatedNumberScheduled', desired) ?? needCount(status, 'numberReady', desired);
  },
  Job: needTrue('Complete'),
  Node: needTrue('Ready'),
  Namespace: needPhase('Active'),
  PersistentVolumeClaim: needPhase('Bound'),
  PersistentVolume: needPhase('Bound', 'Available'),
  CustomResourceDefinition: needTrue('Established'),
  APIService: needTrue('Available'),
  Service: ({ spec, status }) =>
    spec?.['type'] !== 'LoadBalancer' || hasIngress(status) ? undefined : 'no address of a load balancer yet',
};

/** A predicate that speaks of any object. */
export type UntilCondition = ((object: unknown) => boolean) & Told;

/** One that only an object that exists can meet. */
export type UntilPresent = UntilCondition & { readonly needsObject: true };

/** One that is met when there is no such object. */
export type UntilAbsent = ((object: unknown) => object is undefined) & Told;

/**
 * Conditions for `waitFor`. They compose: `until.and`, `until.or`, `until.not`; `until.that` makes one of a function.
 *
 * @example
 * await cluster.api(Pod).waitFor('web', until.condition('Ready'), { timeoutMs: 60_000 });
 */
export const until = Object.freeze({
  /** The object exists. */
  exists: present('it exists', () => undefined),
  /** There is no such object. */
  deleted: make<UntilAbsent>('it is deleted', (object) => {
    if (object === undefined) return undefined;
    const finalizers = metaOf(object).finalizers ?? [];
    const held = finalizers.length === 0 ? '' : ` and has finalizers ${finalizers.join(', ')}`;
    return metaOf(object).deletionTimestamp === undefined
      ? 'it exists and is not being deleted'
      : `it is being deleted${held}`;
  }),
  /** It is what its specification asks for: replicas, phase or conditions, by its kind. */
  ready: present('it is ready', whyNotReady),
  /** The status speaks of the specification as it is now. */
  generationObserved: present('its generation is observed', (object) => {
    if ((object as AnyObject).status?.['observedGeneration'] === undefined) return 'its status observes no generation';
    return generationGap(object as AnyObject);
  }),
  condition,
  phase,
  that,
  and,
  or,
  not,
});

/** A condition of the status has this value, `True` unless given. */
function condition(type: string, status: 'True' | 'False' | 'Unknown' = 'True'): UntilPresent {
  requireText('until.condition', type);
  return present(`condition ${type} is "${status}"`, (object) => {
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
  return present(`phase is ${phases.map((each) => `"${each}"`).join(' or ')}`, (object) => {
    const found = phaseOf(object);
    if (found !== undefined && phases.includes(found)) return undefined;
    return found === undefined ? 'it has no phase' : `its phase is "${found}"`;
  });
}

/** Whatever a function asks of an object that exists, under words for the error. */
function that<Object>(description: string, predicate: (object: Object) => boolean): UntilPresent {
  requireText('until.that', description);
  if (typeof predicate !== 'function') throw new TypeError('orchplane: until.that takes words and a function');
  return present(description, (object) => (predicate(object as Object) ? undefined : `not so: ${description}`));
}

/** All of them at once. */
function and(...all: readonly [UntilPresent, ...UntilPresent[]]): UntilPresent;
function and(...all: readonly [UntilCondition, ...UntilCondition[]]): UntilCondition;
function and(...all: readonly UntilCondition[]): UntilCondition {
  requireConditions('until.and', all);
  const needsObject = all.some((each) => 'needsObject' in each);
  const condition = make(all.map((each) => each.description).join(' and '), (object) => {
    const missing = all.map((each) => each.missing(object)).filter((text) => text !== undefined);
    return missing.length === 0 ? undefined : [...new Set(missing)].join(' and ');
  });
  return needsObject ? Object.assign(condition, { needsObject }) : condition;
}

/** Any one of them. */
function or(...any: readonly [UntilPresent, ...UntilPresent[]]): UntilPresent;
function or(...any: readonly [UntilCondition, ...UntilCondition[]]): UntilCondition;
function or(...any: readonly UntilCondition[]): UntilCondition {
  requireConditions('until.or', any);
  const needsObject = any.every((each) => 'needsObject' in each);
  const condition = make(any.map((each) => each.description).join(' or '), (object) => {
    const missing = any.map((each) => each.missing(object));
    return missing.includes(undefined) ? undefined : [...new Set(missing)].join(' and ');
  });
  return needsObject ? Object.assign(condition, { needsObject }) : condition;
}

/** The contrary; an object that does not exist meets it where the condition needs one that does. */
function not(one: UntilCondition): UntilCondition {
  requireConditions('until.not', [one]);
  const description = `not (${one.description})`;
  return make(description, (object) =>
    one.missing(object) === undefined ? `still so: ${one.description}` : undefined,
  );
}

function present(description: string, missing: (object: unknown) => string | undefined): UntilPresent {
  const condition = make(description, (object) => (object === undefined ? 'it does not exist' : missing(object)));
  return Object.assign(condition, { needsObject: true } as const);
}

function make<Condition extends Told = UntilCondition>(
  description: string,
  missing: (object: unknown) => string | undefined,
): Condition {
  const predicate = (object: unknown) => missing(object) === undefined;
  return Object.assign(predicate, { description, missing }) as unknown as Condition;
}

function requireText(where: string, text: unknown): void {
  if (typeof text !== 'string' || text === '')
    throw new TypeError(`orchplane: ${where} takes a text, not ${String(text)}`);
}

/** Other predicates have no words; `until.that` gives them some. */
function requireConditions(where: string, all: readonly unknown[]): void {
  if (all.length > 0 && all.every(isTold)) return;
  throw new TypeError(`orchplane: ${where} takes conditions of until; until.that('…', predicate) makes one`);
}

function metaOf(object: unknown): NonNullable<AnyObject['metadata']> {
  return (isRecord(object) ? (object as AnyObject).metadata : undefined) ?? {};
}

/** One condition as kinds write it into their status. */
interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** The parts that any object may have; nothing is promised about its kind. */
interface AnyObject {
  readonly kind?: string;
  readonly metadata?: Partial<ApiObject['metadata']>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** Undefined: it is ready. Otherwise what is missing, in a few words. */
export function whyNotReady(object: unknown): string | undefined {
  if (!isRecord(object)) return 'it does not exist';
  const any = object as AnyObject;
  if (any.metadata?.deletionTimestamp !== undefined) return 'it is being deleted';
  const rule = RULES[any.kind ?? ''] ?? byConditions;
  const why = generationGap(any) ?? rule(any);
  if (why === undefined) return undefined;
  const reasons = conditionsOf(object).filter(isReason).map(printCondition);
  return [why, ...reasons.filter((reason) => !why.includes(reason))].join('; ');
}

function isReason({ type, status }: StatusCondition): boolean {
  return REASONS[type] === status;
}

/** A status that speaks of an earlier specification says nothing about this one. */
function generationGap({ metadata, status }: AnyObject): string | undefined {
  const { generation } = metadata ?? {};
  const observed = status?.['observedGeneration'];
  if (generation === undefined || typeof observed !== 'number' || observed >= generation) return undefined;
  return `generation ${generation} is not observed yet: status is about generation ${observed}`;
}

/** The condition of a type, if the object has one. */
export function conditionOf(object: unknown, type: string): StatusCondition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type);
}

export function conditionsOf(object: unknown): readonly StatusCondition[] {
  const conditions = isRecord(object) ? (object as AnyObject).status?.['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions.filter(isRecord).map((each) => each as unknown as StatusCondition) : [];
}

/** `Ready is "False" (ContainersNotReady: containers with unready status: [web])`. */
export function printCondition({ type, status, reason, message }: StatusCondition): string {
  const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ');
  return `${type} is "${status}"${why === '' ? '' : ` (${why})`}`;
}

type Rule = (object: AnyObject) => string | undefined;

/** Kinds of users: what says Ready, or Available, by convention. */
function byConditions(object: AnyObject): string | undefined {
  if (conditionOf(object, 'Ready') !== undefined) return needTrue('Ready')(object);
  if (conditionOf(object, 'Available') !== undefined) return needTrue('Available')(object);
  const told = conditionsOf(object).map(printCondition).join(', ');
  return `it has no condition Ready or Available${told === '' ? '' : `, but ${told}`}`;
}

function needTrue(type: string): Rule {
  return (object) => {
    const condition = conditionOf(object, type);
    if (condition === undefined) return `it has no condition ${type}`;
    return condition.status === 'True' ? undefined : `condition ${printCondition(condition)}`;
  };
}

function needPhase(...phases: readonly string[]): Rule {
  return (object) => {
    const phase = phaseOf(object);
    return phases.includes(phase ?? '') ? undefined : `its phase is ${phase === undefined ? 'not set' : `"${phase}"`}`;
  };
}

/** The phase, where the kind has one. */
function phaseOf(object: unknown): string | undefined {
  const phase = isRecord(object) ? (object as AnyObject).status?.['phase'] : undefined;
  return typeof phase === 'string' ? phase : undefined;
}

function needCount(status: AnyObject['status'], field: string, count: number): string | undefined {
  const found = countOf(status, field);
  return found === count ? undefined : `${field} is ${found} of ${count}`;
}

/** Counts that are zero are left out. */
function countOf(status: AnyObject['status'], field: string): number {
  const count = status?.[field];
  return typeof count === 'number' ? count : 0;
}

function wanted(spec: AnyObject['spec']): number {
  const replicas = spec?.['replicas'];
  return typeof replicas === 'number' ? replicas : 1;
}

function hasIngress(status: AnyObject['status']): boolean {
  const balancer = status?.['loadBalancer'];
  const ingress = isRecord(balancer) ? balancer['ingress'] : undefined;
  return Array.isArray(ingress) && ingress.length > 0;
}
