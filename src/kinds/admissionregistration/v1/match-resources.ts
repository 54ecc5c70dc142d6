/**
 * Validation of the match rules that policies, bindings and webhooks share: rules of operations and resources,
 * selectors and CEL match conditions.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { duplicate, invalid, keyPath, required, tooMany } from '../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { pathSegmentProblems, qualifiedNameProblems } from '../../../meta/names.js';
import { quote, stringSlice, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../generated/admissionregistration-v1.js';
import { optionalValueErrors } from '../../shared/field-rules.js';
import { type Accepted, conditionErrors } from '../expressions/definition.js';

/** The failure policies, in message order. */
export const FAILURE_POLICIES = ['Fail', 'Ignore'];
/** The reinvocation policies, in message order. */
export const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** Validates a match policy. */
export function matchPolicyErrors(value: string | undefined, path: string): FieldError[] {
  return optionalValueErrors(path, value, MATCH_POLICIES);
}

/** Validates a MatchResources value at `path`. */
export function matchResourcesErrors(match: MatchResources, path: string): FieldError[] {
  const { namespaceSelector, objectSelector, resourceRules = [], excludeResourceRules = [] } = match;
  return [
    ...matchPolicyErrors(match.matchPolicy, `${path}.matchPolicy`),
    ...labelSelectorObjectErrors(namespaceSelector, `${path}.namespaceSelector`),
    ...labelSelectorObjectErrors(objectSelector, `${path}.objectSelector`),
    ...resourceRules.flatMap((rule, index) => namedRuleErrors(rule, keyPath(`${path}.resourceRules`, index))),
    ...excludeResourceRules.flatMap((rule, index) =>
      namedRuleErrors(rule, keyPath(`${path}.excludeResourceRules`, index)),
    ),
  ];
}

function namedRuleErrors(rule: NamedRuleWithOperations, path: string): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    const at = keyPath(`${path}.resourceNames`, index);
    append(
      found,
      pathSegmentProblems(name).map((detail) => invalid(at, name, detail)),
    );
    if (seen.has(name)) found.push(duplicate(at, name));
    seen.add(name);
  }
  return [...found, ...ruleErrors(rule, path)];
}

/** Validates a rule of operations and resources at `path`. */
export function ruleErrors(rule: RuleWithOperations, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const shownOperations = verbatim(`[]admissionregistration.OperationType{${operations.map(quote).join(', ')}}`);
  return [
    ...listErrors(operations, `${path}.operations`, { what: 'operations', shown: shownOperations }),
    ...operations.flatMap((operation, index) =>
      optionalValueErrors(keyPath(`${path}.operations`, index), operation, OPERATIONS),
    ),
    ...listErrors(apiGroups, `${path}.apiGroups`, { what: 'API groups' }),
    ...listErrors(apiVersions, `${path}.apiVersions`, { what: 'API versions' }),
    ...apiVersions.flatMap((version, index) =>
      version === '' ? [required(keyPath(`${path}.apiVersions`, index))] : [],
    ),
    ...resourceErrors(resources, `${path}.resources`),
    ...optionalValueErrors(`${path}.scope`, scope, SCOPES),
  ];
}

/** Requires a non-empty list in which `*` is the only entry, if present. */
function listErrors(
  list: readonly string[],
  path: string,
  options: { readonly what: string; readonly shown?: unknown },
): FieldError[] {
  if (list.length === 0) return [required(path)];
  if (list.length === 1 || !list.includes('*')) return [];
  return [
    invalid(path, options.shown ?? stringSlice(list), `if '*' is present, must not specify other ${options.what}`),
  ];
}

function resourceErrors(resources: readonly string[], path: string): FieldError[] {
  const found: FieldError[] = resources.length === 0 ? [required(path)] : [];
  const wholeResources = new Set<string>();
  const wholeSubresources = new Set<string>();
  let endsInPlainResource = false;
  for (const [index, text] of resources.entries()) {
    const at = keyPath(path, index);
    if (text === '') {
      found.push(required(at));
      continue;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      // Only the last plain entry counts: the reference server overwrites the earlier ones.
      endsInPlainResource = text !== '*';
      continue;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    if (wholeResources.has(resource)) {
      found.push(invalid(at, text, `if '${resource}/*' is present, must not specify ${text}`));
    }
    if (wholeSubresources.has(subresource)) {
      found.push(invalid(at, text, `if '*/${subresource}' is present, must not specify ${text}`));
    }
    if (subresource === '*') wholeResources.add(resource);
    if (resource === '*') wholeSubresources.add(subresource);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    found.push(invalid(path, stringSlice(resources), "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && endsInPlainResource) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    found.push(invalid(path, stringSlice(resources), detail));
  }
  return found;
}

const MAX_MATCH_CONDITIONS = 64;

/**
 * What match conditions may use: `params` in policies with parameters, and newer features if they were accepted before.
 */
export interface ConditionScope {
  readonly params: boolean;
  readonly accepted: Accepted;
}

/** Validates match conditions. */
export function matchConditionErrors(
  conditions: readonly MatchCondition[] | undefined,
  path: string,
  { params, accepted }: ConditionScope,
): FieldError[] {
  const all = conditions ?? [];
  const found = all.length > MAX_MATCH_CONDITIONS ? [tooMany(path, all.length, MAX_MATCH_CONDITIONS)] : [];
  const seen = new Set<string>();
  for (const [index, { name, expression }] of all.entries()) {
    const at = keyPath(path, index);
    const text = expression.trim();
    if (text === '') found.push(required(`${at}.expression`));
    else append(found, conditionErrors(text, `${at}.expression`, { params, stored: accepted.has(text) }));
    if (name === '') found.push(required(`${at}.name`));
    append(
      found,
      (name === '' ? [] : qualifiedNameProblems(name)).map((why) => invalid(`${at}.name`, name, why)),
    );
    if (seen.has(name)) found.push(duplicate(`${at}.name`, name));
    if (name !== '') seen.add(name);
  }
  return found;
}
