/**
 * Semantic versions, strictly: `1.33.0-alpha.1+build.5`, with no `v` in front and all three numbers there. LeaseCandidate
 * compares them. Nothing is told about why a text is refused, because the reference server does not tell it either.
 */

export interface SemanticVersion {
  /** As wide as 64 unsigned bits, hence no plain numbers. */
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Numeric identifiers as numbers: they order before and differently from words. */
  readonly prerelease: readonly (bigint | string)[];
  /** Takes no part in the order. */
  readonly build: readonly string[];
}

/** What the reference server goes on comparing with after it has refused a text. */
export const ZERO_VERSION: SemanticVersion = { major: 0n, minor: 0n, patch: 0n, prerelease: [], build: [] };

const MAX_UINT64 = 2n ** 64n - 1n;
const SHAPE = /^([0-9]+)\.([0-9]+)\.([0-9]+)(?:-([-.A-Za-z0-9]+))?(?:\+([-.A-Za-z0-9]+))?$/;

/**
 * Undefined when the text is no semantic version.
 *
 * @example
 * parseSemver('1.33.0-alpha.1')?.prerelease // ['alpha', 1n]
 * parseSemver('v1.33') // undefined
 */
export function parseSemver(text: string): SemanticVersion | undefined {
  const [, major, minor, patch, prerelease, build] = SHAPE.exec(text) ?? [];
  const numbers = [wholeNumber(major), wholeNumber(minor), wholeNumber(patch)];
  const identifiers = prerelease?.split('.').map(identifier) ?? [];
  const words = build?.split('.') ?? [];
  const parts = [...numbers, ...identifiers];
  if (parts.some((part) => part === undefined) || words.includes('')) return undefined;
  return {
    major: numbers[0] ?? 0n,
    minor: numbers[1] ?? 0n,
    patch: numbers[2] ?? 0n,
    prerelease: identifiers.filter((part) => part !== undefined),
    build: words,
  };
}

/** Negative when `a` is the older one, 0 when neither is. A version without a prerelease is newer than one with it. */
export function compareSemver(a: SemanticVersion, b: SemanticVersion): -1 | 0 | 1 {
  const numbers = order(a.major, b.major) || order(a.minor, b.minor) || order(a.patch, b.patch);
  if (numbers !== 0) return numbers;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return order(b.prerelease.length, a.prerelease.length);
  for (const [index, left] of a.prerelease.entries()) {
    const right = b.prerelease[index];
    if (right === undefined) return 1;
    const found = compareIdentifiers(left, right);
    if (found !== 0) return found;
  }
  return order(a.prerelease.length, b.prerelease.length);
}

/** Undefined for what has a leading zero or does not fit 64 bits. */
function wholeNumber(digits: string | undefined): bigint | undefined {
  // Twenty digits hold every 64-bit number; longer ones need not be built to be refused.
  if (digits === undefined || digits.length > 20 || /^0./.test(digits)) return undefined;
  const value = BigInt(digits);
  return value > MAX_UINT64 ? undefined : value;
}

function identifier(text: string): bigint | string | undefined {
  if (text === '') return undefined;
  return /^[0-9]+$/.test(text) ? wholeNumber(text) : text;
}

function compareIdentifiers(left: bigint | string, right: bigint | string): -1 | 0 | 1 {
  if (typeof left !== typeof right) return typeof left === 'bigint' ? -1 : 1;
  return order(left, right);
}

function order<Value extends bigint | number | string>(left: Value, right: Value): -1 | 0 | 1 {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
