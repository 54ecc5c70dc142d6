/**
 * The registry of quota evaluators, and the evaluators of Services, PersistentVolumeClaims and ResourceClaims.
 */
import type { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { type GroupResource, qualifiedResource } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { own } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { countEvaluator, countName, type Evaluator, type EvaluatorContext, ONE, scopeSelects } from './evaluator.js';
import { podEvaluator } from './pod-evaluator.js';

const COUNT = countName({ group: '', resource: 'services' });
const NODE_PORTS = 'services.nodeports';
const LOAD_BALANCERS = 'services.loadbalancers';
const NAMES: readonly string[] = [COUNT, 'services', NODE_PORTS, LOAD_BALANCERS];

const serviceEvaluator: Evaluator = {
  matchingResources: (inQuota) => inQuota.filter((name) => NAMES.includes(name)),
  // An update may change the type.
  handles: ({ subresource }) => subresource === '',
  // As in the reference server, a smaller number of ports triggers no recalculation.
  // upstream: pkg/quota/v1/install/update_filter.go DefaultUpdateFilter
  releasesUsage: (before, after) => costlyType(before) !== costlyType(after),
  usageOf: (object) =>
    new Map([
      [COUNT, ONE],
      ['services', ONE],
      [NODE_PORTS, Quantity.of(BigInt(nodePorts(object)))],
      [LOAD_BALANCERS, specOf(object).type === 'LoadBalancer' ? ONE : Quantity.zero],
    ]),
};

function specOf(object: ApiObject): Service['spec'] {
  return object['spec'] as Service['spec'];
}

function costlyType(object: ApiObject): string | undefined {
  const { type } = specOf(object);
  return type === 'NodePort' || type === 'LoadBalancer' ? type : undefined;
}

/** The number of wanted node ports; they may not be allocated yet. */
function nodePorts(object: ApiObject): number {
  const { type, ports = [], allocateLoadBalancerNodePorts } = specOf(object);
  if (type === 'NodePort') return ports.length;
  if (type !== 'LoadBalancer') return 0;
  if (allocateLoadBalancerNodePorts !== false) return ports.length;
  return ports.filter(({ nodePort }) => nodePort).length;
}

const CLAIMS = 'persistentvolumeclaims';
const CLAIM_COUNT = countName({ group: '', resource: CLAIMS });
const STORAGE = 'requests.storage';
/** The name of both the scope and its feature gate. */
const SCOPE: string = 'VolumeAttributesClass';

const volumeClaimEvaluator: Evaluator = {
  matchingResources(quotaNames, { dialect }) {
    const ends = [CLAIMS, STORAGE].map((name) => classQuotaName('', name, dialect));
    return quotaNames.filter(
      (name) => name === CLAIM_COUNT || name === CLAIMS || name === STORAGE || ends.some((end) => name.endsWith(end)),
    );
  },
  handles({ subresource, object, oldObject }, context) {
    if (subresource === '') return true;
    return subresource === 'status' && mayChangeUsage(oldObject, object, context);
  },
  releasesUsage: (before, after, context) => mayChangeUsage(before, after, context),
  usageOf(object, context) {
    const usage = new Map([
      [CLAIMS, ONE],
      [CLAIM_COUNT, ONE],
    ]);
    const storage = storageOf(claimOf(object), context);
    if (storage !== undefined) usage.set(STORAGE, storage);
    const storageClass = storageClassOf(claimOf(object), context.dialect);
    if (storageClass !== '') {
      usage.set(classQuotaName(storageClass, CLAIMS, context.dialect), ONE);
      if (storage !== undefined) usage.set(classQuotaName(storageClass, STORAGE, context.dialect), storage);
    }
    return usage;
  },
  isInScope(requirement, object, { features }) {
    if (requirement.scopeName !== SCOPE || !features.enabled(SCOPE)) return false;
    return scopeSelects(requirement, [...attributesClasses(object)]);
  },
};

function mayChangeUsage(
  before: ApiObject | undefined,
  after: ApiObject | undefined,
  { features }: EvaluatorContext,
): boolean {
  // With this gate the reference server treats every change as a change of the allocated storage.
  // upstream: pkg/quota/v1/evaluator/core/persistent_volume_claims.go RequiresQuotaReplenish
  if (features.enabled('RecoverVolumeExpansionFailure')) return true;
  if (!features.enabled(SCOPE) || before === undefined || after === undefined) return false;
  const [now, then] = [attributesClasses(after), attributesClasses(before)];
  return now.size !== then.size || [...now].some((name) => !then.has(name));
}

function claimOf(object: ApiObject): PersistentVolumeClaim {
  return object as unknown as PersistentVolumeClaim;
}

/** `gold.storageclass.…/requests.storage`. */
function classQuotaName(storageClass: string, name: string, dialect: Dialect): string {
  return `${storageClass}.storageclass.${dialect.group(serviceGroup('storage'))}/${name}`;
}

/** The deprecated annotation takes precedence, even if it is empty. */
function storageClassOf({ metadata, spec }: PersistentVolumeClaim, dialect: Dialect): string {
  const annotation = own(metadata.annotations ?? {}, dialect.subkey('volume.beta', 'storage-class'));
  return annotation ?? spec.storageClassName ?? '';
}

/** In whole bytes. The allocated size counts if it exceeds the requested one. */
function storageOf({ spec, status }: PersistentVolumeClaim, { features }: EvaluatorContext): Quantity | undefined {
  const requested = own(spec.resources.requests ?? {}, 'storage');
  if (requested === undefined) return undefined;
  const wanted = inBytes(Quantity.parse(requested));
  const allocated = own(status.allocatedResources ?? {}, 'storage');
  if (allocated === undefined || !features.enabled('RecoverVolumeExpansionFailure')) return wanted;
  const given = Quantity.parse(allocated);
  return given.cmp(wanted) > 0 ? inBytes(given) : wanted;
}

function inBytes(amount: Quantity): Quantity {
  const rounded = amount.roundUp(0);
  return rounded.equals(amount) ? amount : rounded;
}

/** The requested, the current and the target class. */
function attributesClasses(object: ApiObject): ReadonlySet<string> {
  const { spec, status } = claimOf(object);
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return new Set(names.flatMap((name) => name || []));
}

/** The API's limit of devices per claim; counts for allocation mode All. */
const MAX_DEVICES = 32;

const deviceClaimEvaluator: Evaluator = {
  matchingResources(quotaNames, { dialect }) {
    const [count, end] = [claimCountName(dialect), deviceQuotaName('', dialect)];
    return quotaNames.filter((name) => name === count || name.endsWith(end));
  },
  handles: ({ subresource }) => subresource === '',
  usageOf(object, { dialect }) {
    const devices = new Map<string, number>();
    for (const request of requestsOf(object)) {
      for (const [name, count] of maxDevices(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const usage = new Map([[claimCountName(dialect), ONE]]);
    for (const [name, count] of devices) usage.set(deviceQuotaName(name, dialect), Quantity.of(BigInt(count)));
    return usage;
  },
};

function claimCountName(dialect: Dialect): string {
  return countName({ group: dialect.group(serviceGroup('resource')), resource: 'resourceclaims' });
}

/** `gpu.deviceclass.…/devices`. */
function deviceQuotaName(deviceClass: string, dialect: Dialect): string {
  return `${deviceClass}.deviceclass.${dialect.group(serviceGroup('resource'))}/devices`;
}

interface ExactRequest {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

/** Covers all versions: the exact request is in `exactly` or, in older versions, in the request itself. */
interface Request extends ExactRequest {
  readonly exactly?: ExactRequest;
  readonly firstAvailable?: readonly ExactRequest[];
}

function requestsOf(object: ApiObject): readonly Request[] {
  const spec = object['spec'] as { readonly devices?: { readonly requests?: readonly Request[] } };
  return spec.devices?.requests ?? [];
}

/** By device class. Of alternatives, the maximum per class counts, because any of them may be allocated. */
function maxDevices(request: Request): ReadonlyMap<string, number> {
  const { firstAvailable = [] } = request;
  if (firstAvailable.length === 0) {
    const exact = request.exactly ?? request;
    return new Map([[exact.deviceClassName ?? '', devicesOf(exact)]]);
  }
  const maximum = new Map<string, number>();
  for (const exact of firstAvailable) {
    const name = exact.deviceClassName ?? '';
    const count = Math.max(devicesOf(exact), maximum.get(name) ?? 0);
    if (count > 0) maximum.set(name, count);
  }
  return maximum;
}

function devicesOf({ allocationMode, count = 0 }: ExactRequest): number {
  if (allocationMode === 'ExactCount') return count;
  // Unknown modes count as zero.
  return allocationMode === 'All' ? MAX_DEVICES : 0;
}

/** Resources that are never counted, by canonical names: virtual resources and events. */
const EXCEPTIONS: ReadonlySet<string> = new Set(
  (
    [
      ['', ['bindings', 'componentstatuses', 'events']],
      [serviceGroup('events'), ['events']],
      [serviceGroup('authentication'), ['tokenreviews', 'selfsubjectreviews']],
      [
        serviceGroup('authorization'),
        ['subjectaccessreviews', 'selfsubjectaccessreviews', 'localsubjectaccessreviews', 'selfsubjectrulesreviews'],
      ],
    ] as const
  ).flatMap(([group, resources]) => resources.map((resource) => qualifiedResource({ group, resource }))),
);

/** Whether quotas can count objects of a kind. */
export function isCountable({ namespaced, kind }: ServedKind): boolean {
  return namespaced && !EXCEPTIONS.has(qualifiedResource({ group: kind.group, resource: kind.names.plural }));
}

/** The evaluator of a resource, whose group is spelt as clients see it. */
export function evaluatorFor(resource: GroupResource, { dialect, features }: EvaluatorContext): Evaluator {
  if (resource.group === '') {
    const evaluator = CORE.get(resource.resource);
    if (evaluator !== undefined) return evaluator;
  }
  if (
    resource.resource === 'resourceclaims' &&
    resource.group === dialect.group(serviceGroup('resource')) &&
    features.enabled('DynamicResourceAllocation')
  ) {
    return deviceClaimEvaluator;
  }
  return countEvaluator(resource);
}

/** Whether a quota limits a resource; the quota controller need not list the others. */
export function limitsResource(quota: ResourceQuota, resource: GroupResource, context: EvaluatorContext): boolean {
  return evaluatorFor(resource, context).matchingResources(limitedNames(quota.spec.hard), context).length > 0;
}

/** The names of a quota's limits. Those of a stored quota are read for every kind and every object, and may be thousands. */
export function limitedNames(hard: ResourceList | undefined): readonly string[] {
  if (hard === undefined) return NO_NAMES;
  return Object.isFrozen(hard) ? getOrInsertComputed(namesOfStored, hard, Object.keys) : Object.keys(hard);
}

const NO_NAMES: readonly string[] = Object.freeze([]);
const namesOfStored = new WeakMap<ResourceList, readonly string[]>();

const CORE: ReadonlyMap<string, Evaluator> = new Map([
  ['pods', podEvaluator],
  ['services', serviceEvaluator],
  ['persistentvolumeclaims', volumeClaimEvaluator],
]);
