/**
 * The ResourceQuota plugin: rejects writes that exceed a quota of their namespace and charges accepted ones.
 * spec: ResourceQuota
 *
 * A write is checked at admission and charged synchronously when it is stored. If the quotas changed in between (an
 * asynchronous plugin may have run), it is checked again. Usage is never refunded here; the quota controller recalculates.
 */

import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { storedManagers, writeManagers } from '../../merge/apply/managers.js';
import { managersAfterUpdate, type Versioned } from '../../merge/apply/ownership.js';
import { SERVER_MANAGER } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { formatTime } from '../../text/time/time.js';
import { sameItems } from '../../util/arrays.js';
import { translateError } from '../../util/catch-error.js';
import { own } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { idleWithout } from '../idle.js';
import { type Amounts, readAmounts } from '../plugins/pod-amounts.js';
import { forbiddenError } from '../plugins/requests.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { increase, pickAmounts, printAmounts, toResourceList, withoutZeros } from './arithmetic.js';
import { type BoundEvaluator, type Evaluator, isInScopes, ScopeError } from './evaluator.js';
import { evaluatorFor, isCountable, limitedNames } from './evaluators.js';

const QUOTAS = Object.freeze({ group: '', resource: 'resourcequotas' });

export const resourceQuota: AdmissionPlugin = /* @__PURE__ */ idleWithout([QUOTAS], {
  name: 'ResourceQuota',
  handlesKind: isCountable,
  isBuiltIn: true,
  validate,
});

function validate(request: AdmissionRequest, view: ClusterView): void {
  const { operation, object, namespace } = request;
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || object === undefined) return;
  const bound: BoundEvaluator = { evaluator: evaluatorOf(request.served, view), context: view };
  if (!bound.evaluator.handles(request, view)) return;
  const seen = view.lastChange(QUOTAS);
  const quotas = seen === 0 ? NONE : view.list(QUOTAS, namespace);
  const charges = chargesFor(request, object, { quotas, bound });
  if (request.dryRun) return;
  request.beforeCommit(() => {
    if (quotas.length === 0 && view.lastChange(QUOTAS) === seen) return;
    const present = view.list(QUOTAS, namespace);
    // Stored objects are immutable, so identical quotas yield the same charges.
    charge(sameItems(present, quotas) ? charges : chargesFor(request, object, { quotas: present, bound }), view);
  });
}

/** Most clusters never write a quota. */
const NONE: readonly ApiObject[] = Object.freeze([]);

const evaluators = new WeakMap<ClusterView, WeakMap<ServedKind, Evaluator>>();

/** Cached per kind, because every write needs it. */
function evaluatorOf(served: ServedKind, view: ClusterView): Evaluator {
  const byKind = getOrInsertComputed(evaluators, view, () => new WeakMap());
  return getOrInsertComputed(byKind, served, () => evaluatorFor(served.gvr, view));
}

/** The quotas must be the stored ones. */
function charge(charges: readonly Charge[], view: ClusterView): void {
  for (const { quota, used } of charges) {
    const { name, namespace = '' } = quota.metadata;
    // A quota may limit thousands of resources: only the amounts that change are read and written.
    const next = { ...statusOf(quota).used, ...toResourceList(used) };
    // Keeps the identity of the scopes, by which their values are cached.
    view.changeParts({ ...QUOTAS, namespace, name }, (draft) => write(draft, next, { quota, view }));
  }
}

/** Also makes the server the owner of the new amounts. */
function write(
  draft: DraftObject,
  used: ResourceList,
  { quota, view }: { readonly quota: ApiObject; readonly view: ClusterView },
): void {
  draft['status'] = { ...(draft['status'] as ResourceQuota['status']), used };
  const { managedFields } = quota.metadata;
  const served = view.resourceNamed({ ...QUOTAS, version: 'v1' });
  // Objects without managedFields stay without.
  if (served === undefined || managedFields === undefined) return;
  const { apiVersion, schema } = served;
  const versioned = (value: unknown): Versioned => ({ apiVersion, schema, value });
  const managers = managersAfterUpdate(
    {
      before: versioned(quota),
      after: versioned(draft),
      managers: storedManagers(managedFields),
      by: { manager: SERVER_MANAGER, operation: 'Update', apiVersion, subresource: 'status' },
      now: formatTime(view.clock.now()),
    },
    // There is one version, and all of the status is owned.
    { convert: (object, version) => (version === apiVersion ? object : undefined), filter: (fields) => fields },
  );
  draft.metadata.managedFields = writeManagers(managers);
}

/** The new usage of a quota. */
export interface Charge {
  readonly quota: ApiObject;
  /** The resources whose usage increases, with their new totals. */
  readonly used: Amounts;
}

const NO_CHARGES: readonly Charge[] = Object.freeze([]);

/** Quotas are written together with the object that they count, while other requests wait. */
const MAX_LIMITED_NAMES = 10_000;

