/**
 * Conflicts of an apply: the managers that own fields which the apply would change.
 */

import { compareUtf8 } from '../../text/go/go-value.js';
import { countPaths, type FieldSet, printPaths } from './field-set.js';
import { type Manager, managerText } from './managers.js';

/** A manager that owns fields which an apply would change. */
export interface Conflict {
  readonly manager: Manager;
  /** The fields of this manager that would have changed. */
  readonly fields: FieldSet;
}

/** One field that another manager owns. */
export interface ConflictCause {
  /** `conflict with "ci"` */
  readonly message: string;
  /** `.spec.replicas` */
  readonly field: string;
}

/**
 * The maximum number of characters of all printed paths. A hostile object could have more paths than a string can hold.
 */
const MAX_PRINTED = 1_000_000;

/** An apply would change fields that other managers own. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  /** Sorted by manager. */
  readonly conflicts: readonly Conflict[];
  readonly causes: readonly ConflictCause[];

  constructor(conflicts: readonly Conflict[]) {
    const sorted = [...conflicts].sort((left, right) =>
      compareUtf8(managerText(left.manager), managerText(right.manager)),
    );
    const budget = { left: MAX_PRINTED };
    const printed = sorted.map(({ manager, fields }) => ({
      who: describe(manager),
      paths: printPaths(fields, budget),
      count: countPaths(fields),
    }));
    super(messageOf(printed));
    this.conflicts = sorted;
    this.causes = printed.flatMap(({ who, paths }) =>
      paths.map((field) => ({ message: `conflict with ${who}`, field })),
    );
  }
}

interface Printed {
  readonly who: string;
  readonly paths: readonly string[];
  readonly count: number;
}

function messageOf(conflicts: readonly Printed[]): string {
  const count = conflicts.reduce((sum, conflict) => sum + conflict.count, 0);
  const [only] = conflicts;
  if (count === 1 && only !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${only.who}: ${only.paths.join('')}`;
  }
  const blocks = conflicts.map(({ who, paths, count: all }) => {
    const lines = [`conflicts with ${who}:`, ...paths.map((path) => `- ${path}`)];
    if (paths.length < all) lines.push(`- and ${all - paths.length} more`);
    return lines.join('\n');
  });
  return `Apply failed with ${count} conflicts: ${blocks.join('\n')}`;
}

/** `"ci" with subresource "status" using apps/v1`; the version is printed only for updaters. */
export function describe({ manager, operation, apiVersion, subresource }: Manager): string {
  const below = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const version = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${JSON.stringify(manager)}${below}${version}`;
}
