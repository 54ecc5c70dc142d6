/**
 * The rules of a role, as far as they can be found: those that it states, or, where it gathers the rules of others,
 * theirs. A controller writes gathered rules down; here they count from the moment on at which the labels fit, so that
 * a cluster without controllers decides as one with them does.
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { LabelSelector } from '../../meta/labels.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import type { AccessRule } from '../../protocol/access.js';
import type { RoleRef } from '../generated/rbac-v1.js';
import type { ObjectReader } from '../objects.js';
import type { ClusterRole } from './v1/cluster-role.js';

export const RBAC_GROUP = serviceGroup('rbac.authorization');

/** How a role is addressed. Canonical, as {@link ObjectReader} wants it. */
export const ROLES = Object.freeze({ group: RBAC_GROUP, resource: 'roles' });
export const CLUSTER_ROLES = Object.freeze({ group: RBAC_GROUP, resource: 'clusterroles' });
export const ROLE_BINDINGS = Object.freeze({ group: RBAC_GROUP, resource: 'rolebindings' });
export const CLUSTER_ROLE_BINDINGS = Object.freeze({ group: RBAC_GROUP, resource: 'clusterrolebindings' });

/** The role that a binding in `namespace` (empty: a binding everywhere) refers to; undefined when there is none. */
export function roleOf(
  objects: ObjectReader,
  { kind, name }: Pick<RoleRef, 'kind' | 'name'>,
  namespace: string,
): ApiObject | undefined {
  if (kind === 'Role') return objects.get({ ...ROLES, namespace, name });
  return objects.get({ ...CLUSTER_ROLES, namespace: '', name });
}

/** Whether its rules are those of other roles. */
export function isAggregated(role: ApiObject): boolean {
  return ((role as ApiObject & ClusterRole).aggregationRule?.clusterRoleSelectors ?? []).length > 0;
}

/** The rules that it states itself. */
export function statedRules(role: ApiObject): readonly AccessRule[] {
  return (role as ApiObject & ClusterRole).rules ?? [];
}

/** All rules of a role. `clusterRoles` is asked for only when it gathers those of others. */
export function rulesOf(role: ApiObject, clusterRoles: () => readonly ApiObject[]): readonly AccessRule[] {
  if (!isAggregated(role)) return statedRules(role);
  const rules = new Map<string, AccessRule>();
  for (const source of sourcesOf(role, clusterRoles())) {
    for (const rule of statedRules(source)) {
      const text = JSON.stringify(rule);
      // What another one has said already is not said again.
      if (!rules.has(text)) rules.set(text, rule);
    }
  }
  return [...rules.values()];
}

/**
 * The roles whose own rules an aggregated role has, in order: each selector's, by name. One that is aggregated itself
 * stands for its own sources; what it states is the controller's affair.
 */
export function sourcesOf(role: ApiObject, clusterRoles: readonly ApiObject[]): readonly ApiObject[] {
  const sources = new Set<ApiObject>();
  // Roles may gather each other.
  const gathered = new Set([role.metadata.name]);
  const gather = (one: ApiObject): void => {
    for (const selector of selectorsOf(one)) {
      for (const found of clusterRoles) {
        if (gathered.has(found.metadata.name) || !matchesLabels(selector, found.metadata.labels)) continue;
        if (!isAggregated(found)) {
          sources.add(found);
          continue;
        }
        gathered.add(found.metadata.name);
        gather(found);
      }
    }
  };
  gather(role);
  return [...sources];
}

function selectorsOf(role: ApiObject): LabelSelector[] {
  const selectors = (role as ApiObject & ClusterRole).aggregationRule?.clusterRoleSelectors ?? [];
  return selectors.map(labelSelectorFromObject);
}
