/**
 * ClusterRoleBinding: gives a role to users, groups and service accounts, everywhere.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { Input, Output } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { clusterRoleBindingsFor } from '../bootstrap/objects.js';
import { bindingShape, bindingStrategy } from './binding.js';
import { bindingColumns } from './columns.js';

export interface ClusterRoleBinding extends ObjectBase, Output<typeof bindingShape> {}
export interface ClusterRoleBindingInput extends InputBase, Input<typeof bindingShape> {}

export const ClusterRoleBinding: Kind<ClusterRoleBinding, ClusterRoleBindingInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('rbac.authorization')}/v1`,
  kind: 'ClusterRoleBinding',
  scope: 'Cluster',
  columns: bindingColumns,
  body: bindingShape,
  strategy: bindingStrategy({ roleKinds: ['ClusterRole'], isNamespaced: false }),
  initial: clusterRoleBindingsFor,
});
