/**
 * PodDisruptionBudget in policy/v1beta1, where an empty selector selects no pods; in v1 it selects all. The conversion
 * represents "no pods" and "all pods" by a requirement on a label that no pod has.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import { anotherVersion } from '../define-kind.js';
import type { LabelSelector } from '../generated/meta-v1.js';
import type { PodDisruptionBudgetSpec } from '../generated/policy-v1.js';
import { podDisruptionBudgetBody } from '../generated/policy-v1beta1.js';
import type { Kind } from '../kind.js';
import {
  emptySelectorLabel,
  PodDisruptionBudget,
  withoutEmptySelectorLabel,
} from '../policy/v1/pod-disruption-budget.js';
import { conditionErrors } from '../shared/condition-rules.js';
import { type Conversion, storageVersionHooks } from '../shared/storage-conversion.js';
import { statusSubresource } from '../shared/strategies.js';

const conversion: Conversion = {
  toStored(draft, dialect) {
    const { noPods, allPods } = selectors(dialect);
    changeSelector(draft, (selector) => {
      if (isEmpty(selector)) return noPods;
      return deepEqual(selector, allPods) ? {} : withoutEmptySelectorLabel(selector, dialect);
    });
  },
  fromStored(draft, dialect) {
    const { noPods, allPods } = selectors(dialect);
    changeSelector(draft, (selector) => {
      if (isEmpty(selector)) return allPods;
      return deepEqual(selector, noPods) ? {} : selector;
    });
  },
};

export const podDisruptionBudgetV1beta1: Kind<PodDisruptionBudget> = anotherVersion(PodDisruptionBudget, {
  apiVersion: 'policy/v1beta1',
  lifecycle: {
    introducedIn: '1.5',
    servedByDefault: true,
    deprecatedIn: '1.21',
    removedIn: '1.25',
    replacement: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  },
  body: podDisruptionBudgetBody,
  ...conversion,
  strategy: storageVersionHooks(PodDisruptionBudget.strategy, conversion),
  // The rules for counts exist only in v1.
  subresources: { status: statusSubresource({ validate: statusProblems }) },
});

function statusProblems({ status }: PodDisruptionBudget) {
  return conditionErrors(status.conditions, 'status.conditions');
}

/** The selector for no pods in the storage version, and the one for all pods in this version. */
function selectors(dialect: Dialect): { readonly noPods: LabelSelector; readonly allPods: LabelSelector } {
  const key = emptySelectorLabel(dialect);
  return {
    noPods: { matchExpressions: [{ key, operator: 'Exists' }] },
    allPods: { matchExpressions: [{ key, operator: 'DoesNotExist' }] },
  };
}

function changeSelector(draft: DraftObject, change: (selector: LabelSelector) => LabelSelector): void {
  const before = draft['spec'] as PodDisruptionBudgetSpec | undefined;
  if (before?.selector !== undefined) draft['spec'] = { ...before, selector: change(before.selector) };
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}
