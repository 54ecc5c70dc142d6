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
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { formatTime } from '../../text/time/time.js';
import { sameItems } from '../../util/same-items.js';
import { asleepWithout } from '../asleep.js';
import { readAmounts } from '../plugins/pod-amounts.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { toResourceList } from './arithmetic.js';
import type { Charge } from './check.js';
import { chargesFor } from './check.js';
import type { Evaluator, Measure } from './evaluator.js';
import { evaluatorFor, isCountable } from './evaluators.js';

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