/** The charges of a write. Throws 403 if it exceeds a quota, and 500 for quotas with invalid scopes. */
export function chargesFor(
  request: AdmissionRequest,
  object: ApiObject,
  { quotas, bound }: { readonly quotas: readonly ApiObject[]; readonly bound: BoundEvaluator },
): readonly Charge[] {
  if (quotas.length === 0) return NO_CHARGES;
  // All quotas are checked for evaluability before any is enforced.
  const { evaluator, context } = bound;
  const missingFor = evaluator.missingConstraints?.(object, context);
  const applicable = quotas.filter((quota) => quotaApplies(quota, object, { request, bound, missingFor }));
  const usage = evaluator.usageOf(object, context);
  const negative = [...usage].filter(([, amount]) => amount.sign() < 0).map(([name]) => name);
  if (negative.length > 0) {
    throw forbiddenError(request, `quota usage is negative for resource(s): ${negative.sort().join(',')}`);
  }
  if (applicable.length === 0) return NO_CHARGES;
  const more = withoutZeros(usage);
  const { oldObject } = request;
  const grown = oldObject === undefined ? more : increase(usage, evaluator.usageOf(oldObject, context));
  const charges = applicable.flatMap((quota) => {
    // An object that an update moves into the scope of a quota counts in full.
    const wasCounted = oldObject !== undefined && matches(quota, { object: oldObject, bound });
    return chargeFor(quota, wasCounted ? grown : more, request) ?? [];
  });
  const limited = charges.reduce((sum, { quota }) => sum + enforcedNames(quota).length, 0);
  if (limited > MAX_LIMITED_NAMES && request.subresource !== 'status') {
    throw forbiddenError(request, `its quotas limit more than ${MAX_LIMITED_NAMES} resources`);
  }
  return charges;
}

/** A restored object may have none. */
function statusOf(quota: ApiObject): ResourceQuota['status'] {
  return (quota['status'] ?? {}) as ResourceQuota['status'];
}

function enforcedNames(quota: ApiObject): readonly string[] {
  return limitedNames(statusOf(quota).hard);
}

interface QuotaCheck {
  readonly request: AdmissionRequest;
  readonly bound: BoundEvaluator;
  /** The message for values that a quota on resources requires. */
  readonly missingFor: ((names: readonly string[]) => string | undefined) | undefined;
}

/** Throws if the quota applies but cannot be evaluated: the object lacks a required value, or usage is not known yet. */
function quotaApplies(quota: ApiObject, object: ApiObject, { request, bound, missingFor }: QuotaCheck): boolean {
  const { name } = quota.metadata;
  const status = statusOf(quota);
  if (!matchesOrFails(quota, { object, bound })) return false;
  const { evaluator, context } = bound;
  const names = evaluator.matchingResources(enforcedNames(quota), context);
  const missing = missingFor?.(names);
  if (missing !== undefined) throw forbiddenError(request, `failed quota: ${name}: ${missing}`);
  if (names.some((each) => own(status.used ?? {}, each) === undefined)) {
    throw forbiddenError(request, `status unknown for quota: ${name}, resources: ${[...names].sort().join(',')}`);
  }
  return true;
}

interface MatchTarget {
  readonly object: ApiObject;
  readonly bound: BoundEvaluator;
}

function matchesOrFails(quota: ApiObject, target: MatchTarget): boolean {
  const refuse = ({ message }: Error) =>
    errors.plain(`error matching scopes of quota ${quota.metadata.name}, err: ${message}`);
  return translateError(ScopeError, () => matches(quota, target), refuse);
}

/** Enforces `status.hard`: the quota controller has not seen a newer `spec.hard` yet. */
function matches(quota: ApiObject, { object, bound }: MatchTarget): boolean {
  const { evaluator, context } = bound;
  // Scopes come first, because invalid scopes are an error in any case.
  const isIn = isInScopes(quota as unknown as ResourceQuota, object, bound);
  return isIn && evaluator.matchingResources(enforcedNames(quota), context).length > 0;
}

/** Undefined if the usage of the quota does not increase. */
function chargeFor(quota: ApiObject, more: Amounts, request: AdmissionRequest): Charge | undefined {
  const { hard = {}, used = {} } = statusOf(quota);
  const requested = pickAmounts(more, limitedNames(hard));
  if (requested.size === 0) return undefined;
  const sums = new Map<string, Quantity>();
  for (const [name, amount] of requested) {
    const before = own(used, name);
    sums.set(name, before === undefined ? amount : Quantity.parse(before).add(amount));
  }
  // Status updates report facts and are never rejected.
  if (request.subresource !== 'status') {
    const exceeded = [...sums]
      .filter(([name, sum]) => sum.cmp(Quantity.parse(own(hard, name) ?? sum.toString())) > 0)
      .map(([name]) => name);
    if (exceeded.length > 0) {
      const parts = {
        requested: pickAmounts(requested, exceeded),
        used: pickAmounts(readAmounts(used), exceeded),
        limited: pickAmounts(readAmounts(hard), exceeded),
      };
      const texts = Object.entries(parts).map(([title, amounts]) => `${title}: ${printAmounts(amounts)}`);
      throw forbiddenError(request, `exceeded quota: ${quota.metadata.name}, ${texts.join(', ')}`);
    }
  }
  return { quota, used: sums };
}
