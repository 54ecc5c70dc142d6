/**
 * Deprecated node labels, and the warnings about selecting nodes by them.
 */
import type { Dialect } from '../../meta/dialect.js';
import { childPath, keyPath } from '../../meta/field-error.js';

export interface DeprecatedLabel {
  readonly successor: string;
  /** The release since which the old name is deprecated. */
  readonly since: string;
}

/** Renamed labels by their old names. */
export function deprecatedNodeLabels(dialect: Dialect): ReadonlyMap<string, DeprecatedLabel> {
  return new Map([
    [dialect.subkey('beta', 'arch'), { successor: dialect.key('arch'), since: 'v1.14' }],
    [dialect.subkey('beta', 'os'), { successor: dialect.key('os'), since: 'v1.14' }],
    [
      dialect.subkey('failure-domain.beta', 'region'),
      { successor: dialect.subkey('topology', 'region'), since: 'v1.17' },
    ],
    [dialect.subkey('failure-domain.beta', 'zone'), { successor: dialect.subkey('topology', 'zone'), since: 'v1.17' }],
    [dialect.subkey('beta', 'instance-type'), { successor: dialect.subkey('node', 'instance-type'), since: 'v1.17' }],
  ]);
}

/** The warning about selecting nodes by this label; undefined if the label is not deprecated. */
export function labelDeprecation(label: string, dialect: Dialect): string | undefined {
  const renamed = deprecatedNodeLabels(dialect).get(label);
  if (renamed !== undefined) return `deprecated since ${renamed.since}; use "${renamed.successor}" instead`;
  switch (label) {
    case dialect.subkey('app', 'created-by'):
      return 'deprecated since v1.9';
    case dialect.subkey('scheduler.alpha', 'preferAvoidPods'):
      return 'deprecated since v1.22; use Taints and Tolerations instead';
    case dialect.subkey('node-role', 'master'):
      return `use "${dialect.subkey('node-role', 'control-plane')}" instead`;
    default:
      return undefined;
  }
}

/** Warnings about the keys of match expressions at `path`. The message contains the label, because the path does not. */
export function expressionWarnings(
  path: string,
  expressions: readonly { readonly key: string }[],
  dialect: Dialect,
): string[] {
  return expressions.flatMap(({ key }, index) => {
    const deprecation = labelDeprecation(key, dialect);
    return deprecation === undefined ? [] : [`${childPath(keyPath(path, index), 'key')}: ${key} is ${deprecation}`];
  });
}
