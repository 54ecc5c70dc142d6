/**
 * Who has been given what in one place: a namespace, or the whole cluster. A write changes only what it is about; who
 * was not named in the bindings that were written keeps what was made for him.
 */

import type { RoleRef, Subject } from '../../kinds/rbac/v1/binding.js';
import type { ApiObject } from '../../meta/object.js';
import type { AccessAttributes, AccessDecision } from '../../protocol/access.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import type { Role, Roles } from './roles.js';
import { RuleTable } from './rule-table.js';

/** One binding, with the role that it refers to as of the last look. */
export class Binding {
  readonly name: string;
  readonly reference: RoleRef;
  readonly subjects: readonly Subject[];
  readonly #namespace: string;
  #role: Role | undefined;
  #lookedAt = -2;

  constructor(object: ApiObject, namespace: string) {
    this.name = object.metadata.name;
    this.reference = object['roleRef'] as RoleRef;
    this.subjects = (object['subjects'] ?? []) as readonly Subject[];
    this.#namespace = namespace;
  }

  /** Undefined when there is no such role. */
  role(roles: Roles): Role | undefined {
    const present = this.reference.kind === 'Role' ? roles.ofNamespaces : roles.ofCluster;
    if (present !== this.#lookedAt) {
      this.#role = roles.find(this.reference, this.#namespace);
      this.#lookedAt = present;
    }
    return this.#role;
  }
}

