/**
 * Validates the spec of a FlowSchema, and requires the specs of the mandatory FlowSchemas. Required lists are null on
 * the wire if a client omits them, so the rules handle null.
 */

import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../../meta/names.js';
import { asSent } from '../../../../schema/empty-values.js';
import { quote, stringSlice, type Verbatim, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { deepEqual } from '../../../../util/json.js';
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
} from '../../../generated/flowcontrol-v1.js';
import { pointerDump } from '../common-rules.js';
import { mandatoryFlow } from './bootstrap.js';

type List<Item> = readonly Item[] | null;

const ALL = '*';
const HIGHEST_PRECEDENCE = 10_000;
const METHODS = ['ByNamespace', 'ByUser'];
const SUBJECT_KINDS = ['Group', 'ServiceAccount', 'User'];
const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** Validates a spec. `name` is the FlowSchema's name: only `exempt` may have the highest precedence. */
export function validateFlowSchemaSpec(path: string, spec: FlowSchemaSpec, name: string): FieldError[] {
  const { matchingPrecedence, distinguisherMethod, priorityLevelConfiguration: level, rules = [] } = spec;
  const found: FieldError[] = [];
  const precedencePath = childPath(path, 'matchingPrecedence');
  const badPrecedence = (detail: string) => found.push(invalid(precedencePath, matchingPrecedence, detail));
  if (matchingPrecedence <= 0) badPrecedence('must be a positive value');
  if (matchingPrecedence > HIGHEST_PRECEDENCE) badPrecedence(`must not be greater than ${HIGHEST_PRECEDENCE}`);
  if (matchingPrecedence === 1 && name !== 'exempt') {
    badPrecedence("only the schema named 'exempt' may have matchingPrecedence 1");
  }
  if (distinguisherMethod !== undefined && !METHODS.includes(distinguisherMethod.type)) {
    const dump = verbatim(`flowcontrol.FlowDistinguisherMethod{Type:${quote(distinguisherMethod.type)}}`);
    found.push(notSupported(childPath(path, 'distinguisherMethod.type'), dump, METHODS));
  }
  const levelPath = childPath(path, 'priorityLevelConfiguration.name');
  if (level.name === '') found.push(required(levelPath, 'must reference a priority level'));
  append(found, nameProblems(levelPath, level.name, dnsSubdomainProblems));
  for (const [index, rule] of rules.entries()) {
    append(found, validateRule(keyPath(childPath(path, 'rules'), index), rule));
  }
  return found;
}

function validateRule(path: string, rule: PolicyRulesWithSubjects): FieldError[] {
  const subjects: List<Subject> = rule.subjects;
  const { resourceRules = [], nonResourceRules = [] } = rule;
  const found: FieldError[] = [];
  const subjectsPath = childPath(path, 'subjects');
  if (isEmpty(subjects)) found.push(required(subjectsPath, 'subjects must contain at least one value'));
  for (const [index, subject] of (subjects ?? []).entries()) {
    append(found, validateSubject(keyPath(subjectsPath, index), subject));
  }
  if (resourceRules.length + nonResourceRules.length === 0) {
    found.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'));
  }
  for (const [index, one] of resourceRules.entries()) {
    append(found, validateResourceRule(keyPath(childPath(path, 'resourceRules'), index), one));
  }
  for (const [index, one] of nonResourceRules.entries()) {
    append(found, validateNonResourceRule(keyPath(childPath(path, 'nonResourceRules'), index), one));
  }
  return found;
}

