/**
 * The Role kind: permissions for the objects of a namespace.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import type { InputBase, NamespacedObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type RoleBody, type RoleBodyDraft, type RoleBodyInput, roleBody } from '../../generated/rbac-v1.js';
import type { Kind } from '../../kind.js';
import { initialRoles } from '../bootstrap/objects.js';
import { authorizeRole } from '../escalation.js';
import { roleColumns } from './columns.js';
import { rbacName, validatePolicyRules } from './policy-rule.js';

export interface Role extends NamespacedObject<'Role'>, RoleBody {}
export interface RoleDraft extends NamespacedObject<'Role'>, RoleBodyDraft {}
export interface RoleInput extends InputBase, RoleBodyInput {}

export const Role: Kind<Role, RoleInput, 'Namespaced', never, RoleDraft> = defineBuiltIn({
  apiVersion: `${serviceGroup('rbac.authorization')}/v1`,
  kind: 'Role',
  scope: 'Namespaced',
  columns: roleColumns,
  body: roleBody,
  strategy: {
    name: { validate: rbacName },
    update: {
      allowCreateOnUpdate: true,
      // The reference server validates the whole object twice on update.
      validationOrder: ['create', 'create', 'metadata'],
    },
    create: { validate },
    write: { authorize: authorizeRole('roles') },
  },
  initial: initialRoles,
});

function validate(object: Role): FieldError[] {
  return validatePolicyRules(object.rules, { isNamespaced: true });
}
