/**
 * The RoleBinding kind: grants a role to users, groups and service accounts in a namespace.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { InputBase, NamespacedObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type RoleBindingBody,
  type RoleBindingBodyDraft,
  type RoleBindingBodyInput,
  roleBindingBody,
} from '../../generated/rbac-v1.js';
import type { Kind } from '../../kind.js';
import { initialRoleBindings } from '../bootstrap/objects.js';
import { bindingStrategy } from './binding.js';
import { bindingColumns } from './columns.js';

export interface RoleBinding extends NamespacedObject<'RoleBinding'>, RoleBindingBody {}
export interface RoleBindingDraft extends NamespacedObject<'RoleBinding'>, RoleBindingBodyDraft {}
export interface RoleBindingInput extends InputBase, RoleBindingBodyInput {}

export const RoleBinding: Kind<RoleBinding, RoleBindingInput, 'Namespaced', never, RoleBindingDraft> = defineBuiltIn({
  apiVersion: `${serviceGroup('rbac.authorization')}/v1`,
  kind: 'RoleBinding',
  scope: 'Namespaced',
  columns: bindingColumns,
  body: roleBindingBody,
  strategy: bindingStrategy({ roleKinds: ['Role', 'ClusterRole'], isNamespaced: true }),
  initial: initialRoleBindings,
});
