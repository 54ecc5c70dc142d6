/**
 * Labels of nodes that have other names today.
 */
import type { Dialect } from '../../../../meta/dialect.js';

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
