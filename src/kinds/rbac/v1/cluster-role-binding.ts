/**
 * The ClusterRoleBinding kind: grants a role to users, groups and service accounts in the whole cluster.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { ClusterObject, InputBase } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ClusterRoleBindingBody,
  type ClusterRoleBindingBodyDraft,
  type ClusterRoleBindingBodyInput,
  clusterRoleBindingBody,
} from '../../generated/rbac-v1.js';
import type { Kind } from '../../kind.js';
import { clusterRoleBindingsFor } from '../bootstrap/objects.js';
import { bindingStrategy } from './binding.js';
import { bindingColumns } from './columns.js';

export interface ClusterRoleBinding extends ClusterObject<'ClusterRoleBinding'>, ClusterRoleBindingBody {}
export interface ClusterRoleBindingDraft extends ClusterObject<'ClusterRoleBinding'>, ClusterRoleBindingBodyDraft {}
export interface ClusterRoleBindingInput extends InputBase, ClusterRoleBindingBodyInput {}

export const ClusterRoleBinding: Kind<
  ClusterRoleBinding,
  ClusterRoleBindingInput,
  'Cluster',
  never,
  ClusterRoleBindingDraft
> = defineBuiltIn({
  apiVersion: `${serviceGroup('rbac.authorization')}/v1`,
  kind: 'ClusterRoleBinding',
  scope: 'Cluster',
  columns: bindingColumns,
  body: clusterRoleBindingBody,
  strategy: bindingStrategy({ roleKinds: ['ClusterRole'], isNamespaced: false }),
  initial: clusterRoleBindingsFor,
});