/** What a binding gives to one of its subjects. */
export class Grant {
  readonly binding: Binding;
  /** Of the subject in the binding. */
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

/** By name of the binding, then by place in it: the order in which grants count. */
export function isBefore(left: Grant, right: Grant): boolean {
  if (left.binding === right.binding) return left.index < right.index;
  return left.binding.name < right.binding.name;
}

/** With this many bindings or less it is faster to ask each role than to lay all of them out together. */
const FEW = 3;

const NONE: readonly Binding[] = Object.freeze([]);

/** Everything that is given to one user or one group in one place. */
class Grants {
  #list: Grant[] = [];
  #isSorted = true;
  #table: RuleTable<Grant> | undefined;
  #dangling: readonly Binding[] = NONE;
  /** Which roles the table was made of, one for each grant, and when that was last found to be so. */
  #roles: readonly (Role | undefined)[] = [];
  #ofCluster = -2;
  #ofNamespaces = -2;

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  add(grant: Grant): void {
    // Whoever is named twice is named once.
    if (this.#list.at(-1)?.binding === grant.binding) return;
    this.#list.push(grant);
    this.#isSorted = false;
    this.#table = undefined;
  }

  remove(binding: Binding): void {
    this.#list = this.#list.filter((grant) => grant.binding !== binding);
    this.#table = undefined;
  }

  /** In order. */
  all(): readonly Grant[] {
    if (!this.#isSorted) {
      this.#list.sort((left, right) => (isBefore(left, right) ? -1 : 1));
      this.#isSorted = true;
    }
    return this.#list;
  }

  find(attributes: AccessAttributes, roles: Roles): Grant | undefined {
    const grants = this.all();
    if (grants.length > FEW) return this.#laidOut(roles).find(attributes);
    for (const grant of grants) {
      if (grant.binding.role(roles)?.table.find(attributes) !== undefined) return grant;
    }
    return undefined;
  }

  /** Bindings to roles that do not exist. */
  dangling(roles: Roles): readonly Binding[] {
    if (this.#list.length > FEW) {
      this.#laidOut(roles);
      return this.#dangling;
    }
    const found = this.#list.filter(({ binding }) => binding.role(roles) === undefined);
    return found.length === 0 ? NONE : found.map(({ binding }) => binding);
  }

  #laidOut(roles: Roles): RuleTable<Grant> {
    const isCurrent = this.#ofCluster === roles.ofCluster && this.#ofNamespaces === roles.ofNamespaces;
    if (this.#table !== undefined && isCurrent) return this.#table;
    const grants = this.all();
    const present = grants.map((grant) => grant.binding.role(roles));
    this.#ofCluster = roles.ofCluster;
    this.#ofNamespaces = roles.ofNamespaces;
    if (this.#table !== undefined && present.every((role, index) => role === this.#roles[index])) return this.#table;
    const table = new RuleTable<Grant>(isBefore);
    for (const [index, grant] of grants.entries()) table.add(present[index]?.rules ?? [], grant);
    this.#roles = present;
    this.#table = table;
    this.#dangling = grants.filter((_, index) => present[index] === undefined).map(({ binding }) => binding);
    return table;
  }
}

/** The bindings of one place. */
export class Bindings {
  /** Empty: the whole cluster. */
  readonly #namespace: string;
  #objects: readonly ApiObject[] = [];
  readonly #bindings = new Map<ApiObject, Binding>();
  readonly #users = new Map<string, Grants>();
  readonly #groups = new Map<string, Grants>();
  /** Which state of the resource it was last brought in line with. */
  lookedAt = -1;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  /** Brings it in line with all bindings that there are now. */
  update(objects: readonly ApiObject[]): void {
    const before = this.#objects;
    this.#objects = objects;
    // Most of them are where they were.
    let start = 0;
    while (start < before.length && before[start] === objects[start]) start++;
    let end = 0;
    const most = Math.min(before.length, objects.length) - start;
    while (end < most && before[before.length - 1 - end] === objects[objects.length - 1 - end]) end++;
    const gone = new Set(before.slice(start, before.length - end));
    const come: ApiObject[] = [];
    for (const object of objects.slice(start, objects.length - end)) {
      if (!gone.delete(object)) come.push(object);
    }
    for (const object of gone) this.#remove(object);
    for (const object of come) this.#add(object);
  }

  /** The first grant by which a user may do it; if there is none, his bindings to roles that do not exist, in order. */
  ask(user: User, attributes: AccessAttributes, roles: Roles): Grant | readonly Binding[] {
    const own = this.#users.get(user.user);
    let found = own?.find(attributes, roles);
    let dangling = found === undefined ? (own?.dangling(roles) ?? NONE) : NONE;
    for (const group of user.groups ?? []) {
      const grants = this.#groups.get(group);
      if (grants === undefined) continue;
      const grant = grants.find(attributes, roles);
      if (grant !== undefined) {
        if (found === undefined || isBefore(grant, found)) found = grant;
      } else if (found === undefined) {
        const more = grants.dangling(roles);
        if (more.length > 0) dangling = [...dangling, ...more];
      }
    }
    return found ?? (dangling.length < 2 ? dangling : inOrder(dangling));
  }

  /** All bindings that name a user or one of his groups, in order. */
  of(user: User): readonly Binding[] {
    return inOrder(this.#grantsOf(user).flatMap((grants) => grants.all().map(({ binding }) => binding)));
  }

  #grantsOf({ user, groups = [] }: User): Grants[] {
    const found = [this.#users.get(user), ...groups.map((group) => this.#groups.get(group))];
    return found.filter((grants) => grants !== undefined);
  }

  #add(object: ApiObject): void {
    const binding = new Binding(object, this.#namespace);
    this.#bindings.set(object, binding);
    binding.subjects.forEach((subject, index) => {
      const place = this.#placeOf(subject);
      if (place === undefined) return;
      const grants = place.in.get(place.name) ?? new Grants();
      place.in.set(place.name, grants);
      grants.add(new Grant(binding, index, this.#namespace));
    });
  }

  #remove(object: ApiObject): void {
    const binding = this.#bindings.get(object);
    if (binding === undefined) return;
    this.#bindings.delete(object);
    for (const subject of binding.subjects) {
      const place = this.#placeOf(subject);
      const grants = place?.in.get(place.name);
      grants?.remove(binding);
      if (grants?.isEmpty === true) place?.in.delete(place.name);
    }
  }

  #placeOf({ kind, name, namespace }: Subject): { in: Map<string, Grants>; name: string } | undefined {
    if (kind === 'User') return { in: this.#users, name };
    if (kind === 'Group') return { in: this.#groups, name };
    // A service account without a namespace is one of the binding's own.
    const home = namespace || this.#namespace;
    if (kind !== 'ServiceAccount' || home === '') return undefined;
    return { in: this.#users, name: `system:serviceaccount:${home}:${name}` };
  }
}

function inOrder(bindings: readonly Binding[]): readonly Binding[] {
  return [...new Set(bindings)].sort((left, right) => (left.name < right.name ? -1 : 1));
}
