/**
 * Holds all objects of a namespace together to its ResourceQuotas: what would use more than is left is refused, and what
 * comes in is charged. spec: ResourceQuota
 *
 * A write is judged when it is admitted, and charged in the instant in which it is stored. In between something may have
 * been waited for, so it is judged once more if the quotas are not the same any more. Nothing is ever refunded here: what
 * is gone is noticed by who counts it.
 */

import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { storedManagers, writeManagers } from '../../merge/apply/managers.js';
import { afterUpdate, type Versioned } from '../../merge/apply/ownership.js';
import { SERVER_MANAGER } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { formatTime } from '../../text/time/time.js';
import { own } from '../../util/json.js';
import { sameItems } from '../../util/same-items.js';
import { asleepWithout } from '../asleep.js';
import { type Amounts, readAmounts } from '../plugins/pod-amounts.js';
import { refuse } from '../plugins/requests.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { growth, pick, printAmounts, toResourceList, withoutZeros } from './arithmetic.js';
import type { Evaluator, Measure } from './evaluator.js';
import { isInScopes, ScopeError } from './evaluator.js';
import { evaluatorFor, isCountable } from './evaluators.js';

const NOTHING_DUE: readonly Charge[] = Object.freeze([]);

const QUOTAS = Object.freeze({ group: '', resource: 'resourcequotas' });

export const resourceQuota: AdmissionPlugin = /* @__PURE__ */ asleepWithout([QUOTAS], {
  name: 'ResourceQuota',
  looksAt: isCountable,
  isBuiltIn: true,
  validate,
});

function validate(request: AdmissionRequest, view: ClusterView): void {
  const { operation, object, namespace } = request;
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || object === undefined) return;
  const measure: Measure = { evaluator: evaluatorOf(request.served, view), terms: view };
  if (!measure.evaluator.handles(request, view)) return;
  const seen = view.changes(QUOTAS);
  const quotas = seen === 0 ? NONE : view.list(QUOTAS, namespace);
  const due = chargesFor(request, object, { quotas, measure });
  if (request.dryRun) return;
  request.whenStored(() => {
    if (quotas.length === 0 && view.changes(QUOTAS) === seen) return;
    const present = view.list(QUOTAS, namespace);
    // Stored objects never change: the same ones say the same.
    charge(sameItems(present, quotas) ? due : chargesFor(request, object, { quotas: present, measure }), view);
  });
}

/** In most clusters, no quota was ever written. */
const NONE: readonly ApiObject[] = Object.freeze([]);

const evaluators = new WeakMap<ClusterView, WeakMap<ServedKind, Evaluator>>();

/** Worked out once for each kind: every write asks. */
function evaluatorOf(served: ServedKind, view: ClusterView): Evaluator {
  let known = evaluators.get(view);
  if (known === undefined) {
    known = new WeakMap();
    evaluators.set(view, known);
  }
  let evaluator = known.get(served);
  if (evaluator === undefined) {
    evaluator = evaluatorFor(served.gvr, view);
    known.set(served, evaluator);
  }
  return evaluator;
}

/** All at once; the quotas are those that are stored at this moment. */
function charge(charges: readonly Charge[], view: ClusterView): void {
  for (const { quota, used } of charges) {
    const { name, namespace = '' } = quota.metadata;
    const { status } = quota as unknown as ResourceQuota;
    const next = toResourceList(new Map([...readAmounts(status.used), ...used]));
    view.change({ ...QUOTAS, namespace, name }, (draft) => write(draft, next, { quota, view }));
  }
}

/** The amounts belong to the server from now on, whoever wrote them before. */
function write(
  draft: DraftObject,
  used: ResourceList,
  { quota, view }: { readonly quota: ApiObject; readonly view: ClusterView },
): void {
  draft['status'] = { ...(draft['status'] as ResourceQuota['status']), used };
  const { managedFields } = quota.metadata;
  const served = view.resourceNamed({ ...QUOTAS, version: 'v1' });
  // Where nobody keeps track of owners, nobody begins to.
  if (served === undefined || managedFields === undefined) return;
  const { apiVersion, schema } = served;
  const versioned = (value: unknown): Versioned => ({ apiVersion, schema, value });
  const managers = afterUpdate(
    {
      before: versioned(quota),
      after: versioned(draft),
      managers: storedManagers(managedFields),
      by: { manager: SERVER_MANAGER, operation: 'Update', apiVersion, subresource: 'status' },
      now: formatTime(view.clock.now()),
    },
    // There is one version, and all of the status may be written to.
    { convert: (object, version) => (version === apiVersion ? object : undefined), filter: (fields) => fields },
  );
  draft.metadata.managedFields = writeManagers(managers);
}

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
