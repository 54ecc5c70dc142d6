/**
 * Access checks and what they amount to: the smallest roles that allow them, or what given roles would have denied. The
 * checks come from a running cluster (`recordAccess`) or from a log of requests (`access-log.ts`).
 */

import { missingRules } from '../kinds/rbac/coverage.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes, AccessRule } from '../protocol/access.js';
import { escapeForYaml, escapeInvisible } from '../util/json.js';
import { getOrInsertComputed } from '../util/once.js';
import { byKey } from '../util/order.js';

/** Selects recorded checks. All conditions must hold. */
export interface AccessFilter {
  /** Only these users. Absent: all users, including the administrator. */
  readonly user?: string | readonly string[];
  /**
   * Only requests of these sources: `local`, `http`, the name of a controller, or `controllers` for the informers
   * that all controllers share. Absent: all.
   */
  readonly source?: string | readonly string[];
  /** The earliest time, in milliseconds since the epoch, by the clock of the cluster. */
  readonly from?: number;
  /** The latest time. */
  readonly to?: number;
}

/** One distinct access check. */
export interface RecordedAccess {
  readonly user: string;
  readonly source: string;
  readonly attributes: AccessAttributes;
  /** Whether the authorizer allowed it the last time. */
  readonly allowed: boolean;
  readonly count: number;
  /** How many times the authorizer refused it. */
  readonly refused: number;
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

/** What the recorded checks amount to. */
export interface AccessReport {
  /** The checks so far, in order of first occurrence, whether or not they were allowed. */
  readonly requests: readonly RecordedAccess[];
  /**
   * The smallest sufficient roles: a Role for each namespace, and a ClusterRole for cluster-scoped and cross-namespace
   * access. They contain nothing that was not requested.
   */
  roles(name: string): readonly RoleManifest[];
  /** One sufficient ClusterRole, to be bound cluster-wide. */
  clusterRole(name: string): RoleManifest;
  /**
   * {@link roles} as YAML. Comments before each role name what the authorizer refused.
   */
  yaml(name: string, options?: RoleYamlOptions): string;
  /**
   * What the given roles together would have denied; empty if they suffice. A Role applies to its namespace or, without
   * one, to every namespace; a ClusterRole applies everywhere.
   */
  refusedBy(...roles: readonly RoleLike[]): readonly string[];
}

export interface RoleYamlOptions {
  /** One ClusterRole in the place of a role for each namespace. Default: no. */
  readonly clusterRole?: boolean;
}

/** One access check. */
export interface AccessCheck {
  readonly user: string;
  readonly source: string;
  readonly attributes: AccessAttributes;
  /** In milliseconds since the epoch. */
  readonly time: number;
  readonly allowed: boolean;
}

/** The checks of the same user, source and attributes. */
interface Checks extends Pick<RecordedAccess, 'user' | 'source' | 'attributes'> {
  readonly all: { readonly time: number; readonly allowed: boolean }[];
}

export interface ReportSettings {
  readonly dialect: Dialect;
  /** Whether roles contain resource names. */
  readonly withNames: boolean;
}

/** A collection of access checks. */
export class AccessChecks {
  readonly #checks = new Map<string, Checks>();

  add({ user, source, attributes, time, allowed }: AccessCheck): void {
    const key = `${user}\n${source}\n${keyOf(attributes)}`;
    const checks = this.#checks.get(key) ?? { user, source, attributes: withoutSelectors(attributes), all: [] };
    this.#checks.set(key, checks);
    checks.all.push({ time, allowed });
  }

  clear(): void {
    this.#checks.clear();
  }

