/**
 * Validates the rules and names of roles.
 */
import { childPath, type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import { pathSegmentPrefixProblems, pathSegmentProblems } from '../../../meta/names.js';
import type { PolicyRule } from '../../generated/rbac-v1.js';
import type { NameValidator } from '../../kind.js';

/** Names of roles and bindings are path segments: `system:node`. */
export const rbacName: NameValidator = (name, prefix) =>
  prefix ? pathSegmentPrefixProblems(name) : pathSegmentProblems(name);

/** Validates the rules of a role. Rules of a namespaced role cannot have non-resource URLs. */
export function validatePolicyRules(
  rules: readonly PolicyRule[] | null,
  options: { readonly isNamespaced: boolean },
): FieldError[] {
  return (rules ?? []).flatMap((rule, index) => validatePolicyRule(keyPath('rules', index), rule, options));
}

function validatePolicyRule(path: string, rule: PolicyRule, options: { readonly isNamespaced: boolean }): FieldError[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const found: FieldError[] = [];
  if (isEmptyList(rule.verbs)) found.push(required(childPath(path, 'verbs'), 'verbs must contain at least one value'));
  if (nonResourceURLs.length > 0) {
    const at = childPath(path, 'nonResourceURLs');
    if (options.isNamespaced) {
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

/** A required list is null on the wire if a client omits it. */
export function isEmptyList(list: readonly unknown[] | null): boolean {
  return list === null || list.length === 0;
}
