/**
 * Labels of nodes that have other names today, or nobody reads any more. Whoever selects nodes by them is told.
 */
import type { Dialect } from '../../meta/dialect.js';
import { childPath, keyPath } from '../../meta/field-error.js';

export interface DeprecatedLabel {
  readonly successor: string;
  /** The release since which the old name is deprecated. */
  readonly since: string;
}

/** By their old names. */
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

/** What is wrong with selecting nodes by this label; undefined when nothing is. */
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

/** Warnings about the keys of expressions at `path`; the label is named again, because the path does not show it. */
export function expressionWarnings(
  path: string,
  expressions: readonly { readonly key: string }[],
  dialect: Dialect,
): string[] {
  return expressions.flatMap(({ key }, index) => {
    const why = labelDeprecation(key, dialect);
    return why === undefined ? [] : [`${childPath(keyPath(path, index), 'key')}: ${key} is ${why}`];
  });
}
