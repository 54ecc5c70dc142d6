/**
 * The rules of strict mode, one row each; `anchor` is a heading of docs/fidelity.md.
 *
 * Strict mode rejects requests that succeed here but have another result on a real cluster. It warns about requests that a
 * real API server accepts too, but that need a component which does not run here.
 */
import { serviceGroup } from '../meta/dialect.js';
import type { ApiObject } from '../meta/object.js';
import { isRecord } from '../util/json.js';

/** The options of the cluster that the rules depend on. */
export interface StrictSetting {
  readonly hasControllers: boolean;
  /** Webhooks with a Service or a caBundle can be called: in Node, or with the `webhooks` option. */
  readonly hasWebhooks: boolean;
  /** Names of the CRDs with a conversion function in this process. */
  readonly converted: ReadonlySet<string>;
  readonly hasPolicyStatus: boolean;
}

export interface StrictRule {
  readonly effect: 'refuse' | 'warn';
  /** A kind as `group/Kind` with the group's canonical name, `Kind` in the core group, `*` for all. */
  readonly kinds: readonly string[];
  /** Default: creates and updates. */
  readonly on?: 'DELETE';
  readonly when?: (object: ApiObject, setting: StrictSetting) => boolean;
  /** A sentence without its end: `… is not modelled`, `no controller …`. */
  readonly what: string;
  readonly anchor: string;
}

const WORKLOADS = ['apps/Deployment', 'apps/ReplicaSet', 'apps/StatefulSet', 'apps/DaemonSet', 'ReplicationController'];
const JOBS = ['batch/Job', 'batch/CronJob'];
const PODS = ['Pod', ...WORKLOADS, ...JOBS];
const WEBHOOKS = ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map(
  (kind) => `${serviceGroup('admissionregistration')}/${kind}`,
);

const alone = (_object: ApiObject, { hasControllers }: StrictSetting): boolean => !hasControllers;

export const STRICT_RULES: readonly StrictRule[] = [
  {
    effect: 'refuse',
    kinds: PODS,
    when: (object, { hasControllers }) => hasControllers && podSpecsOf(object).some(hasSchedulingConstraints),
    what: 'scheduling by required pod affinity or by spread constraints with DoNotSchedule is not modelled',
    anchor: 'controllers',
  },
  {
    effect: 'refuse',
    kinds: WEBHOOKS,
    when: (object, { hasWebhooks }) => !hasWebhooks && listOf(object['webhooks']).some(isUnreachableByFetch),
    what: 'calling a webhook by Service or by its caBundle is not modelled outside Node unless createCluster({ webhooks }) says how',
    anchor: 'different-by-design',
  },
  {
    effect: 'refuse',
    kinds: [`${serviceGroup('apiextensions')}/CustomResourceDefinition`],
    when: (object, { hasWebhooks, converted }) =>
      !hasWebhooks &&
      !converted.has(object.metadata.name) &&
      isUnreachableByFetch(valueAt(object, 'spec', 'conversion', 'webhook')),
    what: 'calling a conversion webhook by Service or by its caBundle is not modelled outside Node unless createCluster({ webhooks }) or ({ conversions }) says how',
    anchor: 'different-by-design',
  },
  {
    effect: 'refuse',
    kinds: ['Secret'],
    when: ({ type }) => typeof type === 'string' && /^bootstrap\.[^/]+\/token$/.test(type),
    what: 'authentication by bootstrap tokens is not modelled',
    anchor: 'not-modelled-yet',
  },
  {
    effect: 'warn',
    kinds: [...WORKLOADS, ...JOBS, 'autoscaling/HorizontalPodAutoscaler', 'policy/PodDisruptionBudget'],
    when: alone,
    what: 'no controller acts on workloads: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Pod'],
    when: alone,
    what: 'no component schedules or runs pods: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Pod'],
    when: (object, { hasControllers }) => hasControllers && podSpecsOf(object).some(requestsResources),
    what: 'pods are scheduled without regard to node capacity: capacity is not modelled',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Namespace'],
    on: 'DELETE',
    when: alone,
    what: 'no controller deletes the objects of a deleted namespace: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['*'],
    when: (object, setting) => alone(object, setting) && (object.metadata.ownerReferences ?? []).length > 0,
    what: 'no garbage collector deletes objects whose owners are deleted: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['ResourceQuota'],
    when: alone,
    what: 'no controller writes status.hard of quotas, so none is enforced: this cluster has no controllers',
    anchor: 'different-by-design',
  },
  {
    effect: 'warn',
    kinds: ['Service'],
    when: (object, setting) => alone(object, setting) && isRecord(valueAt(object, 'spec', 'selector')),
    what: 'no controller writes the endpoints of Services: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Service'],
    when: (object) => valueAt(object, 'spec', 'type') === 'LoadBalancer',
    what: 'Services never get a load balancer: cloud controllers are not modelled',
    anchor: 'not-modelled-yet',
  },
  {
    effect: 'warn',
    kinds: [`${serviceGroup('networking')}/NetworkPolicy`, `${serviceGroup('networking')}/Ingress`],
    what: 'there is no network traffic, so network policies and ingresses have no effect',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['PersistentVolumeClaim', `${serviceGroup('certificates')}/CertificateSigningRequest`],
    when: alone,
    what: 'no controller binds claims or signs certificates: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Node'],
    when: alone,
    what: 'no controller monitors nodes: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Event', `${serviceGroup('events')}/Event`],
    when: alone,
    what: 'events do not expire after an hour: this cluster has no controllers',
    anchor: 'known-gaps',
  },
  {
    effect: 'warn',
    kinds: [`${serviceGroup('apiregistration')}/APIService`],
    when: (object) => isRecord(valueAt(object, 'spec', 'service')),
    what: 'aggregated APIs are reachable over HTTP only, not by clients in this process',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: [`${serviceGroup('admissionregistration')}/ValidatingAdmissionPolicy`],
    when: (_object, { hasPolicyStatus }) => !hasPolicyStatus,
    what: 'policies are not type-checked: use createCluster({ policyStatus: true })',
    anchor: 'different-by-design',
  },
];

