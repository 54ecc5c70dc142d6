/**
 * The quota evaluator of PersistentVolumeClaims: their number and requested storage, in total and per storage class.
 */
import type { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { own } from '../../util/json.js';
import type { Evaluator, EvaluatorContext } from './evaluator.js';
import { countName, ONE, scopeSelects } from './evaluator.js';

const COUNT = countName({ group: '', resource: 'persistentvolumeclaims' });
const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
/** The name of both the scope and its feature gate. */
const SCOPE: string = 'VolumeAttributesClass';

export const volumeClaimEvaluator: Evaluator = {
  matchingResources(quotaNames, { dialect }) {
    const ends = [CLAIMS, STORAGE].map((name) => classQuotaName('', name, dialect));
    return quotaNames.filter(
      (name) => name === COUNT || name === CLAIMS || name === STORAGE || ends.some((end) => name.endsWith(end)),
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
      [COUNT, ONE],
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
