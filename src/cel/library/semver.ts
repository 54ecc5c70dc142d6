/**
 * Semantic versions: `semver`, `isSemver`, parts and comparison. With `true` as second argument, incomplete versions
 * (`v1.2`) are normalized.
 */
import { expressionType } from '../../meta/dialect.js';
import { compareSemver, normalizeSemver, readSemver, type SemanticVersion } from '../../meta/semver.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, INT, objectType, STRING } from '../types.js';
import { CelError, CelOpaque, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';
import { asInstance, globalFunction, memberFunction } from './declare.js';

export const SEMVER_TYPE = objectType<CelSemver>(expressionType('Semver'));

/** Work to compare one prerelease identifier. */
const WORD = 20;

export class CelSemver extends CelOpaque {
  readonly type = SEMVER_TYPE;
  override readonly goTypeName = 'cel.Semver';
  override readonly hashable = false;
  constructor(readonly version: SemanticVersion) {
    super();
  }
  /** Build metadata is ignored. */
  equals(other: CelValue): boolean {
    return compare(this.version, asInstance(CelSemver, other).version) === 0;
  }
}

const STRICT: readonly FunctionDeclaration[] = [
  globalFunction('semver', 'string_to_semver', [STRING], SEMVER_TYPE, (text) => toSemver(text, false)),
  globalFunction('isSemver', 'is_semver_string', [STRING], BOOL, (text) => isSemver(text, false)),
  comparison('isGreaterThan', 'semver_is_greater_than', BOOL, (order) => order > 0),
  comparison('isLessThan', 'semver_is_less_than', BOOL, (order) => order < 0),
  comparison('compareTo', 'semver_compare_to', INT, BigInt),
  part('major', (version) => version.major),
  part('minor', (version) => version.minor),
  part('patch', (version) => version.patch),
];

const NORMALIZING: readonly FunctionDeclaration[] = [
  globalFunction('semver', 'string_bool_to_semver', [STRING, BOOL], SEMVER_TYPE, toSemver),
  globalFunction('isSemver', 'is_semver_string_bool', [STRING, BOOL], BOOL, isSemver),
];

/** All functions, for stored expressions. */
export const SEMVERS: Library = { name: 'semver', functions: [...STRICT, ...NORMALIZING] };

/** Without the normalizing overloads, for device selectors. */
export const STRICT_SEMVERS: Library = { name: 'semver', functions: STRICT };

/** Parses a version. Throws a CelError if it is invalid. */
export function toSemver(text: string, normalize: boolean): CelSemver {
  const version = read(text, normalize);
  if (typeof version === 'string') throw new CelError(version);
  return new CelSemver(version);
}

function isSemver(text: string, normalize: boolean): boolean {
  return typeof read(text, normalize) !== 'string';
}

function read(text: string, normalize: boolean): SemanticVersion | string {
  if (!normalize) return readSemver(text);
  const normal = normalizeSemver(text);
  return 'problem' in normal ? normal.problem : readSemver(normal.text);
}

/** A prerelease may have many identifiers, which the cost model does not count. */
function compare(left: SemanticVersion, right: SemanticVersion): -1 | 0 | 1 {
  spendWork(WORD * Math.min(left.prerelease.length, right.prerelease.length));
  return compareSemver(left, right);
}

function comparison(
  name: string,
  id: string,
  result: CelType,
  interpret: (order: number) => CelValue,
): FunctionDeclaration {
  return memberFunction(name, id, [SEMVER_TYPE, SEMVER_TYPE], result, (left, right) =>
    interpret(compare(left.version, right.version)),
  );
}

/** Version numbers are unsigned 64-bit; large ones wrap to negative ints. */
function part(name: string, read: (version: SemanticVersion) => bigint): FunctionDeclaration {
  const call = ({ version }: CelSemver) => BigInt.asIntN(64, read(version));
  return memberFunction(name, `semver_${name}`, [SEMVER_TYPE], INT, call);
}
