/**
 * The rbac.authorization group: roles and role bindings.
 */
import type { Kind } from '../kind.js';
import { ClusterRole } from './v1/cluster-role.js';
import { ClusterRoleBinding } from './v1/cluster-role-binding.js';
import { Role } from './v1/role.js';
import { RoleBinding } from './v1/role-binding.js';

export { ClusterRole, type ClusterRoleDraft, type ClusterRoleInput } from './v1/cluster-role.js';
export {
  ClusterRoleBinding,
  type ClusterRoleBindingDraft,
  type ClusterRoleBindingInput,
} from './v1/cluster-role-binding.js';
export { Role, type RoleDraft, type RoleInput } from './v1/role.js';
export { RoleBinding, type RoleBindingDraft, type RoleBindingInput } from './v1/role-binding.js';

/** The kinds of the group, in the order of discovery. */
export const rbacKinds: readonly Kind[] = [ClusterRoleBinding, ClusterRole, RoleBinding, Role];