function validateSubject(path: string, subject: Subject): FieldError[] {
  const found: FieldError[] = [];
  const extra = (field: 'user' | 'group' | 'serviceAccount', kind: string) => {
    if (subject[field] === undefined) return;
    found.push(forbidden(childPath(path, field), `${field} is forbidden when subject kind is not '${kind}'`));
  };
  switch (subject.kind) {
    case 'ServiceAccount':
      append(found, validateServiceAccount(childPath(path, 'serviceAccount'), subject.serviceAccount));
      extra('user', 'User');
      extra('group', 'Group');
      return found;
    case 'User':
      found.push(
        ...validateNamed(childPath(path, 'user'), subject.user, "user is required when subject kind is 'User'"),
      );
      extra('serviceAccount', 'ServiceAccount');
      extra('group', 'Group');
      return found;
    case 'Group':
      found.push(
        ...validateNamed(childPath(path, 'group'), subject.group, "group is required when subject kind is 'Group'"),
      );
      extra('serviceAccount', 'ServiceAccount');
      extra('user', 'User');
      return found;
    default:
      return [notSupported(childPath(path, 'kind'), subject.kind, SUBJECT_KINDS)];
  }
}

function validateNamed(path: string, named: { readonly name: string } | undefined, whenAbsent: string): FieldError[] {
  if (named === undefined) return [required(path, whenAbsent)];
  return named.name === '' ? [required(childPath(path, 'name'))] : [];
}

function validateServiceAccount(path: string, account: ServiceAccountSubject | undefined): FieldError[] {
  if (account === undefined) {
    return [required(path, "serviceAccount is required when subject kind is 'ServiceAccount'")];
  }
  const { name, namespace } = account;
  const [namePath, namespacePath] = [childPath(path, 'name'), childPath(path, 'namespace')];
  const found: FieldError[] = [];
  if (name === '') found.push(required(namePath));
  else if (name !== ALL) append(found, nameProblems(namePath, name, dnsSubdomainProblems));
  if (namespace === '') found.push(required(namespacePath, 'must specify namespace for service account'));
  append(found, nameProblems(namespacePath, namespace, dnsLabelProblems));
  return found;
}

function validateResourceRule(path: string, rule: ResourcePolicyRule): FieldError[] {
  const found = validateVerbs(childPath(path, 'verbs'), rule.verbs);
  const none = 'resource rules must supply at least one';
  found.push(
    ...validateOrAll(childPath(path, 'apiGroups'), rule.apiGroups, { what: 'api groups', none: `${none} api group` }),
  );
  found.push(
    ...validateOrAll(childPath(path, 'resources'), rule.resources, { what: 'resources', none: `${none} resource` }),
  );
  const at = childPath(path, 'namespaces');
  const { namespaces } = rule;
  if (isEmpty(namespaces)) {
    const detail = 'resource rules that are not cluster scoped must supply at least one namespace';
    return rule.clusterScope === true ? found : [...found, required(at, detail)];
  }
  append(found, validateOrAll(at, namespaces, { what: 'namespaces', none: '' }));
  if (has(namespaces, ALL)) return found;
  for (const [index, namespace] of (namespaces ?? []).entries()) {
    const intro = "each member of this list must be '*' or a DNS-1123 label; ";
    const problems = dnsLabelProblems(namespace);
    append(
      found,
      problems.map((problem) => invalid(keyPath(at, index), namespace, intro + problem)),
    );
  }
  return found;
}

function validateNonResourceRule(path: string, rule: NonResourcePolicyRule): FieldError[] {
  const found = validateVerbs(childPath(path, 'verbs'), rule.verbs);
  const urls: List<string> = rule.nonResourceURLs;
  const at = childPath(path, 'nonResourceURLs');
  const none = 'nonResourceURLs must contain at least one value';
  append(found, validateOrAll(at, urls, { what: 'non-resource URLs', none }));
  if (has(urls, ALL)) return found;
  for (const [index, url] of (urls ?? []).entries()) {
    const problem = urlProblem(url);
    if (problem !== undefined) found.push(invalid(keyPath(at, index), url, problem));
  }
  return found;
}

function validateVerbs(path: string, verbs: List<string>): FieldError[] {
  const found = validateOrAll(path, verbs, { what: 'verbs', none: 'verbs must contain at least one value' });
  if (found.length > 0 || has(verbs, ALL)) return found;
  return (verbs ?? []).every((verb) => VERBS.includes(verb)) ? [] : [notSupported(path, verbs, VERBS)];
}

