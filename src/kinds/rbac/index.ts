/**
 * The rbac.authorization group: roles and role bindings.
 */
import type { Kind } from '../kind.js';
import { ClusterRole } from './v1/cluster-role.js';
import { ClusterRoleBinding } from './v1/cluster-role-binding.js';
import { Role } from './v1/role.js';
import { RoleBinding } from './v1/role-binding.js';

export { ClusterRole, ClusterRoleBinding, Role, RoleBinding };

/** The kinds of the group, in the order of discovery. */
export const rbacKinds: readonly Kind[] = [ClusterRoleBinding, ClusterRole, RoleBinding, Role];
