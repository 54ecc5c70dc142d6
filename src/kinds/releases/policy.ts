/**
 * PodDisruptionBudget while an empty selector selected no pod, as none does. Where the versions meet, everything and
 * nothing are said by a label that no pod has.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
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
import { statusSubresource } from '../shared/strategies.js';
import { type Conversion, throughStored } from './in-stored-form.js';

const conversion: Conversion = {
  toStored(draft, dialect) {
    const { nobody, everybody } = selectors(dialect);
    changeSelector(draft, (selector) => {
      if (isEmpty(selector)) return nobody;
      return deepEqual(selector, everybody) ? {} : withoutEmptySelectorLabel(selector, dialect);
    });
  },
  fromStored(draft, dialect) {
    const { nobody, everybody } = selectors(dialect);
    changeSelector(draft, (selector) => {
      if (isEmpty(selector)) return everybody;
      return deepEqual(selector, nobody) ? {} : selector;
    });
  },
};

export const podDisruptionBudgetV1beta1: Kind = anotherVersion(PodDisruptionBudget, {
  apiVersion: 'policy/v1beta1',
  lifecycle: {
    introducedIn: '1.5',
    onByDefault: true,
    deprecatedIn: '1.21',
    removedIn: '1.25',
    replacement: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  },
  body: podDisruptionBudgetBody,
  ...conversion,
  strategy: throughStored(PodDisruptionBudget.strategy, conversion),
  // Counts may be what they like: that rule came with v1.
  subresources: { status: statusSubresource({ validate: statusProblems }) },
});

function statusProblems(next: ApiObject) {
  const { status } = next as unknown as PodDisruptionBudget;
  return conditionErrors(status.conditions, 'status.conditions');
}

/** What selects nothing in every version but this one, and what selects everything here. */
function selectors(dialect: Dialect): { readonly nobody: LabelSelector; readonly everybody: LabelSelector } {
  const key = emptySelectorLabel(dialect);
  return {
    nobody: { matchExpressions: [{ key, operator: 'Exists' }] },
    everybody: { matchExpressions: [{ key, operator: 'DoesNotExist' }] },
  };
}

function changeSelector(draft: DraftObject, change: (selector: LabelSelector) => LabelSelector): void {
  const before = draft['spec'] as PodDisruptionBudgetSpec | undefined;
  if (before?.selector !== undefined) draft['spec'] = { ...before, selector: change(before.selector) };
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}
