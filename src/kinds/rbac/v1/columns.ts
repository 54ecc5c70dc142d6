/**
 * The table columns of roles and bindings.
 */
import type { ApiObject } from '../../../meta/object.js';
import type { Column } from '../../columns.js';
import type { RoleRef, Subject } from '../../generated/rbac-v1.js';
import { ageColumn, createdColumn, nameColumn, textColumn, wideColumn } from '../../shared/common-columns.js';

/** The columns of roles. */
export const roleColumns: readonly Column[] = [nameColumn, createdColumn];

const subjects = (name: string, kind: string, print: (subject: Subject) => string): Column =>
  wideColumn(name, `${name} that the role is granted to.`, (object) => subjectsOf(object, kind).map(print).join(', '));

/** The columns of bindings. */
export const bindingColumns: readonly Column[] = [
  nameColumn,
  textColumn('Role', 'The role that it grants.', (object) => {
    const { kind, name } = object['roleRef'] as RoleRef;
    return `${kind}/${name}`;
  }),
  ageColumn,
  subjects('Users', 'User', ({ name }) => name),
  subjects('Groups', 'Group', ({ name }) => name),
  subjects('ServiceAccounts', 'ServiceAccount', ({ namespace = '', name }) => `${namespace}/${name}`),
];

function subjectsOf(object: ApiObject, kind: string): Subject[] {
  const subjects = (object['subjects'] ?? []) as readonly Subject[];
  return subjects.filter((subject) => subject.kind === kind);
}
