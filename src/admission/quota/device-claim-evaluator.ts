/**
 * ResourceClaims: their number, and by class how many devices they may be given at most.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import type { Evaluator } from './evaluator.js';
import { countName, ONE } from './evaluator.js';

/** No claim gets more devices than this, whoever asks for all of them. */
const MOST_DEVICES = 32;

export const deviceClaimEvaluator: Evaluator = {
  measured(inQuota, { dialect }) {
    const [count, end] = [countOf(dialect), ofClass('', dialect)];
    return inQuota.filter((name) => name === count || name.endsWith(end));
  },
  handles: ({ subresource }) => subresource === '',
  usageOf(object, { dialect }) {
    const devices = new Map<string, number>();
    for (const request of requestsOf(object)) {
      for (const [name, count] of mostOf(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const usage = new Map([[countOf(dialect), ONE]]);
    for (const [name, count] of devices) usage.set(ofClass(name, dialect), Quantity.of(BigInt(count)));
    return usage;
  },
};

function countOf(dialect: Dialect): string {
  return countName({ group: dialect.group(serviceGroup('resource')), resource: 'resourceclaims' });
}

/** `gpu.deviceclass.…/devices`. */
function ofClass(deviceClass: string, dialect: Dialect): string {
  return `${deviceClass}.deviceclass.${dialect.group(serviceGroup('resource'))}/devices`;
}

interface Wish {
  readonly deviceClassName?: string;
  readonly allocationMode?: string;
  readonly count?: number;
}

/** Of any version: an exact wish stands in `exactly` or, in the older ones, in the request itself. */
interface Request extends Wish {
  readonly exactly?: Wish;
  readonly firstAvailable?: readonly Wish[];
}

function requestsOf(object: ApiObject): readonly Request[] {
  const { spec } = object as unknown as { readonly spec: { readonly devices?: { readonly requests?: Request[] } } };
  return spec.devices?.requests ?? [];
}

/** By class. Of several alternatives the greatest of each class, because any of them may be taken. */
function mostOf(request: Request): ReadonlyMap<string, number> {
  const { firstAvailable = [] } = request;
  if (firstAvailable.length === 0) {
    const wish = request.exactly ?? request;
    return new Map([[wish.deviceClassName ?? '', devicesOf(wish)]]);
  }
  const most = new Map<string, number>();
  for (const wish of firstAvailable) {
    const name = wish.deviceClassName ?? '';
    const count = Math.max(devicesOf(wish), most.get(name) ?? 0);
    if (count > 0) most.set(name, count);
  }
  return most;
}

function devicesOf({ allocationMode, count = 0 }: Wish): number {
  if (allocationMode === 'ExactCount') return count;
  // A mode that nobody knows counts for nothing.
  return allocationMode === 'All' ? MOST_DEVICES : 0;
}
