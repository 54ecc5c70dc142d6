/**
 * The PodDisruptionBudget kind: limits voluntary disruptions of a set of pods. spec: What the service does
 */

import type { Dialect } from '../../../meta/dialect.js';
import { type FieldError, invalid } from '../../../meta/field-error.js';
import { dumpIntOrString, type IntOrString, percentOf, percentProblems } from '../../../meta/int-or-string.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import type { Column } from '../../columns.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { LabelSelector } from '../../generated/meta-v1.js';
import {
  type PodDisruptionBudgetKind,
  type PodDisruptionBudgetObject,
  type PodDisruptionBudgetSpec,
  podDisruptionBudgetBase,
} from '../../generated/policy-v1.js';
import { ageColumn, countColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { conditionErrors } from '../../shared/condition-rules.js';
import { nonNegative, nonNegativeFields, optionalValueErrors } from '../../shared/field-rules.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';

export interface PodDisruptionBudget extends PodDisruptionBudgetObject {}

const columns: readonly Column<PodDisruptionBudget>[] = [
  nameColumn,
  textColumn('Min Available', 'The number of pods that must stay available.', (object) =>
    String(object.spec.minAvailable ?? 'N/A'),
  ),
  textColumn('Max Unavailable', 'The number of pods that may be unavailable.', (object) =>
    String(object.spec.maxUnavailable ?? 'N/A'),
  ),
  countColumn(
    'Allowed Disruptions',
    'The number of pods that can be evicted now.',
    (object) => object.status.disruptionsAllowed,
  ),
  ageColumn,
];

export const PodDisruptionBudget: PodDisruptionBudgetKind<PodDisruptionBudget> = defineBuiltIn({
  ...podDisruptionBudgetBase,
  names: { shortNames: ['pdb'] },
  columns,
  strategy: {
    name: {
      // Only the rules for all names apply: a path segment.
      validate: () => [],
    },
    update: { allowUnconditionalUpdate: false, metadataValidation: 'none', validate: specProblems },
    create: { metadataValidation: 'none', validate: specProblems },
    write: { separateStatus: true, generation: specGeneration },
    decode: { defaults: (draft, { dialect }) => stripSelector(draft, dialect) },
  },
  subresources: { status: statusSubresource({ metadataValidation: 'none', validate: statusProblems }) },
});

/**
 * A label key that no pod has. The conversion of v1beta1 uses it to represent empty selectors, whose meaning differs.
 */
export function emptySelectorLabel(dialect: Dialect): string {
  return dialect.subkey('pdb', 'deprecated-v1beta1-empty-selector-match');
}

/** Removes the label's requirement from a selector with other requirements, where it has no meaning. */
export function withoutEmptySelectorLabel(selector: LabelSelector, dialect: Dialect): LabelSelector {
  const label = emptySelectorLabel(dialect);
  const { matchExpressions } = selector;
  if (!matchExpressions?.some(({ key }) => key === label)) return selector;
  return { ...selector, matchExpressions: matchExpressions.filter(({ key }) => key !== label) };
}

function stripSelector({ spec }: PodDisruptionBudget, dialect: Dialect): void {
  const { selector } = spec;
  if (selector === undefined) return;
  const emptySelector = { matchExpressions: [{ key: emptySelectorLabel(dialect), operator: 'Exists' }] };
  if (!deepEqual(selector, emptySelector)) spec.selector = withoutEmptySelectorLabel(selector, dialect);
}

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function specProblems(object: PodDisruptionBudget): readonly FieldError[] {
  const { spec } = object;
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const problems: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    problems.push(invalid('spec', dumpSpec(spec), 'minAvailable and maxUnavailable cannot be both set'));
  }
  if (minAvailable !== undefined) append(problems, amountProblems('spec.minAvailable', minAvailable));
  if (maxUnavailable !== undefined) append(problems, amountProblems('spec.maxUnavailable', maxUnavailable));
  append(problems, labelSelectorObjectErrors(selector ?? {}, 'spec.selector'));
  append(problems, optionalValueErrors('spec.unhealthyPodEvictionPolicy', policy, POLICIES));
  return problems;
}

function amountProblems(path: string, amount: IntOrString): FieldError[] {
  if (typeof amount === 'number') return nonNegative(path, amount);
  const value = dumpIntOrString(amount);
  const problems = percentProblems(amount).map((problem) => invalid(path, value, problem));
  const tooMuch = (percentOf(amount) ?? 0) > 100;
  return tooMuch ? [...problems, invalid(path, value, 'must not be greater than 100%')] : problems;
}

/** Prints the spec as Go's %#v, which prints pointers as addresses. */
function dumpSpec({ selector, unhealthyPodEvictionPolicy }: PodDisruptionBudgetSpec): ReturnType<typeof verbatim> {
  const held = (goType: string, value: unknown) => `(*${goType})(${value === undefined ? 'nil' : '0xc000000000'})`;
  const amount = '(*intstr.IntOrString)(0xc000000000)';
  return verbatim(
    `policy.PodDisruptionBudgetSpec{MinAvailable:${amount}, Selector:${held('v1.LabelSelector', selector)}, MaxUnavailable:${amount}, UnhealthyPodEvictionPolicy:${held('policy.UnhealthyPodEvictionPolicyType', unhealthyPodEvictionPolicy)}}`,
  );
}

const COUNTS = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

function statusProblems(next: PodDisruptionBudget): readonly FieldError[] {
  const { status } = next;
  return [...conditionErrors(status.conditions, 'status.conditions'), ...nonNegativeFields('status', status, COUNTS)];
}
