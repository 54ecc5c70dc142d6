/**
 * Roles and bindings in maps: the context of an authorizer, with methods to change it.
 */
import type { AuthorizerContext } from '../../../../src/auth/authorizer.js';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import type { ObjectAddress } from '../../../../src/kinds/objects.js';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES } from '../../../../src/kinds/rbac/role-rules.js';
import { type Dialect, kubernetesDialect } from '../../../../src/meta/dialect.js';
import type { GroupResource } from '../../../../src/meta/gvk.js';
import type { ApiObject } from '../../../../src/meta/object.js';
import type { BindingObject, PolicySet, RoleObject } from './random-policies.js';

export interface FakeCluster extends AuthorizerContext {
  put(resource: GroupResource, object: RoleObject | BindingObject): void;
  remove(resource: GroupResource, name: string, namespace?: string): void;
  /** How often a resource was listed. */
  readonly lists: Map<string, number>;
}

export function fakeCluster(policies: Partial<PolicySet> = {}, dialect: Dialect = kubernetesDialect): FakeCluster {
  const tables = new Map<string, Map<string, ApiObject>>();
  const marks = new Map<string, number>();
  const lists = new Map<string, number>();
  const tableOf = ({ resource }: GroupResource) => {
    const table = tables.get(resource) ?? new Map<string, ApiObject>();
    tables.set(resource, table);
    return table;
  };
  const key = (namespace: string, name: string) => `${namespace}/${name}`;
  const mark = ({ resource }: GroupResource) => marks.set(resource, (marks.get(resource) ?? 0) + 1);
  const cluster: FakeCluster = {
    dialect,
    features: featureGates(),
    lists,
    index: () => ({ has: () => false, keys: () => [] }),
    objects: {
      get: (address: ObjectAddress) => tableOf(address).get(key(address.namespace, address.name)),
      list(resource, namespace) {
        lists.set(resource.resource, (lists.get(resource.resource) ?? 0) + 1);
        const found = [...tableOf(resource)].filter(
          ([name]) => namespace === undefined || name.startsWith(`${namespace}/`),
        );
        return found.sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object);
      },
    },
    lastChange: ({ resource }) => marks.get(resource) ?? 0,
    put(resource, object) {
      const { name, namespace = '' } = object.metadata;
      // As in a cluster, a new state is a new object.
      tableOf(resource).set(key(namespace, name), structuredClone(object) as unknown as ApiObject);
      mark(resource);
    },
    remove(resource, name, namespace = '') {
      tableOf(resource).delete(key(namespace, name));
      mark(resource);
    },
  };
  for (const role of policies.clusterRoles ?? []) cluster.put(CLUSTER_ROLES, role);
  for (const role of policies.roles ?? []) cluster.put(ROLES, role);
  for (const binding of policies.clusterRoleBindings ?? []) cluster.put(CLUSTER_ROLE_BINDINGS, binding);
  for (const binding of policies.roleBindings ?? []) cluster.put(ROLE_BINDINGS, binding);
  return cluster;
}
