/**
 * What strict mode refuses, and what it warns of: the places where the library is quieter than a whole cluster would be.
 * One row each; `anchor` is a heading of docs/fidelity.md that says more. `strict.ts` goes through the rows.
 *
 * Refused is what would be accepted and then come out otherwise than on a real cluster. Warned of is what a real API server
 * accepts as well, when somebody else who is not here would have to do something about it.
 */
import { serviceGroup } from '../meta/dialect.js';
import type { ApiObject } from '../meta/object.js';
import { isRecord } from '../util/json.js';

/** What a strict cluster knows of itself. */
export interface StrictSetting {
  readonly hasControllers: boolean;
  /** Somebody says how webhooks are called. */
  readonly hasWebhooks: boolean;
  /** Definitions whose versions a function of this process converts. */
  readonly converted: ReadonlySet<string>;
  readonly hasPolicyStatus: boolean;
}

export interface StrictRule {
  readonly effect: 'refuse' | 'warn';
  /** A kind as `group/Kind` with the group's canonical name, `Kind` in the core group, `*` for all. */
  readonly kinds: readonly string[];
  /** Creates and updates unless said otherwise. */
  readonly on?: 'DELETE';
  readonly when?: (object: ApiObject, setting: StrictSetting) => boolean;
  /** A sentence without its end: `… is not modelled`, `nobody …`. */
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
    when: (object, { hasControllers }) => hasControllers && podSpecsOf(object).some(isPlacedByOthers),
    what: 'placing pods by required affinity to other pods, or by spread constraints that forbid, is not modelled',
    anchor: 'controllers',
  },
  {
    effect: 'refuse',
    kinds: WEBHOOKS,
    when: (object, { hasWebhooks }) => !hasWebhooks && listOf(object['webhooks']).some(isOutOfReach),
    what: 'calling a webhook by Service or by its caBundle is not modelled unless createCluster({ webhooks }) says how',
    anchor: 'different-by-design',
  },
  {
    effect: 'refuse',
    kinds: [`${serviceGroup('apiextensions')}/CustomResourceDefinition`],
    when: (object, { hasWebhooks, converted }) =>
      !hasWebhooks && !converted.has(object.metadata.name) && isOutOfReach(at(object, 'spec', 'conversion', 'webhook')),
    what: 'calling a conversion webhook by Service or by its caBundle is not modelled unless createCluster({ webhooks }) or ({ conversions }) says how',
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
    what: 'nobody acts on workloads: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Pod'],
    when: alone,
    what: 'nobody places pods or runs them: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Pod'],
    when: (object, { hasControllers }) => hasControllers && podSpecsOf(object).some(asksForResources),
    what: 'pods are placed whatever the nodes can bear: capacity is not modelled',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Namespace'],
    on: 'DELETE',
    when: alone,
    what: 'nobody empties namespaces that are deleted: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['*'],
    when: (object, setting) => alone(object, setting) && (object.metadata.ownerReferences ?? []).length > 0,
    what: 'nobody collects objects whose owners are gone: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['ResourceQuota'],
    when: alone,
    what: 'nobody writes status.hard of quotas, so none is enforced: this cluster has no controllers',
    anchor: 'different-by-design',
  },
  {
    effect: 'warn',
    kinds: ['Service'],
    when: (object, setting) => alone(object, setting) && isRecord(at(object, 'spec', 'selector')),
    what: 'nobody writes the endpoints of Services: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Service'],
    when: (object) => at(object, 'spec', 'type') === 'LoadBalancer',
    what: 'Services never get a load balancer: cloud controllers are not modelled',
    anchor: 'not-modelled-yet',
  },
  {
    effect: 'warn',
    kinds: [`${serviceGroup('networking')}/NetworkPolicy`, `${serviceGroup('networking')}/Ingress`],
    what: 'no traffic flows here, so network policies and ingresses have no effect',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['PersistentVolumeClaim', `${serviceGroup('certificates')}/CertificateSigningRequest`],
    when: alone,
    what: 'nobody binds claims or signs certificates: this cluster has no controllers',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: ['Node'],
    what: 'nodes are ready when somebody says so, and stay it: node lifecycle is not modelled',
    anchor: 'not-modelled-yet',
  },
  {
    effect: 'warn',
    kinds: ['Event', `${serviceGroup('events')}/Event`],
    when: alone,
    what: 'events are kept for good, where a server forgets them after an hour: this cluster has no controllers',
    anchor: 'known-gaps',
  },
  {
    effect: 'warn',
    kinds: [`${serviceGroup('apiregistration')}/APIService`],
    when: (object) => isRecord(at(object, 'spec', 'service')),
    what: 'what is served elsewhere is reached over HTTP only: clients in this process do not know it',
    anchor: 'controllers',
  },
  {
    effect: 'warn',
    kinds: [`${serviceGroup('admissionregistration')}/ValidatingAdmissionPolicy`],
    when: (_object, { hasPolicyStatus }) => !hasPolicyStatus,
    what: 'nobody checks the types of policies: createCluster({ policyStatus: true }) does',
    anchor: 'different-by-design',
  },
];

/** Kinds that are looked up and not stored, in the same spelling: refused whatever is asked. */
export const STRICT_LOOKUPS: Readonly<Record<string, Pick<StrictRule, 'what' | 'anchor'>>> = {
  ComponentStatus: { what: 'the state of components is not modelled', anchor: 'different-by-design' },
};

/** Lines to what runs elsewhere. */
export const STRICT_LINES: Pick<StrictRule, 'anchor'> = { anchor: 'not-modelled-yet' };

/** A release that is not the one whose behaviour this is. */
export const STRICT_RELEASE: Pick<StrictRule, 'anchor'> = { anchor: 'different-by-design' };

/** Where messages point to. */
export function pointer(anchor: string): string {
  return `docs/fidelity.md#${anchor}`;
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Of a pod, or of what makes pods. */
function podSpecsOf(object: ApiObject): readonly unknown[] {
  if (object.kind === 'Pod') return [object['spec']];
  return [at(object, 'spec', 'template', 'spec'), at(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec')];
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

function isPlacedByOthers(spec: unknown): boolean {
  const affinities = ['podAffinity', 'podAntiAffinity'].map((name) => at(spec, 'affinity', name, REQUIRED));
  if (affinities.some((terms) => listOf(terms).length > 0)) return true;
  return listOf(at(spec, 'topologySpreadConstraints')).some(
    (each) => at(each, 'whenUnsatisfiable') === 'DoNotSchedule',
  );
}

function asksForResources(spec: unknown): boolean {
  return listOf(at(spec, 'containers')).some((container) => isRecord(at(container, 'resources', 'requests')));
}

/** `fetch` knows neither the cluster's network nor whom the configuration trusts. */
function isOutOfReach(webhook: unknown): boolean {
  const { service, caBundle } = (at(webhook, 'clientConfig') ?? {}) as { service?: unknown; caBundle?: unknown };
  return service !== undefined || (caBundle !== undefined && caBundle !== '');
}
