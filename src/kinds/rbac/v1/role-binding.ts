/**
 * The RoleBinding kind: grants a role to users, groups and service accounts in a namespace.
 */

import { defineBuiltIn } from '../../define-kind.js';
import { type RoleBindingKind, type RoleBindingObject, roleBindingBase } from '../../generated/rbac-v1.js';
import { initialRoleBindings } from '../bootstrap/objects.js';
import { bindingStrategy } from './binding.js';
import { bindingColumns } from './columns.js';

export interface RoleBinding extends RoleBindingObject {}

export const RoleBinding: RoleBindingKind<RoleBinding> = defineBuiltIn({
  ...roleBindingBase,
  columns: bindingColumns,
  strategy: bindingStrategy({ roleKinds: ['Role', 'ClusterRole'], isNamespaced: true }),
  initial: initialRoleBindings,
});
