/**
 * The bindings of one scope, a namespace or the whole cluster, indexed by subject. An update re-indexes only the subjects of
 * the bindings that changed.
 */

import type { RoleRef, Subject } from '../../kinds/generated/rbac-v1.js';
import type { ApiObject } from '../../meta/object.js';
import type { AccessAttributes, AccessDecision } from '../../protocol/access.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { isRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { Report, Role, Roles } from './roles.js';
import { RuleTable } from './rule-table.js';

/** No role has an empty name. */
const NO_ROLE: RoleRef = { apiGroup: '', kind: 'ClusterRole', name: '' };

function isRoleRef(value: unknown): value is RoleRef {
  return isRecord(value) && typeof value['kind'] === 'string' && typeof value['name'] === 'string';
}

function isSubject(value: unknown): value is Subject {
  if (!isRecord(value) || typeof value['kind'] !== 'string' || typeof value['name'] !== 'string') return false;
  return typeof (value['namespace'] ?? '') === 'string';
}

/** A binding with its resolved role. */
export class Binding {
  readonly name: string;
  readonly reference: RoleRef;
  readonly subjects: readonly Subject[];
  readonly #namespace: string;
  #role: Role | undefined;
  #version = -2;

  /** Whether parts of the object are ignored. */
  readonly isDamaged: boolean;

  constructor(object: ApiObject, namespace: string) {
    const { roleRef, subjects } = object as { readonly roleRef?: unknown; readonly subjects?: unknown };
    const isNamed = isRoleRef(roleRef);
    const given: readonly unknown[] = Array.isArray(subjects) ? subjects : [];
    this.name = object.metadata.name;
    this.reference = isNamed ? roleRef : NO_ROLE;
    this.subjects = isNamed ? given.filter(isSubject) : [];
    this.isDamaged = !isNamed || this.subjects.length !== given.length || (subjects ?? given) !== given;
    this.#namespace = namespace;
  }

  /** Undefined if the role does not exist. */
  role(roles: Roles): Role | undefined {
    const present = this.reference.kind === 'Role' ? roles.namespaceVersion : roles.clusterVersion;
    if (present !== this.#version) {
      this.#role = roles.find(this.reference, this.#namespace);
      this.#version = present;
    }
    return this.#role;
  }
}

/** A binding for one of its subjects. */
export class Grant {
  readonly binding: Binding;
  /** The position of the subject in the binding. */
  readonly index: number;
  readonly #namespace: string;
  #decision: AccessDecision | undefined;

  constructor(binding: Binding, index: number, namespace: string) {
    this.binding = binding;
    this.index = index;
    this.#namespace = namespace;
  }

  get decision(): AccessDecision {
    this.#decision ??= Object.freeze({ allowed: true, reason: `RBAC: allowed by ${this.#source()}` });
    return this.#decision;
  }

