/**
 * Whether a write fits into the quotas of its namespace, and what it takes up of each.
 */
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { own } from '../../util/json.js';
import { type Amounts, readAmounts } from '../plugins/pod-amounts.js';
import { refuse } from '../plugins/refuse.js';
import type { AdmissionRequest } from '../types.js';
import { growth, pick, printAmounts, withoutZeros } from './arithmetic.js';
import { type Measure, ScopeError } from './evaluator.js';
import { isInScopes } from './scopes.js';

/** A quota that is used more from now on. */
export interface Charge {
  readonly quota: ApiObject;
  /** Of its resources those that are used more, with the new amounts. */
  readonly used: Amounts;
}

/** What is due for a write, if it fits. Throws a 403 if it does not, and a 500 for scopes that cannot be used. */
export function chargesFor(
  request: AdmissionRequest,
  object: ApiObject,
  { quotas, measure }: { readonly quotas: readonly ApiObject[]; readonly measure: Measure },
): readonly Charge[] {
  if (quotas.length === 0) return NOTHING_DUE;
  // All quotas are asked whether they can judge it before any of them judges.
  const concerned = quotas.filter((quota) => isConcerned(quota, object, { request, measure }));
  const { evaluator, terms } = measure;
  const usage = evaluator.usageOf(object, terms);
  const negative = [...usage].filter(([, amount]) => amount.sign() < 0).map(([name]) => name);
  if (negative.length > 0) {
    throw refuse(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  if (concerned.length === 0) return NOTHING_DUE;
  const more = withoutZeros(usage);
  const { oldObject } = request;
  const grown = oldObject === undefined ? more : growth(usage, evaluator.usageOf(oldObject, terms));
  return concerned.flatMap((quota) => {
    // What comes into the scopes of a quota by an update is new to it.
    const wasCounted = oldObject !== undefined && matches(statusOf(quota), quota, { object: oldObject, measure });
    return chargeFor(quota, wasCounted ? grown : more, request) ?? [];
  });
}

const NOTHING_DUE: readonly Charge[] = Object.freeze([]);

function statusOf(quota: ApiObject): ResourceQuota['status'] {
  return (quota as unknown as ResourceQuota).status;
}

function namesIn(list: ResourceList | undefined): readonly string[] {
  return list === undefined ? [] : Object.keys(list);
}

/** Throws if the quota is about the object but cannot judge it: what would be counted is unsaid, or was never counted. */
function isConcerned(
  quota: ApiObject,
  object: ApiObject,
  { request, measure }: { readonly request: AdmissionRequest; readonly measure: Measure },
): boolean {
  const { name } = quota.metadata;
  const status = statusOf(quota);
  if (!matchesOrFails(status, quota, { object, measure })) return false;
  const { evaluator, terms } = measure;
  const names = evaluator.measured(namesIn(status.hard), terms);
  const unsaid = evaluator.unsaid?.(names, object, terms);
  if (unsaid !== undefined) throw refuse(request, `failed quota: ${name}: ${unsaid}`);
  if (names.some((each) => own(status.used ?? {}, each) === undefined)) {
    throw refuse(request, `status unknown for quota: ${name}, resources: ${[...names].sort().join(',')}`);
  }
  return true;
}

interface About {
  readonly object: ApiObject;
  readonly measure: Measure;
}

function matchesOrFails(status: ResourceQuota['status'], quota: ApiObject, about: About): boolean {
  try {
    return matches(status, quota, about);
  } catch (error) {
    if (!(error instanceof ScopeError)) throw error;
    throw errors.plain(`error matching scopes of quota ${quota.metadata.name}, err: ${error.message}`);
  }
}

/** Only what stands in its status is enforced: what stands in the spec, nobody has looked at yet. */
function matches({ hard }: ResourceQuota['status'], quota: ApiObject, { object, measure }: About): boolean {
  const { evaluator, terms } = measure;
  // First, because scopes that cannot be used are an error whatever the quota is on.
  const isIn = isInScopes(quota as unknown as ResourceQuota, object, measure);
  return isIn && evaluator.measured(namesIn(hard), terms).length > 0;
}

/** Undefined where nothing more is used of what the quota is on. */
function chargeFor(quota: ApiObject, more: Amounts, request: AdmissionRequest): Charge | undefined {
  const { hard = {}, used = {} } = statusOf(quota);
  const requested = pick(more, Object.keys(hard));
  if (requested.size === 0) return undefined;
  const sums = new Map<string, Quantity>();
  for (const [name, amount] of requested) {
    const before = own(used, name);
    sums.set(name, before === undefined ? amount : Quantity.parse(before).add(amount));
  }
  // Whoever reports what is already so is not refused.
  if (request.subresource !== 'status') {
    const bounds = readAmounts(hard);
    const exceeded = [...sums].filter(([name, sum]) => sum.cmp(bounds.get(name) ?? sum) > 0).map(([name]) => name);
    if (exceeded.length > 0) {
      const parts = {
        requested: pick(requested, exceeded),
        used: pick(readAmounts(used), exceeded),
        limited: pick(bounds, exceeded),
      };
      const texts = Object.entries(parts).map(([title, amounts]) => `${title}: ${printAmounts(amounts)}`);
      throw refuse(request, `exceeded quota: ${quota.metadata.name}, ${texts.join(', ')}`);
    }
  }
  return { quota, used: sums };
}
