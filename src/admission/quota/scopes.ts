/**
 * Scopes of quotas: which objects a quota is about at all.
 */
import type { ResourceQuota, ScopedResourceSelectorRequirement } from '../../kinds/core/v1/resource-quota.js';
import { invalid, keyPath, printFieldError } from '../../meta/field-error.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import { labelValueProblems } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import { type Measure, ScopeError } from './evaluator.js';

/** A list of scopes says no more than that an object must be in each of them. */
export function scopesOf({ spec }: ResourceQuota): readonly ScopedResourceSelectorRequirement[] {
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