  #source(): string {
    const { name, reference, subjects } = this.binding;
    const here = this.#namespace;
    const binding = here === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${here}`)}`;
    const subject = subjects[this.index];
    const who = subject?.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || here}` : subject?.name;
    return `${binding} of ${reference.kind} ${quote(reference.name)} to ${subject?.kind} ${quote(who ?? '')}`;
  }
}

/** The order in which grants take effect: by binding name, then by position in the binding. */
export function isBefore(left: Grant, right: Grant): boolean {
  if (left.binding === right.binding) return left.index < right.index;
  return left.binding.name < right.binding.name;
}

/** Up to this many bindings, querying each role is faster than building a combined table. */
const MAX_UNINDEXED = 3;

/**
 * A combined table is rebuilt when a binding of the subject is written, so its size is limited, and that of each role in
 * it. Other roles are queried one by one: their own tables change only with them.
 */
const MAX_COMBINED = 50_000;
const MAX_COMBINED_ROLE = 1_000;

const NONE: readonly Binding[] = Object.freeze([]);

/** All grants of one user or group in one scope. */
class Grants {
  #list: Grant[] = [];
  #isSorted = true;
  #table: RuleTable<Grant> | undefined;
  /** The first grants of the roles that are not in the table, sorted. */
  #separate: readonly Grant[] = [];
  #dangling: readonly Binding[] = NONE;
  /** The roles that the table was built from, one for each grant, and the role versions for which that was verified. */
  #roles: readonly (Role | undefined)[] = [];
  #clusterVersion = -2;
  #namespaceVersion = -2;

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  add(grant: Grant): void {
    // A binding may name a subject twice.
    if (this.#list.at(-1)?.binding === grant.binding) return;
    this.#list.push(grant);
    this.#isSorted = false;
    this.#table = undefined;
  }

  remove(binding: Binding): void {
    this.#list = this.#list.filter((grant) => grant.binding !== binding);
    this.#table = undefined;
  }

  /** Sorted. */
  all(): readonly Grant[] {
    if (!this.#isSorted) {
      this.#list.sort((left, right) => (isBefore(left, right) ? -1 : 1));
      this.#isSorted = true;
    }
    return this.#list;
  }

  find(attributes: AccessAttributes, roles: Roles): Grant | undefined {
    const grants = this.all();
    const isCombined = grants.length > MAX_UNINDEXED;
    const found = isCombined ? this.#combinedTable(roles).find(attributes) : undefined;
    for (const grant of isCombined ? this.#separate : grants) {
      if (found !== undefined && isBefore(found, grant)) return found;
      if (grant.binding.role(roles)?.table.find(attributes) !== undefined) return grant;
    }
    return found;
  }

  /** Bindings to roles that do not exist. */
  dangling(roles: Roles): readonly Binding[] {
    if (this.#list.length > MAX_UNINDEXED) {
      this.#combinedTable(roles);
      return this.#dangling;
    }
    const found = this.#list.filter(({ binding }) => binding.role(roles) === undefined);
    return found.length === 0 ? NONE : found.map(({ binding }) => binding);
  }

  #combinedTable(roles: Roles): RuleTable<Grant> {
    const isCurrent =
      this.#clusterVersion === roles.clusterVersion && this.#namespaceVersion === roles.namespaceVersion;
    if (this.#table !== undefined && isCurrent) return this.#table;
    const grants = this.all();
    const present = grants.map((grant) => grant.binding.role(roles));
    this.#clusterVersion = roles.clusterVersion;
    this.#namespaceVersion = roles.namespaceVersion;
    if (this.#table !== undefined && present.every((role, index) => role === this.#roles[index])) return this.#table;
    const table = new RuleTable<Grant>(isBefore);
    const separate: Grant[] = [];
    const added = new Set<Role>();
    let left = MAX_COMBINED;
    for (const [index, grant] of grants.entries()) {
      const role = present[index];
      // The first grant of a role wins.
      if (role === undefined || added.has(role)) continue;
      added.add(role);
      if (role.size > Math.min(left, MAX_COMBINED_ROLE)) {
        separate.push(grant);
        continue;
      }
      left -= role.size;
      table.add(role.rules, grant);
    }
    this.#separate = separate;
    this.#roles = present;
    this.#table = table;
    this.#dangling = grants.filter((_, index) => present[index] === undefined).map(({ binding }) => binding);
    return table;
  }
}

/** The bindings of one scope. */
export class Bindings {
  /** Empty for the whole cluster. */
  readonly #namespace: string;
  readonly #report: Report;
  #objects: readonly ApiObject[] = [];
  readonly #bindings = new Map<ApiObject, Binding>();
  readonly #users = new Map<string, Grants>();
  readonly #groups = new Map<string, Grants>();
  /** The state of the resource that this reflects. */
  version = -1;

  /** `report` is called for each binding that cannot be read in full. */
  constructor(namespace: string, report: Report) {
    this.#namespace = namespace;
    this.#report = report;
  }

  /** Synchronizes with the current list of bindings. */
  update(objects: readonly ApiObject[]): void {
    const before = this.#objects;
    this.#objects = objects;
    // Skip the common prefix and suffix.
    let start = 0;
    while (start < before.length && before[start] === objects[start]) start++;
    let end = 0;
    const maxSuffix = Math.min(before.length, objects.length) - start;
    while (end < maxSuffix && before[before.length - 1 - end] === objects[objects.length - 1 - end]) end++;
    const removed = new Set(before.slice(start, before.length - end));
    const added: ApiObject[] = [];
    for (const object of objects.slice(start, objects.length - end)) {
      if (!removed.delete(object)) added.push(object);
    }
    for (const object of removed) this.#remove(object);
    for (const object of added) this.#add(object);
  }

  /** The first grant that allows the access; otherwise the user's bindings to missing roles, sorted. */
  authorize(user: User, attributes: AccessAttributes, roles: Roles): Grant | readonly Binding[] {
    const own = this.#users.get(user.user);
    let found = own?.find(attributes, roles);
    let dangling = found === undefined ? (own?.dangling(roles) ?? NONE) : NONE;
    const all: Binding[] = [];
    for (const group of distinct(user.groups)) {
      const grants = this.#groups.get(group);
      if (grants === undefined) continue;
      const grant = grants.find(attributes, roles);
      if (grant !== undefined) {
        if (found === undefined || isBefore(grant, found)) found = grant;
      } else if (found === undefined) {
        const more = grants.dangling(roles);
        if (more.length > 0) append(all, more);
      }
    }
    if (all.length > 0) dangling = [...dangling, ...all];
    return found ?? (dangling.length < 2 ? dangling : sortedBindings(dangling));
  }

  /** All bindings that name the user or one of its groups, sorted. */
  bindingsOf(user: User): readonly Binding[] {
    return sortedBindings(this.#grantsOf(user).flatMap((grants) => grants.all().map(({ binding }) => binding)));
  }

  #grantsOf({ user, groups = [] }: User): Grants[] {
    const found = [this.#users.get(user), ...Array.from(distinct(groups), (group) => this.#groups.get(group))];
    return found.filter((grants) => grants !== undefined);
  }

  #add(object: ApiObject): void {
    const binding = new Binding(object, this.#namespace);
    this.#bindings.set(object, binding);
    if (binding.isDamaged) this.#report(object, 'a role or subjects');
    binding.subjects.forEach((subject, index) => {
      const place = this.#slotOf(subject);
      if (place === undefined) return;
      const grants = getOrInsertComputed(place.in, place.name, () => new Grants());
      grants.add(new Grant(binding, index, this.#namespace));
    });
  }

  #remove(object: ApiObject): void {
    const binding = this.#bindings.get(object);
    if (binding === undefined) return;
    this.#bindings.delete(object);
    for (const subject of binding.subjects) {
      const place = this.#slotOf(subject);
      const grants = place?.in.get(place.name);
      grants?.remove(binding);
      if (grants?.isEmpty === true) place?.in.delete(place.name);
    }
  }

  #slotOf({ kind, name, namespace }: Subject): { in: Map<string, Grants>; name: string } | undefined {
    if (kind === 'User') return { in: this.#users, name };
    if (kind === 'Group') return { in: this.#groups, name };
    // A service account without a namespace is in that of the binding.
    const accountNamespace = namespace || this.#namespace;
    if (kind !== 'ServiceAccount' || accountNamespace === '') return undefined;
    return { in: this.#users, name: `system:serviceaccount:${accountNamespace}:${name}` };
  }
}

/** Access reviews may name a group many times. */
function distinct(groups: readonly string[] = []): Iterable<string> {
  return groups.length < 16 ? groups : new Set(groups);
}

function sortedBindings(bindings: readonly Binding[]): readonly Binding[] {
  return [...new Set(bindings)].sort((left, right) => (left.name < right.name ? -1 : 1));
}
