/**
 * RoleBinding: gives a role to users, groups and service accounts, within one namespace.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { Input, Output } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { initialRoleBindings } from '../bootstrap/objects.js';
import { bindingShape, bindingStrategy } from './binding.js';
import { bindingColumns } from './columns.js';

export interface RoleBinding extends ObjectBase, Output<typeof bindingShape> {}
export interface RoleBindingInput extends InputBase, Input<typeof bindingShape> {}

export const RoleBinding: Kind<RoleBinding, RoleBindingInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('rbac.authorization')}/v1`,
  kind: 'RoleBinding',
  scope: 'Namespaced',
  columns: bindingColumns,
  body: bindingShape,
  strategy: bindingStrategy({ roleKinds: ['Role', 'ClusterRole'], isNamespaced: true }),
  initial: initialRoleBindings,
});
