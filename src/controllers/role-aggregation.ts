/**
 * Writes the rules of aggregated ClusterRoles when a role that they select changes. Rules written by hand are overwritten;
 * a role that loses its aggregation rule keeps its rules. The authorizer aggregates by itself and does not need this
 * controller; it only makes the result visible.
 */
import type { ObjectOf } from '../kinds/kind.js';
import { ownRules } from '../kinds/rbac/role-rules.js';
import { ClusterRole } from '../kinds/rbac/v1/cluster-role.js';
import { type LabelSelector, labelSelectorFromObject, matchesLabels } from '../meta/labels.js';
import type { ApiObject } from '../meta/object.js';
import { deepEqual } from '../util/json.js';
import type { Controller } from './runtime/controller.js';

const FIELD_MANAGER = 'clusterrole-aggregation-controller';

/**
 * Fills in the rules of aggregated ClusterRoles.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([clusterRoleAggregation()]) });
 */
export function clusterRoleAggregation(): Controller {
  return {
    name: 'clusterrole-aggregation-controller',
    account: 'clusterrole-aggregation-controller',
    needs: [ClusterRole],
    start(context) {
      const roles = context.informer(ClusterRole);
      const client = context.client.with({ fieldManager: FIELD_MANAGER });
      /** The selectors of every aggregated role by name. */
      const gathering = new Map<string, readonly LabelSelector[]>();

      const queue = context.queue(async (name) => {
        const role = roles.at(name);
        const selectors = gathering.get(name);
        if (role === undefined || selectors === undefined) return;
        const rules = gather(name, selectors, roles.list());
        if (deepEqual(rules, ownRules(role as ApiObject))) return;
        // Applying no rules gives up the fields of the previous apply and leaves those of other managers.
        await client
          .api(ClusterRole)
          .apply({ metadata: { name }, ...(rules.length === 0 ? {} : { rules }) }, { force: true });
      });

      roles.onKey((name, event) => {
        const selectors = event.type === 'DELETED' ? undefined : selectorsOf(event.object);
        if (selectors === undefined) gathering.delete(name);
        else {
          gathering.set(name, selectors);
          queue.add(name);
        }
        const labels = [event.object.metadata.labels];
        if (event.type === 'MODIFIED') labels.push(event.previous.metadata.labels);
        for (const [other, wanted] of gathering) {
          if (wanted.some((selector) => labels.some((given) => matchesLabels(selector, given)))) queue.add(other);
        }
      });
    },
  };
}

function selectorsOf({ aggregationRule }: ObjectOf<typeof ClusterRole>): readonly LabelSelector[] | undefined {
  return aggregationRule === undefined
    ? undefined
    : (aggregationRule.clusterRoleSelectors ?? []).map(labelSelectorFromObject);
}

type Rule = NonNullable<ObjectOf<typeof ClusterRole>['rules']>[number];

/** The rules of all selected roles, in the order of selectors, then names, without duplicates. */
function gather(
  name: string,
  selectors: readonly LabelSelector[],
  roles: readonly ObjectOf<typeof ClusterRole>[],
): readonly Rule[] {
  const rules = new Map<string, Rule>();
  for (const selector of selectors) {
    const found = roles.filter(({ metadata }) => metadata.name !== name && matchesLabels(selector, metadata.labels));
    found.sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
    for (const rule of found.flatMap((role) => role.rules ?? [])) {
      const text = JSON.stringify(rule);
      if (!rules.has(text)) rules.set(text, rule);
    }
  }
  return [...rules.values()];
}
