/**
 * The contract of quota evaluators: how the objects of one resource count. Evaluators are pure; the admission plugin and
 * the quota controller share them.
 */
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { FeatureGates } from '../../kinds/feature-gates.js';
import type { ScopedResourceSelectorRequirement } from '../../kinds/generated/core-v1.js';
import type { Dialect } from '../../meta/dialect.js';
import { aggregateText, invalid, keyPath, printFieldError } from '../../meta/field-error.js';
import { type GroupResource, qualifiedResource } from '../../meta/gvk.js';
import { isLabelValue, labelValueProblems } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { Amounts } from '../plugins/pod-amounts.js';
import type { AdmissionRequest } from '../types.js';

/** Resources with a plain name that is older than `count/…`. */
const OLD_NAMES: ReadonlySet<string> = new Set(['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets']);

export const ONE = Quantity.of(1n);

/** What evaluation depends on besides the object. A ClusterView satisfies it. */
export interface EvaluatorContext {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  readonly clock: { now(): number };
}

/** The parts of a write that tell whether it may increase usage. */
export type QuotaWrite = Pick<AdmissionRequest, 'operation' | 'subresource' | 'object' | 'oldObject'>;

export interface Evaluator {
  /** The resource names of a quota that this evaluator measures. */
  matchingResources(names: readonly string[], context: EvaluatorContext): readonly string[];
  /** Whether a create or update can change the usage. */
  handles(write: QuotaWrite, context: EvaluatorContext): boolean;
  /**
   * Whether an update may have released usage, so that the quota must be recalculated. Increases are charged when they
   * are written. Absent: updates never release usage.
   */
  releasesUsage?(before: ApiObject, after: ApiObject, context: EvaluatorContext): boolean;
  usageOf(object: ApiObject, context: EvaluatorContext): Amounts;
  /** Returns the message for values that a quota on resources requires and the object lacks. Absent: none are required. */
  missingConstraints?(object: ApiObject, context: EvaluatorContext): (names: readonly string[]) => string | undefined;
  /** Whether an object is in a scope. Throws {@link ScopeError}. Absent: scopes do not apply to this resource. */
  isInScope?(requirement: ScopedResourceSelectorRequirement, object: ApiObject, context: EvaluatorContext): boolean;
}

export interface BoundEvaluator {
  readonly evaluator: Evaluator;
  readonly context: EvaluatorContext;
}

/** A quota scope with invalid values: such a quota can be stored, but not evaluated. */
export class ScopeError extends Error {
  override readonly name = 'ScopeError';
}

/** The quota name that counts objects of a resource, whose group is spelt as clients see it. */
export function countName(resource: GroupResource): string {
  return `count/${qualifiedResource(resource)}`;
}

/** The evaluator of resources without a special one: it counts objects. */
export function countEvaluator(resource: GroupResource): Evaluator {
  const isOld = resource.group === '' && OLD_NAMES.has(resource.resource);
  const names = [countName(resource), ...(isOld ? [resource.resource] : [])];
  const usage = new Map(names.map((name) => [name, ONE]));
  return {
    matchingResources: (quotaNames) => quotaNames.filter((name) => usage.has(name)),
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    usageOf: () => usage,
  };
}

/** `spec.scopes` is a short form of Exists requirements. */
function scopesOf({ spec }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] {
  const plain = (spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' as const }));
  return [...plain, ...(spec.scopeSelector?.matchExpressions ?? [])];
}

/** Whether an object is in all scopes of a quota. Throws {@link ScopeError}. */
export function isInScopes(quota: ResourceQuota, object: ApiObject, { evaluator, context }: BoundEvaluator): boolean {
  const scopes = scopesOf(quota);
  if (scopes.length === 0) return true;
  const { isInScope } = evaluator;
  if (isInScope === undefined) return false;
  // Every scope is evaluated, because an invalid one is an error even if another does not match.
  return scopes.map((scope) => isInScope(scope, object, context)).every((isIn) => isIn);
}

/** Whether a scope requirement selects an object with these values; an object may have none or several. */
export function scopeSelects(requirement: ScopedResourceSelectorRequirement, names: readonly string[]): boolean {
  const { operator } = requirement;
  if (operator === 'Exists') return names.length > 0;
  // A requirement of a stored quota is compared with every object, and may have a hundred thousand values.
  const values = Object.isFrozen(requirement.values)
    ? getOrInsertComputed(scopeValues, requirement, checkedValues)
    : checkedValues(requirement);
  if (operator === 'In') return names.some((name) => values.has(name));
  if (operator === 'NotIn') return names.length === 0 || names.some((name) => !values.has(name));
  return operator === 'DoesNotExist' && names.length === 0;
}

const scopeValues = new WeakMap<ScopedResourceSelectorRequirement, ReadonlySet<string>>();

/** Throws {@link ScopeError} for invalid values. */
function checkedValues(requirement: ScopedResourceSelectorRequirement): ReadonlySet<string> {
  checkScopeValues(requirement);
  return new Set(requirement.values);
}

/** Values must be valid label values, because they are matched with a label selector. */
function checkScopeValues({ scopeName, operator, values = [] }: ScopedResourceSelectorRequirement): void {
  if (values.every(isLabelValue)) return;
  const texts = values.flatMap((value, index) => {
    const problems = labelValueProblems(value);
    const path = keyPath(keyPath('values', index), scopeName);
    return problems.length === 0 ? [] : [printFieldError(invalid(path, value, problems.join('; ')))];
  });
  throw new ScopeError(
    `error on matching scope {${scopeName} ${operator} [${values.join(' ')}]}: failed to parse and convert selector: ${aggregateText(texts)}`,
  );
}
