/**
 * PersistentVolumeClaims: their number and the storage they ask for, over all and by storage class.
 */
import type { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { own } from '../../util/json.js';
import type { Evaluator, Terms } from './evaluator.js';
import { countName, ONE, selects } from './evaluator.js';

const COUNT = countName({ group: '', resource: 'persistentvolumeclaims' });
const CLAIMS = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
/** The scope, and the gate that it needs. */
const SCOPE: string = 'VolumeAttributesClass';

export const volumeClaimEvaluator: Evaluator = {
  measured(inQuota, { dialect }) {
    const ends = [CLAIMS, STORAGE].map((name) => ofClass('', name, dialect));
    return inQuota.filter(
      (name) => name === COUNT || name === CLAIMS || name === STORAGE || ends.some((end) => name.endsWith(end)),
    );
  },
  handles({ subresource, object, oldObject }, terms) {
    if (subresource === '') return true;
    return subresource === 'status' && isOther(oldObject, object, terms);
  },
  givesBack: (before, after, terms) => isOther(before, after, terms),
  usageOf(object, terms) {
    const usage = new Map([
      [CLAIMS, ONE],
      [COUNT, ONE],
    ]);
    const storage = storageOf(claimOf(object), terms);
    if (storage !== undefined) usage.set(STORAGE, storage);
    const storageClass = storageClassOf(claimOf(object), terms.dialect);
    if (storageClass !== '') {
      usage.set(ofClass(storageClass, CLAIMS, terms.dialect), ONE);
      if (storage !== undefined) usage.set(ofClass(storageClass, STORAGE, terms.dialect), storage);
    }
    return usage;
  },
  isInScope(requirement, object, { features }) {
    if (requirement.scopeName !== SCOPE || !features.enabled(SCOPE)) return false;
    return selects(requirement, [...attributesClasses(object)]);
  },
};

function isOther(before: ApiObject | undefined, after: ApiObject | undefined, { features }: Terms): boolean {
  // What a volume is growing to counts, and the reference server takes every change for one of that.
  if (features.enabled('RecoverVolumeExpansionFailure')) return true;
  if (!features.enabled(SCOPE) || before === undefined || after === undefined) return false;
  const [now, then] = [attributesClasses(after), attributesClasses(before)];
  return now.size !== then.size || [...now].some((name) => !then.has(name));
}

function claimOf(object: ApiObject): PersistentVolumeClaim {
  return object as unknown as PersistentVolumeClaim;
}

/** `gold.storageclass.…/requests.storage`. */
function ofClass(storageClass: string, name: string, dialect: Dialect): string {
  return `${storageClass}.storageclass.${dialect.group(serviceGroup('storage'))}/${name}`;
}

/** The annotation of old comes first, even an empty one. */
function storageClassOf({ metadata, spec }: PersistentVolumeClaim, dialect: Dialect): string {
  const annotation = own(metadata.annotations ?? {}, dialect.subkey('volume.beta', 'storage-class'));
  return annotation ?? spec.storageClassName ?? '';
}

/** In whole bytes. A volume that has grown beyond what is asked for by now counts as it is. */
function storageOf({ spec, status }: PersistentVolumeClaim, { features }: Terms): Quantity | undefined {
  const asked = own(spec.resources.requests ?? {}, 'storage');
  if (asked === undefined) return undefined;
  const wanted = inBytes(Quantity.parse(asked));
  const allocated = own(status.allocatedResources ?? {}, 'storage');
  if (allocated === undefined || !features.enabled('RecoverVolumeExpansionFailure')) return wanted;
  const given = Quantity.parse(allocated);
  return given.cmp(wanted) > 0 ? inBytes(given) : wanted;
}

function inBytes(amount: Quantity): Quantity {
  const rounded = amount.roundUp(0);
  return rounded.equals(amount) ? amount : rounded;
}

/** The one that is asked for, the one it has, and the one it is on the way to. */
function attributesClasses(object: ApiObject): ReadonlySet<string> {
  const { spec, status } = claimOf(object);
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return new Set(names.flatMap((name) => name || []));
}
