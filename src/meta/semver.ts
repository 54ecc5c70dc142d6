/**
 * Strict semantic versions: `1.33.0-alpha.1+build.5`, without `v` prefix and with all three numbers. LeaseCandidate and
 * the CEL semver library use them; only CEL reports why a text is invalid.
 */
import { quote } from '../text/go/go-text.js';
import { byteLength } from './names.js';

export interface SemanticVersion {
  /** Unsigned 64-bit integers. */
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Numeric identifiers are bigints: they sort numerically and before alphanumeric ones. */
  readonly prerelease: readonly (bigint | string)[];
  /** Ignored in comparisons. */
  readonly build: readonly string[];
}

/** The version that the reference server compares with after it rejected a text. */
export const ZERO_VERSION: SemanticVersion = { major: 0n, minor: 0n, patch: 0n, prerelease: [], build: [] };

const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Parses a semantic version; undefined if it is invalid.
 *
 * @example
 * parseSemver('1.33.0-alpha.1')?.prerelease // ['alpha', 1n]
 * parseSemver('v1.33') // undefined
 */
export function parseSemver(text: string): SemanticVersion | undefined {
  const version = readSemver(text);
  return typeof version === 'string' ? undefined : version;
}

/** The version, or the message of the first error from the left; errors in build metadata come last. */
export function readSemver(text: string): SemanticVersion | string {
  if (text === '') return 'Version string empty';
  const [majorText, minorText, ...more] = text.split('.');
  if (majorText === undefined || minorText === undefined || more.length === 0) {
    return 'No Major.Minor.Patch elements found';
  }
  const [, patchText = '', prereleaseText, buildText] =
    /^([^-+]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(more.join('.')) ?? [];
  const major = numberOrProblem('major', majorText);
  if (typeof major === 'string') return major;
  const minor = numberOrProblem('minor', minorText);
  if (typeof minor === 'string') return minor;
  const patch = numberOrProblem('patch', patchText);
  if (typeof patch === 'string') return patch;
  const prerelease: (bigint | string)[] = [];
  for (const word of prereleaseText?.split('.') ?? []) {
    const part = identifier(word);
    if ('problem' in part) return part.problem;
    prerelease.push(part.value);
  }
  const build = buildText?.split('.') ?? [];
  const problem = build.map(buildProblem).find((found) => found !== undefined);
  return problem ?? { major, minor, patch, prerelease, build };
}

/**
 * Normalizes a tolerant version for {@link readSemver}: a `v` prefix, fewer than three numbers, leading zeros. `v01.2` →
 * `1.2.0`. A short version must not have prerelease or build metadata.
 */
export function normalizeSemver(text: string): { readonly text: string } | { readonly problem: string } {
  const parts = firstThree(text.replace(/^v/, ''));
  const trimmed = parts.map((part) => (byteLength(part) > 1 ? withoutLeadingZeros(part) : part));
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? '')) {
    return { problem: 'short version cannot contain PreRelease/Build meta data' };
  }
  return { text: [...trimmed, '0', '0'].slice(0, 3).join('.') };
}

/** Negative if `a` is older, 0 if both are equal. A version without prerelease is newer than one with prerelease. */
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

/** Splits at the first two dots. */
function firstThree(text: string): string[] {
  const first = text.indexOf('.');
  const second = first < 0 ? -1 : text.indexOf('.', first + 1);
  if (first < 0) return [text];
  if (second < 0) return [text.slice(0, first), text.slice(first + 1)];
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

/** Keeps one digit: `00` → `0`, `0-a` → `0-a`. A part without a leading digit gets a `0` and is rejected later. */
function withoutLeadingZeros(part: string): string {
  const rest = part.replace(/^0+/, '');
  return /^[0-9]/.test(rest) ? rest : `0${rest}`;
}

function numberOrProblem(name: string, digits: string): bigint | string {
  if (/[^0-9]/.test(digits)) return `Invalid character(s) found in ${name} number ${quote(digits)}`;
  if (/^0./.test(digits)) {
    return `${name[0]?.toUpperCase()}${name.slice(1)} number must not contain leading zeroes ${quote(digits)}`;
  }
  return wholeNumber(digits);
}

/** The number, or an error message if the digits are not an unsigned 64-bit integer. */
function wholeNumber(digits: string): bigint | string {
  if (digits === '') return 'strconv.ParseUint: parsing "": invalid syntax';
  // An unsigned 64-bit integer has at most 20 digits; longer texts are rejected without parsing.
  if (digits.length <= 20 && BigInt(digits) <= MAX_UINT64) return BigInt(digits);
  return `strconv.ParseUint: parsing ${quote(digits)}: value out of range`;
}

function identifier(text: string): { readonly value: bigint | string } | { readonly problem: string } {
  if (text === '') return { problem: 'Prerelease is empty' };
  if (/[^-0-9A-Za-z]/.test(text)) return { problem: `Invalid character(s) found in prerelease ${quote(text)}` };
  if (/[^0-9]/.test(text)) return { value: text };
  if (/^0./.test(text)) {
    return { problem: `Numeric PreRelease version must not contain leading zeroes ${quote(text)}` };
  }
  const value = wholeNumber(text);
  return typeof value === 'string' ? { problem: value } : { value };
}

function buildProblem(word: string): string | undefined {
  if (word === '') return 'Build meta data is empty';
  return /[^-0-9A-Za-z]/.test(word) ? `Invalid character(s) found in build meta data ${quote(word)}` : undefined;
}

function compareIdentifiers(left: bigint | string, right: bigint | string): -1 | 0 | 1 {
  if (typeof left !== typeof right) return typeof left === 'bigint' ? -1 : 1;
  return order(left, right);
}

function order<Value extends bigint | number | string>(left: Value, right: Value): -1 | 0 | 1 {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
