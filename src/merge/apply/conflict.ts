/**
 * Conflicts as values: who owns what an apply would have changed.
 */

import { byBytes } from '../../meta/go-value.js';
import { type FieldSet, pathsOf, printPath } from './field-set.js';
import { type Manager, managerText } from './managers.js';

export interface Conflict {
  readonly manager: Manager;
  /** Of the manager's own fields, those that would have changed. */
  readonly fields: FieldSet;
}

/** One field that one manager owns. */
export interface ConflictCause {
  /** `conflict with "ci"` */
  readonly message: string;
  /** `.spec.replicas` */
  readonly field: string;
}

/** An apply that would change what others own. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  /** By manager. */
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    const sorted = [...conflicts].sort((left, right) => byBytes(managerText(left.manager), managerText(right.manager)));
    super(messageOf(sorted));
    this.conflicts = sorted;
  }

  get causes(): readonly ConflictCause[] {
    return this.conflicts.flatMap(({ manager, fields }) =>
      printed(fields).map((field) => ({ message: `conflict with ${describe(manager)}`, field })),
    );
  }
}

function messageOf(conflicts: readonly Conflict[]): string {
  const count = conflicts.reduce((sum, { fields }) => sum + printed(fields).length, 0);
  const [only] = conflicts;
  if (count === 1 && only !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${describe(only.manager)}: ${printed(only.fields).join('')}`;
  }
  const blocks = conflicts.map(({ manager, fields }) =>
    [`conflicts with ${describe(manager)}:`, ...printed(fields).map((field) => `- ${field}`)].join('\n'),
  );
  return `Apply failed with ${count} conflicts: ${blocks.join('\n')}`;
}

function printed(fields: FieldSet): readonly string[] {
  return [...pathsOf(fields)].map(printPath);
}

/** `"ci" with subresource "status" using apps/v1`; appliers are the same in every version. */
export function describe({ manager, operation, apiVersion, subresource }: Manager): string {
  const below = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const version = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${below}${version}`;
}
