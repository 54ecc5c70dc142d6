/**
 * Holds all objects of a namespace together to its ResourceQuotas: what would use more than is left is refused, and what
 * comes in is charged. spec: ResourceQuota
 *
 * A write is judged when it is admitted, and charged in the instant in which it is stored. In between something may have
 * been waited for, so it is judged once more if the quotas are not the same any more. Nothing is ever refunded here: what
 * is gone is noticed by who counts it.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ApiObject } from '../../meta/object.js';
import { sameItems } from '../../util/same-items.js';
import { asleepWithout } from '../asleep.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { charge, QUOTAS } from './charge.js';
import { chargesFor } from './check.js';
import type { Evaluator, Measure } from './evaluator.js';
import { evaluatorFor, isCountable } from './evaluators.js';

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
