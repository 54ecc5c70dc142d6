/**
 * Which FlowSchema a request belongs to: the first that matches, in the order of their precedence. Schemas are put into a
 * form in which that is cheap to find out, once for each state of the objects.
 */

import type {
  FlowSchemaSpec,
  FlowSubject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
} from '../kinds/flowcontrol/v1/flow-schema/schema.js';
import type { AccessAttributes, PathAttributes, ResourceAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';

/** A FlowSchema, ready to be asked. */
export interface CompiledFlow {
  readonly name: string;
  readonly uid: string;
  readonly level: string;
  readonly distinguisher: 'ByUser' | 'ByNamespace' | undefined;
  /** Which requests of the user belong to it; undefined: none, whatever they ask for. */
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
      const tests = rules.filter(({ isMeant }) => isMeant(user)).map(({ covers }) => covers);
      return tests.length > 1 ? (attributes) => tests.some((test) => test(attributes)) : tests[0];
    },
  };
}

/** What tells a flow of the schema from another. */
export function distinguisherOf({ distinguisher }: CompiledFlow, user: User, attributes: AccessAttributes): string {
  if (distinguisher === 'ByUser') return user.user;
  if (distinguisher === 'ByNamespace' && attributes.type === 'resource') return attributes.namespace;
  return '';
}

const ALL = '*';

interface CompiledRule {
  readonly isMeant: Test<User>;
  readonly covers: Test<AccessAttributes>;
}

function compileRule(rule: PolicyRulesWithSubjects): CompiledRule {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule;
  const resources = resourceRules.map(compileResourceRule);
  const paths = nonResourceRules.map(compilePathRule);
  return {
    isMeant: compileSubjects(subjects),
    covers(attributes) {
      if (attributes.type === 'resource') return resources.some((test) => test(attributes));
      return paths.some((test) => test(attributes));
    },
  };
}

function compileSubjects(subjects: readonly FlowSubject[]): Test<User> {
  const names = new Set<string>();
  const groups = new Set<string>();
  /** How names of service accounts of a whole namespace begin. */
  const beginnings: string[] = [];
  let everybody = false;
  for (const { kind, user, group, serviceAccount } of subjects) {
    if (kind === 'User' && user !== undefined) {
      if (user.name === ALL) everybody = true;
      names.add(user.name);
    } else if (kind === 'Group' && group !== undefined) {
      if (group.name === ALL) everybody = true;
      groups.add(group.name);
    } else if (kind === 'ServiceAccount' && serviceAccount !== undefined) {
      const prefix = `system:serviceaccount:${serviceAccount.namespace}:`;
      if (serviceAccount.name === ALL) beginnings.push(prefix);
      else names.add(prefix + serviceAccount.name);
    }
  }
  if (everybody) return () => true;
  return (user) =>
    names.has(user.user) ||
    (groups.size > 0 && user.groups?.some((group) => groups.has(group)) === true) ||
    beginnings.some((beginning) => user.user.startsWith(beginning));
}

function compileResourceRule(rule: ResourcePolicyRule): Test<ResourceAttributes> {
  const verbs = oneOf(rule.verbs);
  const resources = oneOf(rule.resources);
  const groups = oneOf(rule.apiGroups);
  const namespaces = oneOf(rule.namespaces);
  const clusterScope = rule.clusterScope === true;
  return ({ verb, group, resource, subresource, namespace }) =>
    verbs(verb) &&
    resources(subresource === '' ? resource : `${resource}/${subresource}`) &&
    groups(group) &&
    // What is asked for in all namespaces at once is not in any.
    (namespace === '' ? clusterScope : namespaces(namespace));
}

function compilePathRule({ verbs, nonResourceURLs }: NonResourcePolicyRule): Test<PathAttributes> {
  const isVerb = oneOf(verbs);
  const paths = oneOf(nonResourceURLs);
  // A path stands for everything below it as well, with or without a star.
  const beginnings = (nonResourceURLs ?? []).map((url) => url.replace(/\/?\*?$/, '/'));
  return ({ verb, path }) =>
    isVerb(verb) && (paths(path) || beginnings.some((beginning) => path.startsWith(beginning)));
}

function oneOf(words: readonly string[] | null): Test<string> {
  if (words?.length === 1 && words[0] === ALL) return () => true;
  const known = new Set(words);
  return (word) => known.has(word);
}
