/**
 * Validates the rules and names of roles.
 */
import type { Dialect } from '../../../meta/dialect.js';
import { childPath, type FieldError, invalid, keptOnUpdate, keyPath, required } from '../../../meta/field-error.js';
import { pathSegmentPrefixProblems, pathSegmentProblems } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import type { PolicyRule } from '../../generated/rbac-v1.js';
import type { NameValidator } from '../../kind.js';

/** Names of roles and bindings are path segments: `system:node`. */
export const rbacName: NameValidator = (name, prefix) =>
  prefix ? pathSegmentPrefixProblems(name) : pathSegmentProblems(name);

interface PolicyRuleOptions {
  /** Rules of a namespaced role cannot have non-resource URLs. */
  readonly isNamespaced: boolean;
  readonly dialect: Dialect;
}

/** Validates the rules of a role. */
export function validatePolicyRules(rules: readonly PolicyRule[] | null, options: PolicyRuleOptions): FieldError[] {
  return (rules ?? []).flatMap((rule, index) => validatePolicyRule(keyPath('rules', index), rule, options));
}

function validatePolicyRule(path: string, rule: PolicyRule, options: PolicyRuleOptions): FieldError[] {
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
    if (options.dialect.rules.wildcardIsLastUrlSegment) append(found, wildcardErrors(at, nonResourceURLs));
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

function wildcardErrors(path: string, urls: readonly string[]): FieldError[] {
  return urls.flatMap((url, index) =>
    /^[^*]*(?:(?:^|\/)\*)?$/.test(url)
      ? []
      : [keptOnUpdate(invalid(keyPath(path, index), url, "the wildcard '*' must be the whole last path segment"))],
  );
}

/** A required list is null on the wire if a client omits it. */
export function isEmptyList(list: readonly unknown[] | null): boolean {
  return list === null || list.length === 0;
}
