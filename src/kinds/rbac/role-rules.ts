/**
 * The effective rules of a role: its own rules, or for an aggregated role the rules of the selected roles. In the
 * reference server a controller copies aggregated rules; here they are effective as soon as the labels match, so that a
 * cluster without controllers decides in the same way.
 */
import { serviceGroup } from '../../meta/dialect.js';
import { type LabelSelector, labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import type { AccessRule } from '../../protocol/access.js';
import { isRecord } from '../../util/json.js';
import type { AggregationRule, RoleRef } from '../generated/rbac-v1.js';
import type { ObjectReader } from '../objects.js';
import type { ClusterRole } from './v1/cluster-role.js';

/** The canonical name of the group. */
export const RBAC_GROUP = serviceGroup('rbac.authorization');

/** The resources of the group, with canonical names as {@link ObjectReader} expects. */
export const ROLES = Object.freeze({ group: RBAC_GROUP, resource: 'roles' });
export const CLUSTER_ROLES = Object.freeze({ group: RBAC_GROUP, resource: 'clusterroles' });
export const ROLE_BINDINGS = Object.freeze({ group: RBAC_GROUP, resource: 'rolebindings' });
export const CLUSTER_ROLE_BINDINGS = Object.freeze({ group: RBAC_GROUP, resource: 'clusterrolebindings' });

/** The role of a binding in `namespace` (empty for a ClusterRoleBinding); undefined if it does not exist. */
export function roleOf(
  objects: ObjectReader,
  { kind, name }: Pick<RoleRef, 'kind' | 'name'>,
  namespace: string,
): ApiObject | undefined {
  if (kind === 'Role') return objects.get({ ...ROLES, namespace, name });
  return objects.get({ ...CLUSTER_ROLES, namespace: '', name });
}

/** True for a role with an aggregation rule. */
export function isAggregated(role: ApiObject): boolean {
  return selectorsIn(role).length > 0;
}

/** What is no selector selects nothing: stored objects need not be valid. */
function selectorsIn(role: ApiObject): NonNullable<AggregationRule['clusterRoleSelectors']> {
  const selectors: unknown = (role as ApiObject & ClusterRole).aggregationRule?.clusterRoleSelectors;
  return Array.isArray(selectors) ? selectors.filter(isRecord) : [];
}

/** The rules in the role itself, without those that cannot be read. */
export function ownRules(role: ApiObject): readonly AccessRule[] {
  const rules: unknown = role['rules'] ?? [];
  if (Array.isArray(rules) && rules.every(isRule)) return rules;
  return Array.isArray(rules) ? rules.filter(isRule) : [];
}

/** Whether {@link ownRules} leaves rules of a role out. */
export function hasUnreadableRules(role: ApiObject): boolean {
  const { rules } = role as ApiObject & ClusterRole;
  return rules !== undefined && rules !== null && ownRules(role) !== rules;
}

function isRule(rule: unknown): rule is AccessRule {
  if (!isRecord(rule) || !Array.isArray(rule['verbs'])) return false;
  const lists = [rule['verbs'], rule['apiGroups'], rule['resources'], rule['resourceNames'], rule['nonResourceURLs']];
  return lists.every(
    (list) =>
      list === undefined || list === null || (Array.isArray(list) && list.every((word) => typeof word === 'string')),
  );
}

/** The effective rules of a role. `clusterRoles` is called only for an aggregated role. */
export function rulesOf(role: ApiObject, clusterRoles: () => readonly ApiObject[]): readonly AccessRule[] {
  if (!isAggregated(role)) return ownRules(role);
  const rules = new Map<string, AccessRule>();
  for (const source of sourcesOf(role, clusterRoles())) {
    for (const rule of ownRules(source)) {
      const text = JSON.stringify(rule);
      // Equal rules are listed once.
      if (!rules.has(text)) rules.set(text, rule);
    }
  }
  return [...rules.values()];
}

/**
 * The roles whose rules an aggregated role has, in order of the selectors and then by name. A selected role that is
 * itself aggregated is replaced by its sources; the rules in it are written by a controller.
 */
export function sourcesOf(role: ApiObject, clusterRoles: readonly ApiObject[]): readonly ApiObject[] {
  const sources = new Set<ApiObject>();
  // Aggregated roles may select each other.
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
  return selectorsIn(role).map(labelSelectorFromObject);
}
