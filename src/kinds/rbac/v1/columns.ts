/**
 * What tables of roles and of bindings show.
 */
import type { ApiObject } from '../../../meta/object.js';
import type { Column } from '../../columns.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/workload-columns.js';
import type { RoleRef, Subject } from './binding.js';

/** Roles show when they were made, not how old they are. */
export const roleColumns: readonly Column[] = [
  nameColumn,
  { ...ageColumn, name: 'Created At', type: 'date', cell: ({ metadata }) => metadata.creationTimestamp },
];

export function bindingColumns(about: { readonly kind: string; readonly roleDescription: string }): readonly Column[] {
  const subjects = (name: string, kind: string, print: (subject: Subject) => string): Column => ({
    name,
    type: 'string',
    description: `${name} in the ${about.kind}`,
    priority: 1,
    cell: (object) => subjectsOf(object, kind).map(print).join(', '),
  });
  return [
    nameColumn,
    textColumn('Role', about.roleDescription, (object) => {
      const { kind, name } = object['roleRef'] as RoleRef;
      return `${kind}/${name}`;
    }),
    ageColumn,
    subjects('Users', 'User', ({ name }) => name),
    subjects('Groups', 'Group', ({ name }) => name),
    subjects('ServiceAccounts', 'ServiceAccount', ({ namespace = '', name }) => `${namespace}/${name}`),
  ];
}

function subjectsOf(object: ApiObject, kind: string): Subject[] {
  const subjects = (object['subjects'] ?? []) as readonly Subject[];
  return subjects.filter((subject) => subject.kind === kind);
}
