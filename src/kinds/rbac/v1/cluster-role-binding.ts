/**
 * The ClusterRoleBinding kind: grants a role to users, groups and service accounts in the whole cluster.
 */

import { defineBuiltIn } from '../../define-kind.js';
import {
  type ClusterRoleBindingKind,
  type ClusterRoleBindingObject,
  clusterRoleBindingBase,
} from '../../generated/rbac-v1.js';
import { clusterRoleBindingsFor } from '../bootstrap/objects.js';
import { bindingStrategy } from './binding.js';
import { bindingColumns } from './columns.js';

export interface ClusterRoleBinding extends ClusterRoleBindingObject {}

export const ClusterRoleBinding: ClusterRoleBindingKind<ClusterRoleBinding> = defineBuiltIn({
  ...clusterRoleBindingBase,
  columns: bindingColumns,
  strategy: bindingStrategy({ roleKinds: ['ClusterRole'], isNamespaced: false }),
  initial: clusterRoleBindingsFor,
});
