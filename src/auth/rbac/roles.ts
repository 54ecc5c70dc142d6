/**
 * The roles of a cluster, each laid out once for as long as it stays what it is.
 */

import {
  CLUSTER_ROLES,
  isAggregated,
  ROLES,
  roleOf,
  rulesOf,
  sourcesOf,
  statedRules,
} from '../../kinds/rbac/role-rules.js';
import type { RoleRef } from '../../kinds/rbac/v1/binding.js';
import type { ApiObject } from '../../meta/object.js';
import type { AccessRule } from '../../protocol/access.js';
import { sameItems } from '../../util/same-items.js';
import type { AuthorizerSetting } from '../authorizer.js';
import { RuleTable } from './rule-table.js';

/** A role that exists. The same rules, the same value. */
export class Role {
  readonly rules: readonly AccessRule[];
  #table: RuleTable<Role> | undefined;

  constructor(rules: readonly AccessRule[]) {
    this.rules = rules;
  }

  get table(): RuleTable<Role> {
    if (this.#table === undefined) {
      this.#table = new RuleTable(() => false);
      this.#table.add(this.rules, this);
    }
    return this.#table;
  }
}

export class Roles {
  readonly #setting: AuthorizerSetting;
  readonly #made = new WeakMap<ApiObject, Role>();
  readonly #aggregated = new WeakMap<ApiObject, { readonly sources: readonly ApiObject[]; readonly role: Role }>();
  #clusterRoles: readonly ApiObject[] | undefined;

  constructor(setting: AuthorizerSetting) {
    this.#setting = setting;
  }

  /** Another number: roles of that kind may have changed. As of the last {@link look}. */
  ofCluster = -1;
  ofNamespaces = -1;

  /** Takes note of writes. Called once for a question, because it is asked often. */
  look(): void {
    const ofCluster = this.#setting.changes(CLUSTER_ROLES);
    if (ofCluster !== this.ofCluster) this.#clusterRoles = undefined;
    this.ofCluster = ofCluster;
    this.ofNamespaces = this.#setting.changes(ROLES);
  }

  /** What a binding in `namespace` (empty: everywhere) refers to; undefined when there is no such role. */
  find(reference: RoleRef, namespace: string): Role | undefined {
    const object = roleOf(this.#setting.objects, reference, namespace);
    if (object === undefined) return undefined;
    return isAggregated(object) ? this.#gathered(object) : this.#stated(object);
  }

  #stated(object: ApiObject): Role {
    const role = this.#made.get(object) ?? new Role(statedRules(object));
    this.#made.set(object, role);
    return role;
  }

  /** Made anew only when one of the roles that it gathers has changed, not with every role of the cluster. */
  #gathered(object: ApiObject): Role {
    this.#clusterRoles ??= this.#setting.objects.list(CLUSTER_ROLES);
    const all = this.#clusterRoles;
    const sources = sourcesOf(object, all);
    const before = this.#aggregated.get(object);
    if (before !== undefined && sameItems(before.sources, sources)) return before.role;
    const role = new Role(rulesOf(object, () => all));
    this.#aggregated.set(object, { sources, role });
    return role;
  }
}