  /** The report about the selected checks, those to come included. */
  report(filter: AccessFilter, { dialect, withNames }: ReportSettings): AccessReport {
    const requests = () => [...this.#checks.values()].flatMap((checks) => summaryOf(checks, filter));
    return reportOf(requests, `${dialect.group(serviceGroup('rbac.authorization'))}/v1`, withNames);
  }
}

export function isOneOf(text: string, wanted: string | readonly string[] | undefined): boolean {
  return wanted === undefined || (typeof wanted === 'string' ? wanted === text : wanted.includes(text));
}

/** Empty if the filter excludes all of the checks. */
function summaryOf({ user, source, attributes, all }: Checks, filter: AccessFilter): RecordedAccess[] {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = filter;
  if (!isOneOf(user, filter.user) || !isOneOf(source, filter.source)) return [];
  const selected = all.filter(({ time }) => time >= from && time <= to);
  const last = selected.at(-1);
  if (last === undefined) return [];
  const refused = selected.filter(({ allowed }) => !allowed).length;
  return [Object.freeze({ user, source, attributes, allowed: last.allowed, count: selected.length, refused })];
}

function reportOf(requests: () => readonly RecordedAccess[], apiVersion: string, withNames: boolean): AccessReport {
  const role = (name: string, wanted: readonly RecordedAccess[], namespace?: string): RoleManifest => ({
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    rules: mergeRules(wanted.map(({ attributes }) => ruleFor(attributes, withNames))),
  });
  const byNamespace = (): [namespace: string, wanted: RecordedAccess[]][] => {
    const found = new Map<string, RecordedAccess[]>();
    for (const request of requests()) {
      const namespace = request.attributes.type === 'resource' ? request.attributes.namespace : '';
      getOrInsertComputed(found, namespace, () => []).push(request);
    }
    return [...found].sort(byKey);
  };
  const roleIn = (name: string, [namespace, wanted]: [string, RecordedAccess[]]): RoleManifest =>
    role(name, wanted, namespace === '' ? undefined : namespace);
  return Object.freeze({
    get requests() {
      return requests();
    },
    roles: (name: string) => byNamespace().map((part) => roleIn(name, part)),
    clusterRole: (name: string) => role(name, requests()),
    yaml: (name: string, { clusterRole = false }: RoleYamlOptions = {}) =>
      (clusterRole ? [['', [...requests()]] satisfies [string, RecordedAccess[]]] : byNamespace())
        .map((part) => `${printRefused(part[1], withNames)}${printRole(roleIn(name, part))}`)
        .join('---\n'),
    refusedBy: (...given: readonly RoleLike[]) => [
      ...new Set(requests().flatMap(({ attributes }) => missingAccess(attributes, given))),
    ],
  });
}

/**
 * Comments that name the refused checks. Their number is that of all checks of the same description. Paths and names come
 * from clients; a line break would end the comment.
 */
function printRefused(requests: readonly RecordedAccess[], withNames: boolean): string {
  const counts = new Map<string, { refused: number; count: number }>();
  for (const { attributes, refused, count } of requests) {
    const text = describe(attributes.type === 'path' || withNames ? attributes : { ...attributes, name: '' });
    const sum = counts.get(text) ?? { refused: 0, count: 0 };
    counts.set(text, { refused: sum.refused + refused, count: sum.count + count });
  }
  const lines = [...counts].flatMap(([text, { refused, count }]) =>
    refused === 0 ? [] : [`# refused, ${refused} of ${count}: ${escapeInvisible(text)}\n`],
  );
  return lines.join('');
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

/** Whether given roles together allow an access. */
export function isAllowedBy(attributes: AccessAttributes, roles: readonly RoleLike[]): boolean {
  return missingAccess(attributes, roles).length === 0;
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
    : escapeForYaml(JSON.stringify(text));
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
function merge(rules: readonly AccessRule[], fields: readonly Field[]): readonly AccessRule[] {
  let merged: readonly AccessRule[] = withoutGranted(rules);
  for (const field of fields) {
    const groups = new Map<string, { readonly first: AccessRule; readonly words: Set<string> }>();
    for (const rule of merged) {
      const others = fields.filter((other) => other !== field).map((other) => [...(rule[other] ?? [])].sort());
      // A rule without names applies to all names, so it is never merged with one that has names.
      const key = JSON.stringify([others, field === 'resourceNames' ? rule.resourceNames === undefined : 0]);
      const { words } = getOrInsertComputed(groups, key, () => ({ first: rule, words: new Set<string>() }));
      for (const word of rule[field] ?? []) words.add(word);
    }
    merged = [...groups.values()].map(({ first, words }) =>
      words.size === 0 ? first : { ...first, [field]: [...words] },
    );
  }
  return merged;
}

/** Leaves out rules for one name if another rule grants the same for all names. */
function withoutGranted(rules: readonly AccessRule[]): readonly AccessRule[] {
  const isNamed = ({ resourceNames }: AccessRule): boolean => resourceNames !== undefined;
  const grant = ({ verbs, apiGroups, resources }: AccessRule): string => JSON.stringify([verbs, apiGroups, resources]);
  const granted = new Set(rules.filter((rule) => !isNamed(rule)).map(grant));
  return rules.filter((rule) => !isNamed(rule) || !granted.has(grant(rule)));
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
