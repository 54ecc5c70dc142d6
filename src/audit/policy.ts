/**
 * Which requests are written down, and how much of them: the audit policy. The first rule that a request matches
 * decides; what no rule matches is not written down at all.
 */

import { dialects, serviceGroup } from '../meta/dialect.js';
import { type FieldError, invalid, notSupported, printFieldError, required } from '../meta/field-error.js';
import { dnsSubdomainProblems } from '../meta/names.js';
import type { AccessAttributes, PathAttributes, ResourceAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { stringSlice, verbatim } from '../text/go/go-text.js';
import { isRecord, printJson } from '../util/json.js';
import type { AuditLevel, AuditStage } from './event.js';
import { AUDIT_LEVELS, AUDIT_STAGES } from './event.js';

const TEXT_LISTS = ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs'] as const;

/** An object of kind Policy of the group `audit` in v1; `apiVersion` and `kind` may be left out. */
export interface AuditPolicy {
  readonly apiVersion?: string;
  readonly kind?: 'Policy';
  readonly metadata?: object;
  readonly rules: readonly AuditPolicyRule[];
  /** No rule writes events of these stages. */
  readonly omitStages?: readonly AuditStage[];
  /** For rules that do not say otherwise. */
  readonly omitManagedFields?: boolean;
}

/** Lists that are empty or absent match everything. */
export interface AuditPolicyRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly AuditGroupResources[];
  /** The empty text is what is in no namespace. */
  readonly namespaces?: readonly string[];
  /** Paths of the server's own pages; a `*` at the end stands for anything. Not beside resources or namespaces. */
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly AuditStage[];
  readonly omitManagedFields?: boolean;
}

export interface AuditGroupResources {
  /** As clients see it, in the dialect of the cluster. Empty or absent: the core group. */
  readonly group?: string;
  /** `pods`, `pods/log`, `pods/*`, `*\/scale`, `*`. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What the policy wants of one request. */
export interface AuditConfig {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** Answers for a policy; `user` is absent where nobody knows who asks. */
export type PolicyEvaluator = (attributes: AccessAttributes, user: User | undefined) => AuditConfig;

/** Throws TypeError with everything that is wrong with the policy. */
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

/** Undefined when there is nothing to choose by. */
function setOf(texts: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return texts === undefined || texts.length === 0 ? undefined : new Set(texts);
}

function compileResources({ group = '', resources, resourceNames }: AuditGroupResources) {
  const patterns = setOf(resources);
  const names = setOf(resourceNames);
  return (asked: ResourceAttributes): boolean => {
    if (asked.group !== group) return false;
    if (patterns === undefined) return true;
    if (names !== undefined && !names.has(asked.name)) return false;
    const { resource, subresource } = asked;
    if (patterns.has('*') || patterns.has(`${resource}/*`)) return true;
    if (subresource === '') return patterns.has(resource);
    return patterns.has(`${resource}/${subresource}`) || patterns.has(`*/${subresource}`);
  };
}

function pathMatches(patterns: readonly string[], { path }: PathAttributes): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path));
}

function policyProblems(policy: unknown): string[] {
  if (!isRecord(policy)) return ['a policy is an object with rules'];
  return [
    ...unknownFields('', policy, ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields']),
    ...typeProblems(policy),
    ...stageProblems('omitStages', policy['omitStages']),
    ...flagProblems('omitManagedFields', policy['omitManagedFields']),
    ...rulesProblems(policy['rules']),
  ].map(printFieldError);
}

/** Both spellings of the group are understood, because a policy is read before a cluster is there to ask. */
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
    return [required('rules', 'without rules nothing is written down')];
  }
  if (!Array.isArray(rules)) return [misshapen('rules', rules, 'must be a list')];
  return rules.flatMap((rule: unknown, index) => ruleProblems(`rules[${index}]`, rule));
}

function ruleProblems(path: string, rule: unknown): FieldError[] {
  if (!isRecord(rule)) return [misshapen(path, rule, 'must be an object')];
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

/** What is no list, or no object, where there has to be one; shown as the JSON that it is. */
function misshapen(path: string, value: unknown, why: string): FieldError {
  return invalid(path, verbatim(printJson(value)), why);
}

/** A list of texts as messages show it; anything else as it is. */
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
  if (!Array.isArray(resources)) return [misshapen(path, resources, 'must be a list')];
  return resources.flatMap((entry: unknown, index) => {
    const at = `${path}[${index}]`;
    if (!isRecord(entry)) return [misshapen(at, entry, 'must be an object')];
    const { group = '', resources: named, resourceNames } = entry;
    const found = [
      ...unknownFields(at, entry, ['group', 'resources', 'resourceNames']),
      ...textListProblems(`${at}.resources`, named),
      ...textListProblems(`${at}.resourceNames`, resourceNames),
    ];
    const wrong = typeof group === 'string' ? (group === '' ? [] : dnsSubdomainProblems(group)) : ['must be a text'];
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
  if (!Array.isArray(stages)) return [misshapen(path, stages, 'must be a list')];
  return stages.flatMap((stage: unknown, index) =>
    AUDIT_STAGES.some((known) => known === stage)
      ? []
      : [invalid(`${path}[${index}]`, stage, `allowed stages are ${AUDIT_STAGES.join(',')}`)],
  );
}

function textListProblems(path: string, list: unknown): FieldError[] {
  if (list === undefined) return [];
  const isTexts = Array.isArray(list) && list.every((item) => typeof item === 'string');
  return isTexts ? [] : [misshapen(path, list, 'must be a list of texts')];
}

function flagProblems(path: string, flag: unknown): FieldError[] {
  return flag === undefined || typeof flag === 'boolean' ? [] : [misshapen(path, flag, 'must be true or false')];
}

/** A misspelt field would be ignored, and what it was to leave out written down. */
function unknownFields(path: string, record: Record<string, unknown>, known: readonly string[]): FieldError[] {
  return Object.keys(record)
    .filter((field) => !known.includes(field))
    .map((field) =>
      invalid(path === '' ? field : `${path}.${field}`, field, `unknown field; there are ${known.join(', ')}`),
    );
}
