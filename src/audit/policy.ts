/**
 * Which requests are written down, and how much of them: the audit policy. The first rule that a request matches
 * decides; what no rule matches is not written down at all.
 */
import type { AccessAttributes, PathAttributes, ResourceAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { AuditLevel, AuditStage } from './event.js';
import { policyProblems } from './policy-problems.js';

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
