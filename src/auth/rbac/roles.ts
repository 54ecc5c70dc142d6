/**
 * The roles of a cluster, with cached rule tables.
 */

import type { RoleRef } from '../../kinds/generated/rbac-v1.js';
import {
  CLUSTER_ROLES,
  hasUnreadableRules,
  isAggregated,
  ownRules,
  ROLES,
  roleOf,
  rulesOf,
  sourcesOf,
} from '../../kinds/rbac/role-rules.js';
import type { ApiObject } from '../../meta/object.js';
import { type AccessRule, charactersIn } from '../../protocol/access.js';
import { sameItems } from '../../util/arrays.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { AuthorizerContext } from '../authorizer.js';
import { RuleTable } from './rule-table.js';

/** A resolved role. Unchanged rules keep their Role object. */
export class Role {
  readonly rules: readonly AccessRule[];
  #table: RuleTable<Role> | undefined;
  #size: number | undefined;
  #characters: number | undefined;

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

  /** The work of adding the rules to a table, in words. */
  get size(): number {
    this.#size ??= this.rules.reduce((sum, rule) => sum + sizeOf(rule), 0);
    return this.#size;
  }

  /** The length of the rules as JSON, approximately. */
  get characters(): number {
    this.#characters ??= this.rules.reduce((sum, rule) => sum + charactersIn(rule), 0);
    return this.#characters;
  }
}

function sizeOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: AccessRule): number {
  // Names are added to each resource.
  const named = (resources?.length ?? 0) * Math.max(1, resourceNames?.length ?? 0);
  return 1 + verbs.length + (apiGroups?.length ?? 0) + named + (nonResourceURLs?.length ?? 0);
}

/** Reports an object with parts that cannot be read. */
export type Report = (object: ApiObject, parts: string) => void;

export class Roles {
  readonly #context: AuthorizerContext;
  readonly #report: Report;
  readonly #plainRoles = new WeakMap<ApiObject, Role>();
  readonly #aggregated = new WeakMap<ApiObject, { readonly sources: readonly ApiObject[]; readonly role: Role }>();
  #clusterRoles: readonly ApiObject[] | undefined;

  constructor(context: AuthorizerContext, report: Report) {
    this.#context = context;
    this.#report = report;
  }

  /** Versions of the role resources as of the last {@link refresh}. */
  clusterVersion = -1;
  namespaceVersion = -1;

  /** Reads the versions of the role resources. Called once per decision. */
  refresh(): void {
    const ofCluster = this.#context.lastChange(CLUSTER_ROLES);
    if (ofCluster !== this.clusterVersion) this.#clusterRoles = undefined;
    this.clusterVersion = ofCluster;
    this.namespaceVersion = this.#context.lastChange(ROLES);
  }

  /** The role that a binding in `namespace` (empty: cluster-wide) refers to; undefined if it does not exist. */
  find(reference: RoleRef, namespace: string): Role | undefined {
    const object = roleOf(this.#context.objects, reference, namespace);
    if (object === undefined) return undefined;
    if (isAggregated(object)) return this.#aggregatedRole(object);
    return getOrInsertComputed(this.#plainRoles, object, () => {
      if (hasUnreadableRules(object)) this.#report(object, 'rules');
      return new Role(ownRules(object));
    });
  }

  /** Rebuilt only when one of its source roles changes, not with every role of the cluster. */
  #aggregatedRole(object: ApiObject): Role {
    this.#clusterRoles ??= this.#context.objects.list(CLUSTER_ROLES);
    const all = this.#clusterRoles;
    const sources = sourcesOf(object, all);
    const before = this.#aggregated.get(object);
    if (before !== undefined && sameItems(before.sources, sources)) return before.role;
    const role = new Role(rulesOf(object, () => all));
    this.#aggregated.set(object, { sources, role });
    return role;
  }
}
