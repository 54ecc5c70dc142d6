/**
 * The strategy that RoleBinding and ClusterRoleBinding share.
 */

import { type Dialect, serviceGroup } from '../../../meta/dialect.js';
import { childPath, type FieldError, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { dnsSubdomainProblems } from '../../../meta/names.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import type { ClusterRoleBindingObject, Subject } from '../../generated/rbac-v1.js';
import type { HookContext, StrategyDefinition } from '../../kind.js';
import { authorizeBinding } from '../escalation.js';
import { rbacName } from './policy-rule.js';

type Binding = Pick<ClusterRoleBindingObject, 'roleRef' | 'subjects'>;

/** The differences between the two kinds. */
export interface BindingRules {
  /** The kinds that `roleRef` may name. */
  readonly roleKinds: readonly string[];
  /** A service account without a namespace is in the binding's namespace. */
  readonly isNamespaced: boolean;
}

/** The strategy of a binding kind. */
export function bindingStrategy(rules: BindingRules): StrategyDefinition<Binding> {
  const validate = (object: Binding, { dialect }: HookContext) => validateBinding(object, rules, groupIn(dialect));
  return {
    name: { validate: rbacName },
    update: {
      allowCreateOnUpdate: true,
      // The reference server validates the whole object twice on update.
      validationOrder: ['create', 'create', 'metadata', 'update'],
      validate: roleRefChange,
    },
    decode: { defaults: fillInGroups },
    create: { validate },
    write: { authorize: authorizeBinding(rules.isNamespaced ? 'rolebindings' : 'clusterrolebindings') },
  };
}

const USERS_AND_GROUPS = ['User', 'Group'];

function groupIn(dialect: Dialect): string {
  return dialect.group(serviceGroup('rbac.authorization'));
}

function fillInGroups(binding: Binding, { dialect }: HookContext): void {
  const group = groupIn(dialect);
  if (binding.roleRef.apiGroup === '') binding.roleRef.apiGroup = group;
  const lacksGroup = (one: Subject) => !one.apiGroup && USERS_AND_GROUPS.includes(one.kind);
  if (!binding.subjects?.some(lacksGroup)) return;
  binding.subjects = binding.subjects.map((one) => {
    if (!lacksGroup(one)) return one;
    // Rebuilt, so that apiGroup is between kind and name, as on the wire.
    const { kind, ...rest } = one;
    return { kind, apiGroup: group, ...rest };
  });
}

function validateBinding({ roleRef: ref, subjects = [] }: Binding, rules: BindingRules, group: string): FieldError[] {
  const found: FieldError[] = [];
  if (ref.apiGroup !== group) found.push(notSupported('roleRef.apiGroup', ref.apiGroup, [group]));
  if (!rules.roleKinds.includes(ref.kind)) found.push(notSupported('roleRef.kind', ref.kind, rules.roleKinds));
  if (ref.name === '') found.push(required('roleRef.name'));
  else
    append(
      found,
      rbacName(ref.name, false).map((detail) => invalid('roleRef.name', ref.name, detail)),
    );
  for (const [index, one] of subjects.entries()) {
    append(found, validateSubject(keyPath('subjects', index), one, { ...rules, group }));
  }
  return found;
}

function validateSubject(path: string, one: Subject, options: BindingRules & { readonly group: string }): FieldError[] {
  const { kind, apiGroup = '', name, namespace = '' } = one;
  const namePath = childPath(path, 'name');
  const groupPath = childPath(path, 'apiGroup');
  const found: FieldError[] = name === '' ? [required(namePath)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '')
      append(
        found,
        dnsSubdomainProblems(name).map((detail) => invalid(namePath, name, detail)),
      );
    if (apiGroup !== '') found.push(notSupported(groupPath, apiGroup, ['']));
    if (!options.isNamespaced && namespace === '') found.push(required(childPath(path, 'namespace')));
  } else if (USERS_AND_GROUPS.includes(kind)) {
    if (apiGroup !== options.group) found.push(notSupported(groupPath, apiGroup, [options.group]));
  } else {
    found.push(notSupported(childPath(path, 'kind'), kind, ['ServiceAccount', ...USERS_AND_GROUPS]));
  }
  return found;
}

/** `roleRef` is immutable, so that a user who may change the subjects cannot change their permissions. */
function roleRefChange({ roleRef: now }: Binding, { roleRef: before }: Binding): FieldError[] {
  if (now.apiGroup === before.apiGroup && now.kind === before.kind && now.name === before.name) return [];
  const dump = `rbac.RoleRef{APIGroup:${quote(now.apiGroup)}, Kind:${quote(now.kind)}, Name:${quote(now.name)}}`;
  return [invalid('roleRef', verbatim(dump), 'cannot change roleRef')];
}
