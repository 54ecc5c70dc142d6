/**
 * Matches requests with FlowSchemas, the first by precedence. Schemas are compiled once per state of the objects, so that
 * matching is cheap.
 */

import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../kinds/generated/flowcontrol-v1.js';
import type { AccessAttributes, PathAttributes, ResourceAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';

/** A compiled FlowSchema. */
export interface CompiledFlow {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined;
  /** A predicate for the user's requests; undefined if none of them can match. */
  testFor(user: User): Test<AccessAttributes> | undefined;
}

export type Test<Value> = (value: Value) => boolean;

export interface FlowSource {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: FlowSchemaSpec;
}

export function compileFlow({ metadata, spec }: FlowSource): CompiledFlow {
  const rules = (spec.rules ?? []).map(compileRule);
  return {
    name: metadata.name,
    uid: metadata.uid,
    level: spec.priorityLevelConfiguration.name,
    distinguisher: spec.distinguisherMethod?.type,
    testFor(user) {
      const tests = rules
        .filter(({ matchesUser }) => matchesUser(user))
        .map(({ matchesAttributes }) => matchesAttributes);
      return tests.length > 1 ? (attributes) => tests.some((test) => test(attributes)) : tests[0];
    },
  };
}

/** The flow distinguisher of a request. */
export function distinguisherOf({ distinguisher }: CompiledFlow, user: User, attributes: AccessAttributes): string {
  if (distinguisher === 'ByUser') return user.user;
  if (distinguisher === 'ByNamespace' && attributes.type === 'resource') return attributes.namespace;
  return '';
}

const ALL = '*';

interface CompiledRule {
  readonly matchesUser: Test<User>;
  readonly matchesAttributes: Test<AccessAttributes>;
}

function compileRule(rule: PolicyRulesWithSubjects): CompiledRule {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule;
  const resources = resourceRules.map(compileResourceRule);
  const paths = nonResourceRules.map(compilePathRule);
  return {
    matchesUser: compileSubjects(subjects),
    matchesAttributes(attributes) {
      if (attributes.type === 'resource') return resources.some((test) => test(attributes));
      return paths.some((test) => test(attributes));
    },
  };
}

function compileSubjects(subjects: readonly Subject[]): Test<User> {
  const names = new Set<string>();
  const groups = new Set<string>();
  /** Name prefixes for the service accounts of a whole namespace. */
  const prefixes: string[] = [];
  let matchesAll = false;
  for (const { kind, user, group, serviceAccount } of subjects) {
    if (kind === 'User' && user !== undefined) {
      if (user.name === ALL) matchesAll = true;
      names.add(user.name);
    } else if (kind === 'Group' && group !== undefined) {
      if (group.name === ALL) matchesAll = true;
      groups.add(group.name);
    } else if (kind === 'ServiceAccount' && serviceAccount !== undefined) {
      const prefix = `system:serviceaccount:${serviceAccount.namespace}:`;
      if (serviceAccount.name === ALL) prefixes.push(prefix);
      else names.add(prefix + serviceAccount.name);
    }
  }
  if (matchesAll) return () => true;
  return (user) =>
    names.has(user.user) ||
    (groups.size > 0 && user.groups?.some((group) => groups.has(group)) === true) ||
    prefixes.some((start) => user.user.startsWith(start));
}

function compileResourceRule(rule: ResourcePolicyRule): Test<ResourceAttributes> {
  const verbs = matchesAny(rule.verbs);
  const resources = matchesAny(rule.resources);
  const groups = matchesAny(rule.apiGroups);
  const namespaces = matchesAny(rule.namespaces);
  const clusterScope = rule.clusterScope === true;
  return ({ verb, group, resource, subresource, namespace }) =>
    verbs(verb) &&
    resources(subresource === '' ? resource : `${resource}/${subresource}`) &&
    groups(group) &&
    // Requests across all namespaces count as cluster-scoped.
    (namespace === '' ? clusterScope : namespaces(namespace));
}

function compilePathRule({ verbs, nonResourceURLs }: NonResourcePolicyRule): Test<PathAttributes> {
  const isVerb = matchesAny(verbs);
  const paths = matchesAny(nonResourceURLs);
  // A path also matches everything below it, with or without a wildcard.
  const prefixes = (nonResourceURLs ?? []).map((url) => url.replace(/\/?\*?$/, '/'));
  return ({ verb, path }) => isVerb(verb) && (paths(path) || prefixes.some((start) => path.startsWith(start)));
}

function matchesAny(texts: readonly string[] | null): Test<string> {
  if (texts?.length === 1 && texts[0] === ALL) return () => true;
  const values = new Set(texts);
  return (text) => values.has(text);
}
