/// <reference lib="esnext.disposable" preserve="true" />
/**
 * What somebody needs to be allowed, found out by watching: run a test, then ask for the smallest roles that would have
 * sufficed, or what given roles would have refused.
 */

import { missingRules } from '../kinds/rbac/coverage.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes, AccessDecision, AccessRule } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { byKey } from '../util/order.js';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** A cluster is one. */
export interface AccessSource {
  readonly dialect: Dialect;
  onAccess(listener: (user: User, attributes: AccessAttributes, decision: AccessDecision) => void): () => void;
}

export interface RecordAccessOptions {
  /** Only what this user asks for. Absent: what anybody does, the administrator included. */
  readonly user?: string;
  /** Roles name the objects that were asked for. Absent: they do not, because names in tests are made up. */
  readonly resourceNames?: boolean;
}

/** One thing that somebody asked for, however often. */
export interface RecordedAccess {
  readonly user: string;
  readonly attributes: AccessAttributes;
  readonly allowed: boolean;
  readonly count: number;
}

/** A Role or ClusterRole as a manifest has it. */
export interface RoleManifest {
  readonly apiVersion: string;
  readonly kind: 'Role' | 'ClusterRole';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly AccessRule[];
}

/** As much of a role as matters: objects of the cluster and manifests are some. */
export interface RoleLike {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly rules?: readonly RuleLike[] | null;
}

interface RuleLike {
  readonly verbs?: readonly string[] | null;
  readonly apiGroups?: readonly string[] | null;
  readonly resources?: readonly string[] | null;
  readonly resourceNames?: readonly string[] | null;
  readonly nonResourceURLs?: readonly string[] | null;
}

export interface AccessRecording extends Disposable {
  /** What was asked for up to now, in the order in which it was asked first. */
  readonly requests: readonly RecordedAccess[];
  /**
   * The smallest roles that would have sufficed: a Role for each namespace, and a ClusterRole for what is outside of all
   * or across them. Nothing that was not asked for is in them.
   */
  roles(name: string): readonly RoleManifest[];
  /** One ClusterRole that would have sufficed, bound for the whole cluster. */
  clusterRole(name: string): RoleManifest;
  /** The same as {@link roles}, as YAML to be kept. */
  yaml(name: string): string;
  /**
   * What the given roles, taken together, would have refused; empty: they suffice. A Role counts in its namespace, or,
   * without one, in every namespace; a ClusterRole counts everywhere.
   */
  refusedBy(...roles: readonly RoleLike[]): readonly string[];
  /** Forgets what was asked for up to now. */
  clear(): void;
  /** Stops listening; what was recorded stays. `using` calls it by itself. */
  stop(): void;
}

/**
 * Begins to record what is asked of a cluster, by whatever client, in process or over HTTP.
 *
 * @example
 * using access = recordAccess(cluster, { user: 'system:serviceaccount:default:my-controller' });
 * await cluster.api(ConfigMap).list(); // what your controller does
 * console.log(access.yaml('my-controller'));
 */
