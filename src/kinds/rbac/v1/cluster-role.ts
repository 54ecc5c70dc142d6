/**
 * The ClusterRole kind: permissions for cluster-scoped objects, all namespaces and non-resource URLs; it can also be
 * bound in a namespace. With an `aggregationRule` a controller copies the rules of other roles.
 */

import type { Dialect } from '../../../meta/dialect.js';
import { type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import type { LabelSelectorExpression, LabelSelectorObject } from '../../../meta/labels.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { labelValueProblems, qualifiedNameProblems } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type ClusterRoleKind, type ClusterRoleObject, clusterRoleBase } from '../../generated/rbac-v1.js';
import { clusterRolesFor } from '../bootstrap/objects.js';
import { authorizeRole } from '../escalation.js';
import { roleColumns } from './columns.js';
import { rbacName, validatePolicyRules } from './policy-rule.js';

export interface ClusterRole extends ClusterRoleObject {}

export const ClusterRole: ClusterRoleKind<ClusterRole> = defineBuiltIn({
  ...clusterRoleBase,
  columns: roleColumns,
  strategy: {
    name: { validate: rbacName },
    update: {
      allowCreateOnUpdate: true,
      // The reference server validates the whole object twice on update.
      validationOrder: ['create', 'create', 'metadata'],
    },
    create: {
      validate: (object, { dialect }, live) =>
        validate(object, { dialect, allowInvalidValues: live !== undefined && hasInvalidValues(live) }),
    },
    write: { authorize: authorizeRole('clusterroles') },
  },
  initial: clusterRolesFor,
});

function validate(object: ClusterRole, options: { dialect: Dialect; allowInvalidValues: boolean }): FieldError[] {
  const { rules, aggregationRule: aggregation } = object;
  const found = validatePolicyRules(rules, { isNamespaced: false, dialect: options.dialect });
  if (aggregation === undefined) return found;
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregation.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    found.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  }
  for (const [index, selector] of selectors.entries()) {
    const at = keyPath(path, index);
    append(found, labelSelectorObjectErrors(selector, at, options));
    // The reference server reports a selector that cannot be parsed with a null value.
    if (!canBeMade(selector)) found.push(invalid(at, null, 'invalid label selector.'));
  }
  return found;
}

/** Updates may keep invalid label values of the live object. */
function hasInvalidValues(object: ClusterRole): boolean {
  const { aggregationRule: aggregation } = object;
  const expressions = (aggregation?.clusterRoleSelectors ?? []).flatMap((one) => one.matchExpressions ?? []);
  return expressions.some(({ values = [] }) => values.some((value) => labelValueProblems(value).length > 0));
}

/** True if the selector parser accepts the selector. */
function canBeMade({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean {
  const equals = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: '=', values: [value] }));
  return [...equals, ...matchExpressions].every(isRequirement);
}

const LISTS = ['In', 'NotIn'];
const WITHOUT_VALUES = ['Exists', 'DoesNotExist'];

function isRequirement({ key, operator, values = [] }: LabelSelectorExpression): boolean {
  if (!['=', ...LISTS, ...WITHOUT_VALUES].includes(operator) || qualifiedNameProblems(key).length > 0) return false;
  if (LISTS.includes(operator) && values.length === 0) return false;
  if (WITHOUT_VALUES.includes(operator) && values.length > 0) return false;
  return values.every((value) => labelValueProblems(value).length === 0);
}
