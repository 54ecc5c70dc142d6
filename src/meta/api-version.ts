/**
 * Versions of API groups: `v1`, `v2beta3`. How stable a version is, and which of two comes first in discovery and is
 * preferred. spec: Discovery
 */

export type Maturity = 'stable' | 'beta' | 'alpha';

export interface ApiVersion {
  readonly major: bigint;
  readonly maturity: Maturity;
  /** The number after `beta` or `alpha`; 0 when stable. */
  readonly minor: bigint;
}

const MAX_INT64 = 2n ** 63n - 1n;
const RANK: Readonly<Record<Maturity, number>> = { stable: 0, beta: 1, alpha: 2 };

/** The parts of a version name, or undefined when it is not of the usual form. */
export function parseVersion(version: string): ApiVersion | undefined {
  const match = /^v([0-9]{1,100})(?:(alpha|beta)([0-9]{1,100}))?$/.exec(version);
  if (match === null) return undefined;
  const [, majorText = '', maturity, minorText = '0'] = match;
  const [major, minor] = [BigInt(majorText), BigInt(minorText)];
  if (major > MAX_INT64 || minor > MAX_INT64) return undefined;
  return { major, maturity: maturity === 'alpha' || maturity === 'beta' ? maturity : 'stable', minor };
}

/**
 * For `sort`: the preferred version first. Stable before beta before alpha, high numbers before low ones, and names of
 * another form last, in alphabetical order.
 */
export function compareVersions(left: string, right: string): number {
  if (left === right) return 0;
  const [a, b] = [parseVersion(left), parseVersion(right)];
  if (a === undefined && b === undefined) return left < right ? -1 : 1;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  if (a.maturity !== b.maturity) return RANK[a.maturity] - RANK[b.maturity];
  if (a.major !== b.major) return a.major > b.major ? -1 : 1;
  return a.minor === b.minor ? 0 : a.minor > b.minor ? -1 : 1;
}