export function recordAccess(cluster: AccessSource, options: RecordAccessOptions = {}): AccessRecording {
  const apiVersion = `${cluster.dialect.group(serviceGroup('rbac.authorization'))}/v1`;
  const recorded = new Map<string, { user: string; attributes: AccessAttributes; allowed: boolean; count: number }>();
  const stop = cluster.onAccess((user, attributes, { allowed }) => {
    if (options.user !== undefined && user.user !== options.user) return;
    const key = `${user.user}\n${keyOf(attributes)}`;
    const known = recorded.get(key);
    if (known === undefined) recorded.set(key, { user: user.user, attributes: plain(attributes), allowed, count: 1 });
    else {
      known.count++;
      known.allowed = allowed;
    }
  });
  const all = (): AccessAttributes[] => [...recorded.values()].map(({ attributes }) => attributes);
  const role = (name: string, wanted: readonly AccessAttributes[], namespace?: string): RoleManifest => ({
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    rules: smallestRules(wanted.map((attributes) => ruleFor(attributes, options.resourceNames === true))),
  });
  const roles = (name: string): readonly RoleManifest[] => {
    const byNamespace = new Map<string, AccessAttributes[]>();
    for (const attributes of all()) {
      const namespace = attributes.type === 'resource' ? attributes.namespace : '';
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), attributes]);
    }
    return [...byNamespace]
      .sort(byKey)
      .map(([namespace, wanted]) => role(name, wanted, namespace === '' ? undefined : namespace));
  };
  return Object.freeze({
    get requests() {
      return [...recorded.values()].map((request) => Object.freeze({ ...request }));
    },
    roles,
    clusterRole: (name: string) => role(name, all()),
    yaml: (name: string) => roles(name).map(printRole).join('---\n'),
    refusedBy: (...given: readonly RoleLike[]) => all().flatMap((attributes) => refusal(attributes, given)),
    clear: () => recorded.clear(),
    stop,
    [Symbol.dispose]: stop,
  });
}

/** Selectors are no part of what a role grants. */
function plain(attributes: AccessAttributes): AccessAttributes {
  if (attributes.type === 'path') return attributes;
  const { fieldSelector: _fields, labelSelector: _labels, ...rest } = attributes;
  return rest;
}

function keyOf(attributes: AccessAttributes): string {
  if (attributes.type === 'path') return `${attributes.verb} ${attributes.path}`;
  const { verb, group, resource, subresource, namespace, name } = attributes;
  return [verb, group, resource, subresource, namespace, name].join('\n');
}

function ruleFor(attributes: AccessAttributes, withNames: boolean): AccessRule {
  if (attributes.type === 'path') return { verbs: [attributes.verb], nonResourceURLs: [attributes.path] };
  const { verb, group, resource, subresource, name } = attributes;
  return {
    verbs: [verb],
    apiGroups: [group],
    resources: [subresource === '' ? resource : `${resource}/${subresource}`],
    // What is to be created has no name that a rule could go by.
    ...(withNames && name !== '' && verb !== 'create' ? { resourceNames: [name] } : {}),
  };
}

function refusal(attributes: AccessAttributes, roles: readonly RoleLike[]): string[] {
  const namespace = attributes.type === 'resource' ? attributes.namespace : '';
  const held = roles.filter((role) => countsIn(role, namespace)).flatMap(({ rules }) => (rules ?? []).map(ruleOf));
  return missingRules(held, [ruleFor(attributes, true)]).length === 0 ? [] : [describe(attributes)];
}

function countsIn(role: RoleLike, namespace: string): boolean {
  if (role.kind === 'ClusterRole') return true;
  const own = role.metadata?.namespace;
  return namespace !== '' && (own === undefined || own === namespace);
}

function ruleOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: RuleLike): AccessRule {
  return {
    verbs: verbs ?? [],
    apiGroups: apiGroups ?? [],
    resources: resources ?? [],
    resourceNames: resourceNames ?? [],
    nonResourceURLs: nonResourceURLs ?? [],
  };
}

