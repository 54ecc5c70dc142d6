/**
 * ClusterRole: what may be done with objects anywhere and with addresses outside of the API, or a role to be bound in
 * many namespaces. With an `aggregationRule` its rules are those of other roles; a controller gathers them.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { invalid, keyPath, required } from '../../../meta/field-error.js';
import type { LabelSelectorExpression, LabelSelectorObject } from '../../../meta/labels.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { labelValueProblems, qualifiedNameProblems } from '../../../meta/names.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import { type ClusterRoleBody, type ClusterRoleBodyInput, clusterRoleBody } from '../../generated/rbac-v1.js';
import type { Kind } from '../../kind.js';
import { clusterRolesFor } from '../bootstrap/objects.js';
import { permitRole } from '../escalation.js';
import { roleColumns } from './columns.js';
import { rbacName, validatePolicyRules } from './policy-rule.js';

export interface ClusterRole extends ObjectBase, ClusterRoleBody {}
export interface ClusterRoleInput extends InputBase, ClusterRoleBodyInput {}

export const ClusterRole: Kind<ClusterRole, ClusterRoleInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('rbac.authorization')}/v1`,
  kind: 'ClusterRole',
  scope: 'Cluster',
  columns: roleColumns,
  body: clusterRoleBody,
  strategy: {
    name: { validate: rbacName },
    update: {
      allowCreateOnUpdate: true,
      // The reference server looks twice on update.
      validationOrder: ['whole', 'whole', 'metadata'],
    },
    create: {
      validate: (object, _context, live) =>
        validate(object, { allowInvalidValues: live !== undefined && hasInvalidValues(live) }),
    },
    write: { authorize: permitRole('clusterroles') },
  },
  initial: clusterRolesFor,
});

function validate(object: ClusterRole, options: { allowInvalidValues?: boolean }): FieldError[] {
  const { rules, aggregationRule: aggregation } = object;
  const found = validatePolicyRules(rules, { isNamespaced: false });
  if (aggregation === undefined) return found;
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregation.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    found.push(required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil'));
  }
  for (const [index, selector] of selectors.entries()) {
    const at = keyPath(path, index);
    found.push(...labelSelectorObjectErrors(selector, at, options));
    // A selector that cannot be made has no value to show.
    if (!canBeMade(selector)) found.push(invalid(at, null, 'invalid label selector.'));
  }
  return found;
}

/** Values that were let in before labels were judged may stay. */
function hasInvalidValues(object: ClusterRole): boolean {
  const { aggregationRule: aggregation } = object;
  const expressions = (aggregation?.clusterRoleSelectors ?? []).flatMap((one) => one.matchExpressions ?? []);
  return expressions.some(({ values = [] }) => values.some((value) => labelValueProblems(value).length > 0));
}

/** Whether there is a selector of it, to the parser of selectors. */
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
