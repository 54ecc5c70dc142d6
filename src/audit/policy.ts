/**
 * The audit policy: decides which requests are recorded and at which level. The first matching rule decides; without a
 * match, the request is not recorded.
 */

import { dialects, serviceGroup } from '../meta/dialect.js';
import { type FieldError, invalid, notSupported, printFieldError, required } from '../meta/field-error.js';
import { dnsSubdomainProblems } from '../meta/names.js';
import type { AccessAttributes, PathAttributes, ResourceAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { stringSlice, verbatim } from '../text/go/go-text.js';
import { isRecord, printJson } from '../util/json.js';
import { AUDIT_LEVELS, AUDIT_STAGES, type AuditLevel, type AuditStage } from './event.js';

/** A Policy object of audit v1; `apiVersion` and `kind` are optional. */
export interface AuditPolicy {
  readonly apiVersion?: string;
  readonly kind?: 'Policy';
  readonly metadata?: object;
  readonly rules: readonly AuditPolicyRule[];
  /** Stages that are omitted for all rules. */
  readonly omitStages?: readonly AuditStage[];
  /** The default of rules. */
  readonly omitManagedFields?: boolean;
}

/** Empty or absent lists match everything. */
export interface AuditPolicyRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly AuditGroupResources[];
  /** The empty string matches cluster-scoped resources. */
  readonly namespaces?: readonly string[];
  /** Non-resource paths; a trailing `*` is a wildcard. Excludes resources and namespaces. */
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
}

export interface AuditGroupResources {
  /** As clients see it (in the cluster's dialect). Empty or absent: the core group. */
  readonly group?: string;
  /** `pods`, `pods/log`, `pods/*`, `*\/scale`, `*`. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** How one request is recorded. */
export interface AuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** Evaluates a policy; `user` is absent if authentication failed. */
export type PolicyEvaluator = (attributes: AccessAttributes, user: User | undefined) => AuditConfig;

/** Throws a TypeError that lists all problems of the policy. */
export function evaluatorOf(policy: AuditPolicy): PolicyEvaluator {
  const problems = policyProblems(policy);
  if (problems.length > 0) throw new TypeError(`orchplane: audit policy: ${problems.join('; ')}`);
  const { omitStages = [], omitManagedFields = false } = policy;
  const rules = policy.rules.map((rule) => compileRule(rule, policy));
  const otherwise: AuditConfig = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
  return (attributes, user) => rules.find(({ matches }) => matches(attributes, user))?.config ?? otherwise;
}

interface CompiledRule {
  readonly matches: (attributes: AccessAttributes, user: User | undefined) => boolean;
  readonly config: AuditConfig;
}

function compileRule(rule: AuditPolicyRule, policy: AuditPolicy): CompiledRule {
  const users = setOf(rule.users);
  const userGroups = setOf(rule.userGroups);
  const verbs = setOf(rule.verbs);
  const namespaces = setOf(rule.namespaces);
  const resources = (rule.resources ?? []).map(compileResources);
  const paths = [...(rule.nonResourceURLs ?? [])];
  const config: AuditConfig = {
    level: rule.level,
    omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]),
    omitManagedFields: rule.omitManagedFields ?? policy.omitManagedFields ?? false,
  };
  return {
    config,
    matches(attributes, user) {
      if (users !== undefined && (user === undefined || !users.has(user.user))) return false;
      if (userGroups !== undefined && user?.groups?.some((group) => userGroups.has(group)) !== true) return false;
      if (verbs !== undefined && !verbs.has(attributes.verb)) return false;
      if (namespaces !== undefined || resources.length > 0) {
        if (attributes.type !== 'resource') return false;
        if (namespaces !== undefined && !namespaces.has(attributes.namespace)) return false;
        return resources.length === 0 || resources.some((matches) => matches(attributes));
      }
      return paths.length === 0 || (attributes.type === 'path' && pathMatches(paths, attributes));
    },
  };
}

/** Undefined if the list does not restrict anything. */
function setOf(texts: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return texts === undefined || texts.length === 0 ? undefined : new Set(texts);
}

function compileResources({ group = '', resources, resourceNames }: AuditGroupResources) {
  const patterns = setOf(resources);
  const names = setOf(resourceNames);
  return (attributes: ResourceAttributes): boolean => {
    if (attributes.group !== group) return false;
    if (patterns === undefined) return true;
    if (names !== undefined && !names.has(attributes.name)) return false;
    const { resource, subresource } = attributes;
    if (patterns.has('*') || patterns.has(`${resource}/*`)) return true;
    if (subresource === '') return patterns.has(resource);
    return patterns.has(`${resource}/${subresource}`) || patterns.has(`*/${subresource}`);
  };
}

function pathMatches(patterns: readonly string[], { path }: PathAttributes): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path));
}

const TEXT_LISTS = ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs'] as const;

