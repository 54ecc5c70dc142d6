/// <reference lib="esnext.disposable" preserve="true" />
/**
 * Records the access checks of a cluster: run a test, then get the smallest roles that allow what it did, or what given
 * roles would have denied.
 */

import { missingRules } from '../kinds/rbac/coverage.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes, AccessDecision, AccessRule } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { byKey } from '../util/order.js';

/** Satisfied by a cluster. */
export interface AccessSource {
  readonly dialect: Dialect;
  onAccess(listener: (user: User, attributes: AccessAttributes, decision: AccessDecision) => void): () => void;
}

export interface RecordAccessOptions {
  /** Records only this user. Absent: all users, including the administrator. */
  readonly user?: string;
  /** Whether roles contain resource names. Default: no, because names in tests are arbitrary. */
  readonly resourceNames?: boolean;
}

/** One distinct access check. */
export interface RecordedAccess {
  readonly user: string;
  readonly attributes: AccessAttributes;
  readonly allowed: boolean;
  readonly count: number;
}

/** A Role or ClusterRole manifest. */
export interface RoleManifest {
  readonly apiVersion: string;
  readonly kind: 'Role' | 'ClusterRole';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly AccessRule[];
}

/** The part of a role that is needed; stored objects and manifests satisfy it. */
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
  /** The checks so far, in order of first occurrence. */
  readonly requests: readonly RecordedAccess[];
  /**
   * The smallest sufficient roles: a Role for each namespace, and a ClusterRole for cluster-scoped and cross-namespace
   * access. They contain nothing that was not requested.
   */
  roles(name: string): readonly RoleManifest[];
  /** One sufficient ClusterRole, to be bound cluster-wide. */
  clusterRole(name: string): RoleManifest;
  /** {@link roles} as YAML. */
  yaml(name: string): string;
  /**
   * What the given roles together would have denied; empty if they suffice. A Role applies to its namespace or, without
   * one, to every namespace; a ClusterRole applies everywhere.
   */
  refusedBy(...roles: readonly RoleLike[]): readonly string[];
  /** Discards the checks so far. */
  clear(): void;
  /** Stops recording; the recorded checks remain. `using` calls it automatically. */
  stop(): void;
}

/**
 * Starts recording the access checks of a cluster, in process and over HTTP.
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
    const entry = recorded.get(key);
    if (entry === undefined)
      recorded.set(key, { user: user.user, attributes: withoutSelectors(attributes), allowed, count: 1 });
    else {
      entry.count++;
      entry.allowed = allowed;
    }
  });
  const all = (): AccessAttributes[] => [...recorded.values()].map(({ attributes }) => attributes);
  const role = (name: string, wanted: readonly AccessAttributes[], namespace?: string): RoleManifest => ({
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    rules: mergeRules(wanted.map((attributes) => ruleFor(attributes, options.resourceNames === true))),
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
    refusedBy: (...given: readonly RoleLike[]) => all().flatMap((attributes) => missingAccess(attributes, given)),
    clear: () => recorded.clear(),
    stop,
    [Symbol.dispose]: stop,
  });
}

/** Roles do not grant selectors. */
function withoutSelectors(attributes: AccessAttributes): AccessAttributes {
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
    // The name of a new object is not known to the authorizer.
    ...(withNames && name !== '' && verb !== 'create' ? { resourceNames: [name] } : {}),
  };
}

function missingAccess(attributes: AccessAttributes, roles: readonly RoleLike[]): string[] {
  const namespace = attributes.type === 'resource' ? attributes.namespace : '';
  const held = roles.filter((role) => appliesIn(role, namespace)).flatMap(({ rules }) => (rules ?? []).map(ruleOf));
  return missingRules(held, [ruleFor(attributes, true)]).length === 0 ? [] : [describe(attributes)];
}

function appliesIn(role: RoleLike, namespace: string): boolean {
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

/** In the style of kubectl: `update deployments.apps/web in default`. */
function describe(attributes: AccessAttributes): string {
  if (attributes.type === 'path') return `${attributes.verb} ${attributes.path}`;
  const { verb, group, resource, subresource, namespace, name } = attributes;
  const what = `${resource}${subresource === '' ? '' : `/${subresource}`}${group === '' ? '' : `.${group}`}`;
  const which = name === '' ? '' : ` "${name}"`;
  return `${verb} ${what}${which}${namespace === '' ? '' : ` in namespace "${namespace}"`}`;
}

/** Written by hand, because it contains only strings and lists of strings. */
function printRole({ apiVersion, kind, metadata, rules }: RoleManifest): string {
  const lines = [`apiVersion: ${apiVersion}`, `kind: ${kind}`, 'metadata:', `  name: ${yamlScalar(metadata.name)}`];
  if (metadata.namespace !== undefined) lines.push(`  namespace: ${yamlScalar(metadata.namespace)}`);
  lines.push(rules.length === 0 ? 'rules: []' : 'rules:');
  for (const rule of rules) {
    const fields = Object.entries(rule).map(
      ([field, words]) => `${field}: [${(words as string[]).map(yamlScalar).join(', ')}]`,
    );
    lines.push(...fields.map((text, index) => `${index === 0 ? '  - ' : '    '}${text}`));
  }
  return `${lines.join('\n')}\n`;
}

/** Quotes a string unless it is unambiguous in YAML. */
function yamlScalar(text: string): string {
  return /^[a-z][a-z0-9./-]*$/.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null)$/.test(text)
    ? text
    : JSON.stringify(text);
}

/** Merges rules that have one verb, group, resource and at most one name each, or one verb and URL. */
function mergeRules(single: readonly AccessRule[]): AccessRule[] {
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

/** Field by field: rules that agree in all other fields become one. */
function merge(rules: readonly AccessRule[], fields: readonly Field[]): AccessRule[] {
  let merged = [...rules];
  for (const field of fields) {
    const groups = new Map<string, AccessRule>();
    for (const rule of merged) {
      const others = fields.filter((other) => other !== field).map((other) => [...(rule[other] ?? [])].sort());
      // A rule without names applies to all names, so it is never merged with one that has names.
      const key = JSON.stringify([others, field === 'resourceNames' ? rule.resourceNames === undefined : 0]);
      const entry = groups.get(key);
      groups.set(key, entry === undefined ? rule : { ...entry, ...union(field, entry, rule) });
    }
    merged = [...groups.values()];
  }
  return merged.filter((rule) => !merged.some((other) => other !== rule && isCoveredBy(rule, other)));
}

function union(field: Field, left: AccessRule, right: AccessRule): Partial<Record<Field, readonly string[]>> {
  const words = [...new Set([...(left[field] ?? []), ...(right[field] ?? [])])];
  return words.length === 0 ? {} : { [field]: words };
}

/** Whether a rule without names already grants the rule. */
function isCoveredBy(rule: AccessRule, other: AccessRule): boolean {
  if (rule.resourceNames === undefined || other.resourceNames !== undefined) return false;
  const within = (field: Field) => (rule[field] ?? []).every((yamlScalar) => (other[field] ?? []).includes(yamlScalar));
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

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

function rank(verb: string): number {
  const index = VERBS.indexOf(verb);
  return index === -1 ? VERBS.length : index;
}

function sortKey(rule: AccessRule): string {
  return JSON.stringify([rule.apiGroups ?? ['~'], rule.resources ?? [], rule.nonResourceURLs ?? []]);
}
