/**
 * The Role kind: permissions for the objects of a namespace. docs/specification.md R2
 */

import type { FieldError } from '../../../meta/field-error.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type RoleKind, type RoleObject, roleBase } from '../../generated/rbac-v1.js';
import type { HookContext } from '../../kind.js';
import { initialRoles } from '../bootstrap/objects.js';
import { authorizeRole } from '../escalation.js';
import { roleColumns } from './columns.js';
import { rbacName, validatePolicyRules } from './policy-rule.js';

export interface Role extends RoleObject {}

export const Role: RoleKind<Role> = defineBuiltIn({
  ...roleBase,
  columns: roleColumns,
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

function validate(object: Role, { dialect }: HookContext): FieldError[] {
  return validatePolicyRules(object.rules, { isNamespaced: true, dialect });
}