function policyProblems(policy: unknown): string[] {
  if (!isRecord(policy)) return ['a policy must be an object with rules'];
  return [
    ...unknownFields('', policy, ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields']),
    ...typeProblems(policy),
    ...stageProblems('omitStages', policy['omitStages']),
    ...flagProblems('omitManagedFields', policy['omitManagedFields']),
    ...rulesProblems(policy['rules']),
  ].map(printFieldError);
}

/** Accepts the group in every dialect, because the policy is read before the cluster exists. */
function typeProblems({ apiVersion, kind }: Record<string, unknown>): FieldError[] {
  const versions = dialects.map((dialect) => `${dialect.group(serviceGroup('audit'))}/v1`);
  const isKnown = apiVersion === undefined || (typeof apiVersion === 'string' && versions.includes(apiVersion));
  return [
    ...(isKnown ? [] : [notSupported('apiVersion', apiVersion, versions)]),
    ...(kind === undefined || kind === 'Policy' ? [] : [notSupported('kind', kind, ['Policy'])]),
  ];
}

function rulesProblems(rules: unknown): FieldError[] {
  if (rules === undefined || (Array.isArray(rules) && rules.length === 0)) {
    return [required('rules', 'a policy without rules records nothing')];
  }
  if (!Array.isArray(rules)) return [wrongType('rules', rules, 'must be a list')];
  return rules.flatMap((rule: unknown, index) => ruleProblems(`rules[${index}]`, rule));
}

function ruleProblems(path: string, rule: unknown): FieldError[] {
  if (!isRecord(rule)) return [wrongType(path, rule, 'must be an object')];
  const known = ['level', ...TEXT_LISTS, 'resources', 'omitStages', 'omitManagedFields'];
  const found = [
    ...unknownFields(path, rule, known),
    ...levelProblems(`${path}.level`, rule['level']),
    ...TEXT_LISTS.flatMap((field) => textListProblems(`${path}.${field}`, rule[field])),
    ...urlProblems(`${path}.nonResourceURLs`, rule['nonResourceURLs']),
    ...resourcesProblems(`${path}.resources`, rule['resources']),
    ...stageProblems(`${path}.omitStages`, rule['omitStages']),
    ...flagProblems(`${path}.omitManagedFields`, rule['omitManagedFields']),
  ];
  if (isFilled(rule['nonResourceURLs']) && (isFilled(rule['resources']) || isFilled(rule['namespaces']))) {
    const why = 'rules cannot apply to both regular resources and non-resource URLs';
    found.push(invalid(`${path}.nonResourceURLs`, textsOf(rule['nonResourceURLs']), why));
  }
  return found;
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

/** A value of the wrong JSON type, printed as JSON. */
function wrongType(path: string, value: unknown, why: string): FieldError {
  return invalid(path, verbatim(printJson(value)), why);
}

/** A list of strings as messages print it; other values unchanged. */
function textsOf(list: unknown): unknown {
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? stringSlice(list) : list;
}

function levelProblems(path: string, level: unknown): FieldError[] {
  if (level === undefined || level === '') return [required(path)];
  return AUDIT_LEVELS.some((known) => known === level) ? [] : [notSupported(path, level, AUDIT_LEVELS)];
}

function urlProblems(path: string, urls: unknown): FieldError[] {
  if (!Array.isArray(urls)) return [];
  return urls.flatMap((url: unknown, index) => {
    if (typeof url !== 'string' || url === '*') return [];
    const at = `${path}[${index}]`;
    const slash = "non-resource URL rules must begin with a '/' character";
    const star = "non-resource URL wildcards '*' must be the final character of the rule";
    return [
      ...(url.startsWith('/') ? [] : [invalid(at, url, slash)]),
      ...(url.slice(0, -1).includes('*') ? [invalid(at, url, star)] : []),
    ];
  });
}

function resourcesProblems(path: string, resources: unknown): FieldError[] {
  if (resources === undefined) return [];
  if (!Array.isArray(resources)) return [wrongType(path, resources, 'must be a list')];
  return resources.flatMap((entry: unknown, index) => {
    const at = `${path}[${index}]`;
    if (!isRecord(entry)) return [wrongType(at, entry, 'must be an object')];
    const { group = '', resources: named, resourceNames } = entry;
    const found = [
      ...unknownFields(at, entry, ['group', 'resources', 'resourceNames']),
      ...textListProblems(`${at}.resources`, named),
      ...textListProblems(`${at}.resourceNames`, resourceNames),
    ];
    const wrong = typeof group === 'string' ? (group === '' ? [] : dnsSubdomainProblems(group)) : ['must be a string'];
    if (wrong.length > 0) found.push(invalid(`${at}.group`, group, wrong.join(',')));
    if (isFilled(resourceNames) && !isFilled(named)) {
      found.push(
        invalid(`${at}.resourceNames`, textsOf(resourceNames), 'using resourceNames requires at least one resource'),
      );
    }
    return found;
  });
}

function stageProblems(path: string, stages: unknown): FieldError[] {
  if (stages === undefined) return [];
  if (!Array.isArray(stages)) return [wrongType(path, stages, 'must be a list')];
  return stages.flatMap((stage: unknown, index) =>
    AUDIT_STAGES.some((known) => known === stage)
      ? []
      : [invalid(`${path}[${index}]`, stage, `allowed stages are ${AUDIT_STAGES.join(',')}`)],
  );
}

function textListProblems(path: string, list: unknown): FieldError[] {
  if (list === undefined) return [];
  const isTexts = Array.isArray(list) && list.every((item) => typeof item === 'string');
  return isTexts ? [] : [wrongType(path, list, 'must be a list of strings')];
}

function flagProblems(path: string, flag: unknown): FieldError[] {
  return flag === undefined || typeof flag === 'boolean' ? [] : [wrongType(path, flag, 'must be true or false')];
}

/** Rejects unknown fields: a misspelt field would be ignored, and more would be recorded than intended. */
function unknownFields(path: string, record: Record<string, unknown>, known: readonly string[]): FieldError[] {
  return Object.keys(record)
    .filter((field) => !known.includes(field))
    .map((field) =>
      invalid(path === '' ? field : `${path}.${field}`, field, `unknown field; there are ${known.join(', ')}`),
    );
}