/** In the words of kubectl: `update deployments.apps/web in default`. */
function describe(attributes: AccessAttributes): string {
  if (attributes.type === 'path') return `${attributes.verb} ${attributes.path}`;
  const { verb, group, resource, subresource, namespace, name } = attributes;
  const what = `${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  const which = name === '' ? '' : ` "${name}"`;
  return `${verb} ${what}${which}${namespace === '' ? '' : ` in namespace "${namespace}"`}`;
}

/** By hand, because nothing but words and lists of words is in it. */
function printRole({ apiVersion, kind, metadata, rules }: RoleManifest): string {
  const lines = [`apiVersion: ${apiVersion}`, `kind: ${kind}`, 'metadata:', `  name: ${word(metadata.name)}`];
  if (metadata.namespace !== undefined) lines.push(`  namespace: ${word(metadata.namespace)}`);
  lines.push(rules.length === 0 ? 'rules: []' : 'rules:');
  for (const rule of rules) {
    const fields = Object.entries(rule).map(
      ([field, words]) => `${field}: [${(words as string[]).map(word).join(', ')}]`,
    );
    lines.push(...fields.map((text, index) => `${index === 0 ? '  - ' : '    '}${text}`));
  }
  return `${lines.join('\n')}\n`;
}

/** Quoted unless nobody could take it for anything but a word. */
function word(text: string): string {
  return /^[a-z][a-z0-9./-]*$/.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null)$/.test(text)
    ? text
    : JSON.stringify(text);
}

/** Each rule is about one verb, one group, one resource and at most one name, or one verb and one URL. */
function smallestRules(single: readonly AccessRule[]): AccessRule[] {
  const resources = merge(
    single.filter(({ nonResourceURLs }) => nonResourceURLs === undefined),
    ['verbs', 'resourceNames', 'resources', 'apiGroups'],
  );
  const urls = merge(
    single.filter(({ nonResourceURLs }) => nonResourceURLs !== undefined),
    ['verbs', 'nonResourceURLs'],
  );
  return [...resources, ...urls].map(ordered).sort((left, right) => (sortKey(left) < sortKey(right) ? -1 : 1));
}

type Field = 'verbs' | 'resourceNames' | 'resources' | 'apiGroups' | 'nonResourceURLs';

/** One field after the other: rules that agree in all the other fields become one. */
function merge(rules: readonly AccessRule[], fields: readonly Field[]): AccessRule[] {
  let merged = [...rules];
  for (const field of fields) {
    const groups = new Map<string, AccessRule>();
    for (const rule of merged) {
      const others = fields.filter((other) => other !== field).map((other) => [...(rule[other] ?? [])].sort());
      // A rule without names is about all of them, and never one with one that has some.
      const key = JSON.stringify([others, field === 'resourceNames' ? rule.resourceNames === undefined : 0]);
      const known = groups.get(key);
      groups.set(key, known === undefined ? rule : { ...known, ...union(field, known, rule) });
    }
    merged = [...groups.values()];
  }
  return merged.filter((rule) => !merged.some((other) => other !== rule && isWithin(rule, other)));
}

function union(field: Field, left: AccessRule, right: AccessRule): Partial<Record<Field, readonly string[]>> {
  const words = [...new Set([...(left[field] ?? []), ...(right[field] ?? [])])];
  return words.length === 0 ? {} : { [field]: words };
}

/** What a rule without names grants already. */
function isWithin(rule: AccessRule, other: AccessRule): boolean {
  if (rule.resourceNames === undefined || other.resourceNames !== undefined) return false;
  const within = (field: Field) => (rule[field] ?? []).every((word) => (other[field] ?? []).includes(word));
  return within('verbs') && within('resources') && within('apiGroups');
}

function ordered({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: AccessRule): AccessRule {
  return {
    ...(apiGroups === undefined ? {} : { apiGroups: [...apiGroups].sort() }),
    ...(resources === undefined ? {} : { resources: [...resources].sort() }),
    ...(resourceNames === undefined ? {} : { resourceNames: [...resourceNames].sort() }),
    ...(nonResourceURLs === undefined ? {} : { nonResourceURLs: [...nonResourceURLs].sort() }),
    verbs: [...verbs].sort((left, right) => rank(left) - rank(right) || (left < right ? -1 : 1)),
  };
}

function rank(verb: string): number {
  const index = VERBS.indexOf(verb);
  return index === -1 ? VERBS.length : index;
}

function sortKey(rule: AccessRule): string {
  return JSON.stringify([rule.apiGroups ?? ['~'], rule.resources ?? [], rule.nonResourceURLs ?? []]);
}
