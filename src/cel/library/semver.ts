/**
 * `semver`, `isSemver`, parts and order of semantic versions. With `true` as second argument texts are taken that are
 * written more freely (`v1.2`).
 */
import { expressionType } from '../../meta/dialect.js';
import { compareSemver, normalizeSemver, readSemver, type SemanticVersion } from '../../meta/semver.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, INT, objectType, STRING } from '../types.js';
import { CelError, CelOpaque, type CelValue } from '../values.js';
import { spend } from '../work-budget.js';
import { declare, global, instanceOf, member, textOf } from './declare.js';

export const SEMVER_TYPE = objectType(expressionType('Semver'));

/** Comparing a word of a prerelease. */
const WORD = 20;

export class CelSemver extends CelOpaque {
  readonly type = SEMVER_TYPE;
  override readonly referenceClass = 'cel.Semver';
  override readonly hashable = false;
  constructor(readonly version: SemanticVersion) {
    super();
  }
  /** What is built from a version makes no difference. */
  equals(other: CelValue): boolean {
    return compare(this.version, instanceOf(CelSemver, other).version) === 0;
  }
}

const STRICT: readonly FunctionDeclaration[] = [
  declare(
    'semver',
    global('string_to_semver', [STRING], SEMVER_TYPE, (text) => toSemver(textOf(text), false)),
  ),
  declare(
    'isSemver',
    global('is_semver_string', [STRING], BOOL, (text) => typeof read(textOf(text), false) !== 'string'),
  ),
  comparison('isGreaterThan', 'semver_is_greater_than', BOOL, (order) => order > 0),
  comparison('isLessThan', 'semver_is_less_than', BOOL, (order) => order < 0),
  comparison('compareTo', 'semver_compare_to', INT, BigInt),
  part('major', (version) => version.major),
  part('minor', (version) => version.minor),
  part('patch', (version) => version.patch),
];

const FREE: readonly FunctionDeclaration[] = [
  declare(
    'semver',
    global('string_bool_to_semver', [STRING, BOOL], SEMVER_TYPE, (text, normalize) =>
      toSemver(textOf(text), normalize === true),
    ),
  ),
  declare(
    'isSemver',
    global(
      'is_semver_string_bool',
      [STRING, BOOL],
      BOOL,
      (text, normalize) => typeof read(textOf(text), normalize === true) !== 'string',
    ),
  ),
];

/** All of it: what stored expressions may use. */
export const SEMVERS: Library = { name: 'semver', functions: [...STRICT, ...FREE] };

/** Without the second argument: what device selectors have had from the beginning. */
export const STRICT_SEMVERS: Library = { name: 'semver', functions: STRICT };

/** Throws a CelError for a text that is no version. */
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

/** A prerelease may have as many words as a text has room for, and costs say nothing of it. */
function compare(left: SemanticVersion, right: SemanticVersion): -1 | 0 | 1 {
  spend(WORD * Math.min(left.prerelease.length, right.prerelease.length));
  return compareSemver(left, right);
}

function versionOf(value: CelValue | undefined): SemanticVersion {
  return instanceOf(CelSemver, value).version;
}

function comparison(
  name: string,
  id: string,
  result: CelType,
  judge: (order: number) => CelValue,
): FunctionDeclaration {
  const call = (left?: CelValue, right?: CelValue) => judge(compare(versionOf(left), versionOf(right)));
  return declare(name, member(id, [SEMVER_TYPE, SEMVER_TYPE], result, call));
}

/** Numbers of versions are unsigned; ints are not, so the largest wrap. */
function part(name: string, read: (version: SemanticVersion) => bigint): FunctionDeclaration {
  const call = (value?: CelValue) => BigInt.asIntN(64, read(versionOf(value)));
  return declare(name, member(`semver_${name}`, [SEMVER_TYPE], INT, call));
}
