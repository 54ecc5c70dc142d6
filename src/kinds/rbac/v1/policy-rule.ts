/**
 * What the roles of a namespace and those of the whole cluster share: their rules, and their way with names.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, invalid, keyPath, required } from '../../../meta/field-error.js';
import { pathSegmentPrefixProblems, pathSegmentProblems } from '../../../meta/names.js';
import type { PolicyRule } from '../../generated/rbac-v1.js';
import type { NameRule } from '../../kind.js';

/** Roles and bindings may be called anything that can stand in a URL: `system:node`. */
export const rbacName: NameRule = (name, prefix) =>
  prefix ? pathSegmentPrefixProblems(name) : pathSegmentProblems(name);

/** The rules of a role. Those of a namespace cannot reach what lies outside of it. */
export function validatePolicyRules(
  rules: readonly PolicyRule[] | null,
  about: { readonly isNamespaced: boolean },
): FieldError[] {
  return (rules ?? []).flatMap((rule, index) => validatePolicyRule(keyPath('rules', index), rule, about));
}

function validatePolicyRule(path: string, rule: PolicyRule, about: { readonly isNamespaced: boolean }): FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const found: FieldError[] = [];
  if (isEmptyList(rule.verbs)) found.push(required(childPath(path, 'verbs'), 'verbs must contain at least one value'));
  if (nonResourceURLs.length > 0) {
    const at = childPath(path, 'nonResourceURLs');
    if (about.isNamespaced) {
      found.push(invalid(at, nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs'));
    }
    if (apiGroups.length + resources.length + resourceNames.length > 0) {
      found.push(invalid(at, nonResourceURLs, 'rules cannot apply to both regular resources and non-resource URLs'));
    }
    return found;
  }
  if (apiGroups.length === 0) {
    found.push(required(childPath(path, 'apiGroups'), 'resource rules must supply at least one api group'));
  }
  if (resources.length === 0) {
    found.push(required(childPath(path, 'resources'), 'resource rules must supply at least one resource'));
  }
  return found;
}

/** A list that is always on the wire is null there when it was not given. */
export function isEmptyList(list: readonly unknown[] | null): boolean {
  return list === null || list.length === 0;
}
