/**
 * The contract of measuring: what quotas need to know about the objects of one resource. Pure: whoever keeps count of
 * what a namespace uses asks the same questions as who lets writes in.
 */
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../kinds/core/v1/resource-quota.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { Dialect } from '../../meta/dialect.js';
import { invalid, keyPath, printFieldError } from '../../meta/field-error.js';
import type { GroupResource } from '../../meta/gvk.js';
import { qualifiedResource } from '../../meta/gvk.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import { labelValueProblems } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import type { Amounts } from '../plugins/pod-amounts.js';
import type { AdmissionRequest } from '../types.js';

/** What has been countable for longer than `count/…` exists. */
const OLD_NAMES: ReadonlySet<string> = new Set(['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets']);

export const ONE = Quantity.of(1n);

/** What measuring depends on besides the object. A ClusterView is one. */
export interface Terms {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  readonly clock: { now(): number };
}

/** What a write is about, as far as it tells whether more may be used afterwards. */
export type MeasuredWrite = Pick<AdmissionRequest, 'operation' | 'subresource' | 'object' | 'oldObject'>;

export interface Evaluator {
  /** Those of the names in a quota that it measures. */
  measured(names: readonly string[], terms: Terms): readonly string[];
  /** Whether a create or update can change what is used. */
  handles(write: MeasuredWrite, terms: Terms): boolean;
  /**
   * Whether a change of an object is a reason to count anew, because it may have given something back. What it takes in
   * addition is charged when it is written. Absent: no change is.
   */
  givesBack?(before: ApiObject, after: ApiObject, terms: Terms): boolean;
  /** How much of everything an object uses. */
  usageOf(object: ApiObject, terms: Terms): Amounts;
  /** What an object leaves unsaid although a quota on these names wants it said, in words. Absent: nothing ever. */
  unsaid?(names: readonly string[], object: ApiObject, terms: Terms): string | undefined;
  /** Whether an object is in a scope. Throws {@link ScopeError}. Absent: objects of this resource are in none. */
  isInScope?(requirement: ScopedResourceSelectorRequirement, object: ApiObject, terms: Terms): boolean;
}

/** How the objects of one resource are measured. */
export interface Measure {
  readonly evaluator: Evaluator;
  readonly terms: Terms;
}

/** A scope of a quota that nothing can be compared with: such quotas can be written, but not used. */
export class ScopeError extends Error {
  override readonly name = 'ScopeError';
}

/** The group is spelt as clients see it. */
export function countName(resource: GroupResource): string {
  return `count/${qualifiedResource(resource)}`;
}

export function countEvaluator(resource: GroupResource): Evaluator {
  const isOld = resource.group === '' && OLD_NAMES.has(resource.resource);
  const names = [countName(resource), ...(isOld ? [resource.resource] : [])];
  const usage = new Map(names.map((name) => [name, ONE]));
  return {
    measured: (inQuota) => inQuota.filter((name) => usage.has(name)),
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    usageOf: () => usage,
  };
}

/** A list of scopes says no more than that an object must be in each of them. */
function scopesOf({ spec }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] {
  const plain = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' as const }));
  return [...plain, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

/** Whether an object is in all scopes of a quota. Throws {@link ScopeError}. */
export function isInScopes(quota: ResourceQuota, object: ApiObject, { evaluator, terms }: Measure): boolean {
  const scopes = scopesOf(quota);
  if (scopes.length === 0) return true;
  const { isInScope } = evaluator;
  if (isInScope === undefined) return false;
  // Every one is asked: one that cannot be used is an error even where another one has settled the matter.
  return scopes.map((scope) => isInScope(scope, object, terms)).every((isIn) => isIn);
}

/** Whether a scope by name selects an object that has these; an object may have none, or several at a time. */
export function selects(requirement: ScopedResourceSelectorRequirement, names: readonly string[]): boolean {
  const { scopeName, operator, values = [] } = requirement;
  if (operator === 'Exists') return names.length > 0;
  refuseBadValues(requirement);
  const selector = labelSelectorFromObject({ matchExpressions: [{ key: scopeName, operator, values }] });
  if (names.length === 0) return matchesLabels(selector, {});
  return names.some((name) => matchesLabels(selector, { [scopeName]: name }));
}

/** Values are taken for those of labels, which not every name of a class could be. */
function refuseBadValues({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement): void {
  const texts = values.flatMap((value, index) => {
    const problems = labelValueProblems(value);
    const path = keyPath(keyPath('values', index), scopeName);
    return problems.length === 0 ? [] : [printFieldError(invalid(path, value, problems.join('; ')))];
  });
  if (texts.length === 0) return;
  const why = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  throw new ScopeError(
    `error on matching scope {${scopeName} ${operator} [${values.join(' ')}]}: failed to parse and convert selector: ${why}`,
  );
}
