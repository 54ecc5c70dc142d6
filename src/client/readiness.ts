/**
 * Whether an object has become what its specification asks for, by its kind: what `until.ready` waits for and the
 * matcher `toBeReady` asks. It reads what is written in the object and nothing else.
 */
import type { ApiObject } from '../meta/object.js';
import { isRecord } from '../util/json.js';

/** One condition as kinds write it into their status. */
export interface StatusCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** The parts that any object may have; nothing is promised about its kind. */
export interface AnyObject {
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

/** What says by itself that something has gone wrong, and why. */
const REASONS: Readonly<Record<string, string>> = { Progressing: 'False', ReplicaFailure: 'True', Failed: 'True' };

function isReason({ type, status }: StatusCondition): boolean {
  return REASONS[type] === status;
}

/** A status that speaks of an earlier specification says nothing about this one. */
export function generationGap({ metadata, status }: AnyObject): string | undefined {
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
export function phaseOf(object: unknown): string | undefined {
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
