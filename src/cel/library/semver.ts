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
import { asInstance, asString, declare, global, member } from './declare.js';

export const SEMVER_TYPE = objectType(expressionType('Semver'));

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
  declare(
    'semver',
    global('string_to_semver', [STRING], SEMVER_TYPE, (text) => toSemver(asString(text), false)),
  ),
  declare(
    'isSemver',
    global('is_semver_string', [STRING], BOOL, (text) => typeof read(asString(text), false) !== 'string'),
  ),
  comparison('isGreaterThan', 'semver_is_greater_than', BOOL, (order) => order > 0),
  comparison('isLessThan', 'semver_is_less_than', BOOL, (order) => order < 0),
  comparison('compareTo', 'semver_compare_to', INT, BigInt),
  part('major', (version) => version.major),
  part('minor', (version) => version.minor),
  part('patch', (version) => version.patch),
];

const NORMALIZING: readonly FunctionDeclaration[] = [
  declare(
    'semver',
    global('string_bool_to_semver', [STRING, BOOL], SEMVER_TYPE, (text, normalize) =>
      toSemver(asString(text), normalize === true),
    ),
  ),
  declare(
    'isSemver',
    global(
      'is_semver_string_bool',
      [STRING, BOOL],
      BOOL,
      (text, normalize) => typeof read(asString(text), normalize === true) !== 'string',
    ),
  ),
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

function versionOf(value: CelValue | undefined): SemanticVersion {
  return asInstance(CelSemver, value).version;
}

function comparison(
  name: string,
  id: string,
  result: CelType,
  interpret: (order: number) => CelValue,
): FunctionDeclaration {
  const call = (left?: CelValue, right?: CelValue) => interpret(compare(versionOf(left), versionOf(right)));
  return declare(name, member(id, [SEMVER_TYPE, SEMVER_TYPE], result, call));
}

/** Version numbers are unsigned 64-bit; large ones wrap to negative ints. */
function part(name: string, read: (version: SemanticVersion) => bigint): FunctionDeclaration {
  const call = (value?: CelValue) => BigInt.asIntN(64, read(versionOf(value)));
  return declare(name, member(`semver_${name}`, [SEMVER_TYPE], INT, call));
}
