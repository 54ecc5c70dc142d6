/**
 * The quota evaluator of ResourceClaims: their number, and the maximum number of devices per device class.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import type { Evaluator } from './evaluator.js';
import { countName, ONE } from './evaluator.js';

/** The API's limit of devices per claim; counts for allocation mode All. */
const MAX_DEVICES = 32;

export const deviceClaimEvaluator: Evaluator = {
  matchingResources(quotaNames, { dialect }) {
    const [count, end] = [countOf(dialect), deviceQuotaName('', dialect)];
    return quotaNames.filter((name) => name === count || name.endsWith(end));
  },
  handles: ({ subresource }) => subresource === '',
  usageOf(object, { dialect }) {
    const devices = new Map<string, number>();
    for (const request of requestsOf(object)) {
      for (const [name, count] of maxDevices(request)) devices.set(name, (devices.get(name) ?? 0) + count);
    }
    const usage = new Map([[countOf(dialect), ONE]]);
    for (const [name, count] of devices) usage.set(deviceQuotaName(name, dialect), Quantity.of(BigInt(count)));
    return usage;
  },
};

function countOf(dialect: Dialect): string {
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