/** Requires a non-empty list in which `*` is the only entry, if present. */
function validateOrAll(
  path: string,
  list: List<string>,
  words: { readonly what: string; readonly none: string },
): FieldError[] {
  if (isEmpty(list)) return [required(path, words.none)];
  if (!has(list, ALL) || list?.length === 1) return [];
  return [invalid(path, list, `if '*' is present, must not specify other ${words.what}`)];
}

/** The first problem of a URL. */
function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (url === '/') return undefined;
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const star = url.indexOf(ALL);
  const isSuffix = star === url.length - 1 && url.endsWith('/*');
  return star < 0 || isSuffix ? undefined : 'wildcard can only do suffix matching';
}

function isEmpty(list: List<unknown>): boolean {
  return list === null || list.length === 0;
}

function has(list: List<string>, item: string): boolean {
  return list?.includes(item) ?? false;
}

function nameProblems(path: string, name: string, rule: (name: string) => readonly string[]): FieldError[] {
  return name === '' ? [] : rule(name).map((problem) => invalid(path, name, problem));
}

/** Requires the mandatory spec for a mandatory name. */
export function fixedSpecProblems(path: string, spec: FlowSchemaSpec, name: string): FieldError[] {
  const fixed = mandatoryFlow(name);
  if (fixed === undefined || deepEqual(spec, fixed)) return [];
  return [invalid(path, specDump(spec), `spec of '${name}' must equal the fixed value`)];
}

function specDump(spec: FlowSchemaSpec): Verbatim {
  const level = `flowcontrol.PriorityLevelConfigurationReference{Name:${quote(spec.priorityLevelConfiguration.name)}}`;
  const method = pointerDump('FlowDistinguisherMethod', spec.distinguisherMethod);
  const rules = listDump('PolicyRulesWithSubjects', asSent(spec, 'rules'), (rule) =>
    [
      `Subjects:${listDump('Subject', rule.subjects, subjectDump)}`,
      `ResourceRules:${listDump('ResourcePolicyRule', asSent(rule, 'resourceRules'), resourceRuleDump)}`,
      `NonResourceRules:${listDump('NonResourcePolicyRule', asSent(rule, 'nonResourceRules'), nonResourceRuleDump)}`,
    ].join(', '),
  );
  const precedence = `MatchingPrecedence:${spec.matchingPrecedence}`;
  return verbatim(
    `flowcontrol.FlowSchemaSpec{PriorityLevelConfiguration:${level}, ${precedence}, DistinguisherMethod:${method}, Rules:${rules}}`,
  );
}

function listDump<Item>(name: string, items: readonly Item[] | null | undefined, dump: (item: Item) => string): string {
  if (items === null || items === undefined) return `[]flowcontrol.${name}(nil)`;
  return `[]flowcontrol.${name}{${items.map((item) => `flowcontrol.${name}{${dump(item)}}`).join(', ')}}`;
}

function subjectDump({ kind, user, group, serviceAccount }: Subject): string {
  return [
    `Kind:${quote(kind)}`,
    `User:${pointerDump('UserSubject', user)}`,
    `Group:${pointerDump('GroupSubject', group)}`,
    `ServiceAccount:${pointerDump('ServiceAccountSubject', serviceAccount)}`,
  ].join(', ');
}

function resourceRuleDump(rule: ResourcePolicyRule): string {
  const { verbs, apiGroups, resources, clusterScope } = rule;
  return [
    `Verbs:${stringsDump(verbs)}`,
    `APIGroups:${stringsDump(apiGroups)}`,
    `Resources:${stringsDump(resources)}`,
    `ClusterScope:${clusterScope ?? false}`,
    `Namespaces:${stringsDump(asSent(rule, 'namespaces'))}`,
  ].join(', ');
}

function nonResourceRuleDump({ verbs, nonResourceURLs }: NonResourcePolicyRule): string {
  return `Verbs:${stringsDump(verbs)}, NonResourceURLs:${stringsDump(nonResourceURLs)}`;
}

function stringsDump(items: readonly string[] | null | undefined): string {
  return stringSlice(items ?? undefined).verbatim;
}