/** Virtual kinds for which every request is rejected. */
export const STRICT_LOOKUPS: Readonly<Record<string, Pick<StrictRule, 'what' | 'anchor'>>> = {
  ComponentStatus: { what: 'component status is not modelled', anchor: 'different-by-design' },
};

/** Connect subresources. */
export const STRICT_LINES: Pick<StrictRule, 'anchor'> = { anchor: 'not-modelled-yet' };

/** A release other than the reference release. */
export const STRICT_RELEASE: Pick<StrictRule, 'anchor'> = { anchor: 'different-by-design' };

/** The documentation link in messages. */
export function pointer(anchor: string): string {
  return `docs/fidelity.md#${anchor}`;
}

function valueAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The pod specs of a pod or a workload. */
function podSpecsOf(object: ApiObject): readonly unknown[] {
  if (object.kind === 'Pod') return [object['spec']];
  return [
    valueAt(object, 'spec', 'template', 'spec'),
    valueAt(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec'),
  ];
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

function hasSchedulingConstraints(spec: unknown): boolean {
  const affinities = ['podAffinity', 'podAntiAffinity'].map((name) => valueAt(spec, 'affinity', name, REQUIRED));
  if (affinities.some((terms) => listOf(terms).length > 0)) return true;
  return listOf(valueAt(spec, 'topologySpreadConstraints')).some(
    (each) => valueAt(each, 'whenUnsatisfiable') === 'DoNotSchedule',
  );
}

function requestsResources(spec: unknown): boolean {
  return listOf(valueAt(spec, 'containers')).some((container) => isRecord(valueAt(container, 'resources', 'requests')));
}

/** `fetch` can neither reach Services of the cluster nor use a caBundle. */
function isUnreachableByFetch(webhook: unknown): boolean {
  const { service, caBundle } = (valueAt(webhook, 'clientConfig') ?? {}) as { service?: unknown; caBundle?: unknown };
  return service !== undefined || (caBundle !== undefined && caBundle !== '');
}
