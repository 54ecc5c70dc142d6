/**
 * Which requests something of this group is about: rules of operations and resources, selectors, and conditions in
 * CEL. Policies, bindings and webhooks share them, in shape and in rules.
 */
import type { FieldError } from '../../../meta/field-error.js';
import { duplicate, invalid, keyPath, notSupported, required, tooMany } from '../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { pathSegmentProblems, qualifiedNameProblems } from '../../../meta/names.js';
import { quote, stringSlice, verbatim } from '../../../text/go/go-text.js';
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../generated/admissionregistration-v1.js';
import { type Accepted, conditionErrors } from '../expressions/definition.js';

/** Words that failure policies and their like are made of; what the server knows is listed in its order. */
export const FAILURE_POLICIES = ['Fail', 'Ignore'];
export const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const MATCH_POLICIES = ['Equivalent', 'Exact'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** A word that must be one of those; an empty one counts. */
export function wordErrors(value: string | undefined, known: readonly string[], path: string): FieldError[] {
  return value === undefined || known.includes(value) ? [] : [notSupported(path, value, known)];
}

export function matchPolicyErrors(value: string | undefined, path: string): FieldError[] {
  return wordErrors(value, MATCH_POLICIES, path);
}

/** What is wrong with a selection of resources at `path`. */
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
    found.push(...pathSegmentProblems(name).map((detail) => invalid(at, name, detail)));
    if (seen.has(name)) found.push(duplicate(at, name));
    seen.add(name);
  }
  return [...found, ...ruleErrors(rule, path)];
}

/** What is wrong with a rule of operations and resources at `path`. */
export function ruleErrors(rule: RuleWithOperations, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const shownOperations = verbatim(`[]admissionregistration.OperationType{${operations.map(quote).join(', ')}}`);
  return [
    ...listErrors(operations, `${path}.operations`, { what: 'operations', shown: shownOperations }),
    ...operations.flatMap((operation, index) =>
      wordErrors(operation, OPERATIONS, keyPath(`${path}.operations`, index)),
    ),
    ...listErrors(apiGroups, `${path}.apiGroups`, { what: 'API groups' }),
    ...listErrors(apiVersions, `${path}.apiVersions`, { what: 'API versions' }),
    ...apiVersions.flatMap((version, index) =>
      version === '' ? [required(keyPath(`${path}.apiVersions`, index))] : [],
    ),
    ...resourceErrors(resources, `${path}.resources`),
    ...wordErrors(scope, SCOPES, `${path}.scope`),
  ];
}

/** A list must not be empty, and a star says everything, so that nothing else may stand beside it. */
function listErrors(
  list: readonly string[],
  path: string,
  about: { readonly what: string; readonly shown?: unknown },
): FieldError[] {
  if (list.length === 0) return [required(path)];
  if (list.length === 1 || !list.includes('*')) return [];
  return [invalid(path, about.shown ?? stringSlice(list), `if '*' is present, must not specify other ${about.what}`)];
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
      // Only the last plain entry counts; the reference server forgets the ones before.
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

/** What conditions may use: `params` in policies that have some, and what is new only if they were not there before. */
export interface ConditionScope {
  readonly params: boolean;
  readonly accepted: Accepted;
}

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
    else found.push(...conditionErrors(text, `${at}.expression`, { params, stored: accepted.has(text) }));
    if (name === '') found.push(required(`${at}.name`));
    found.push(...(name === '' ? [] : qualifiedNameProblems(name)).map((why) => invalid(`${at}.name`, name, why)));
    if (seen.has(name)) found.push(duplicate(`${at}.name`, name));
    if (name !== '') seen.add(name);
  }
  return found;
}
