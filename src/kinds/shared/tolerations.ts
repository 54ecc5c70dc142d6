/**
 * Tolerations of Pods and RuntimeClasses: validation, validation of updates, and merging of two lists.
 * Matching tolerations against taints is the scheduler's task and not part of this file.
 */

import { childPath, type FieldError, forbidden, invalid, keyPath, notSupported } from '../../meta/field-error.js';
import { labelValueProblems, qualifiedNameProblems } from '../../meta/names.js';
import { append } from '../../util/arrays.js';
import { validateTaintEffect } from './taints.js';

export interface Toleration {
  /** Absent with `Exists`: matches every key. */
  readonly key?: string | undefined;
  /** `Equal` when absent. */
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  /** Absent: matches every effect. */
  readonly effect?: string | undefined;
  /** Absent: without time limit. */
  readonly tolerationSeconds?: number | null | undefined;
}

const OPERATORS = ['Equal', 'Exists'];

/** Validates a list of tolerations. Duplicates are valid. */
export function validateTolerations(path: string, tolerations: readonly Toleration[]): FieldError[] {
  return tolerations.flatMap((toleration, index) => validateToleration(keyPath(path, index), toleration));
}

function validateToleration(path: string, toleration: Toleration): FieldError[] {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const operatorPath = childPath(path, 'operator');
  const effectPath = childPath(path, 'effect');
  const found: FieldError[] = [];
  if (key !== '') {
    append(
      found,
      qualifiedNameProblems(key).map((problem) => invalid(childPath(path, 'key'), key, problem)),
    );
  } else if (operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    found.push(invalid(operatorPath, operator, detail));
  }
  if (tolerationSeconds !== undefined && tolerationSeconds !== null && effect !== 'NoExecute') {
    found.push(invalid(effectPath, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  // As in the reference server, an invalid value is reported at the path of the operator.
  if (operator === 'Exists') {
    if (value !== '') found.push(invalid(operatorPath, value, "value must be empty when `operator` is 'Exists'"));
  } else if (operator === 'Equal' || operator === '') {
    const problems = labelValueProblems(value);
    if (problems.length > 0) found.push(invalid(operatorPath, value, problems.join(';')));
  } else {
    found.push(notSupported(operatorPath, operator, OPERATORS));
  }
  if (effect !== '') append(found, validateTaintEffect(effectPath, effect));
  return found;
}

/**
 * Validates an update of a Pod's tolerations: existing ones may change only in `tolerationSeconds`, and new ones may be
 * added. If an existing one is missing, nothing else is reported.
 */
export function validateTolerationsUpdate(
  path: string,
  tolerations: readonly Toleration[],
  previous: readonly Toleration[],
): FieldError[] {
  const kept = new Set(tolerations.map(contentOf));
  if (previous.every((old) => kept.has(contentOf(old)))) return validateTolerations(path, tolerations);
  return [forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
}

/**
 * Concatenates two lists and removes tolerations that another one covers; of equal ones the first stays. Used to merge
 * the tolerations of a RuntimeClass into those of a Pod.
 */
export function mergeTolerations<T extends Toleration>(first: readonly T[], second: readonly T[]): T[] {
  const all = [...first, ...second];
  const isCovered = coveredByLater(all);
  const kept = new TolerationCoverage();
  return all.filter((toleration, index) => {
    if (isCovered[index] || kept.has(toleration) || kept.covers(toleration)) return false;
    kept.add(toleration);
    return true;
  });
}

/** For each toleration: whether a later, different one tolerates everything that it tolerates. */
function coveredByLater(tolerations: readonly Toleration[]): readonly boolean[] {
  const later = new TolerationCoverage();
  const found: boolean[] = [];
  for (let index = tolerations.length - 1; index >= 0; index--) {
    const toleration = tolerations[index] ?? {};
    found.push(later.covers(toleration));
    later.add(toleration);
  }
  return found.reverse();
}

/** A key of all fields except `tolerationSeconds`. Absent and empty fields are equal. */
function contentOf({ key = '', operator = '', value = '', effect = '' }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

/**
 * A set of tolerations, indexed by what they cover. Tolerations that differ only in their seconds share one key. Per key
 * the two with the most seconds are enough: if one of them is the toleration in question, the other one decides.
 */
export class TolerationCoverage {
  readonly #identities = new Set<string>();
  readonly #longest = new Map<string, readonly Covering[]>();

  has(toleration: Toleration): boolean {
    return this.#identities.has(identityOf(toleration));
  }

  add(toleration: Toleration): void {
    const identity = identityOf(toleration);
    if (this.#identities.has(identity)) return;
    this.#identities.add(identity);
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    // A toleration with an unknown operator covers only itself.
    if (!['', ...OPERATORS].includes(operator)) return;
    const coverageKey = coverageKeyOf(key, effect, operator === 'Exists' ? undefined : value);
    // Only NoExecute tolerations are limited by their seconds.
    const seconds = effect === 'NoExecute' ? secondsOf(toleration) : Number.POSITIVE_INFINITY;
    const covering = [...(this.#longest.get(coverageKey) ?? []), { identity, seconds }];
    this.#longest.set(coverageKey, covering.sort((left, right) => compareSeconds(right, left)).slice(0, 2));
  }

  /** True if another toleration of the set tolerates everything that this one tolerates. */
  covers(narrow: Toleration): boolean {
    const identity = identityOf(narrow);
    const seconds = secondsOf(narrow);
    return coveringKeys(narrow).some((key) =>
      this.#longest.get(key)?.some((wide) => wide.identity !== identity && wide.seconds >= seconds),
    );
  }
}

interface Covering {
  readonly identity: string;
  readonly seconds: number;
}

/** The keys of tolerations that cover this one if their seconds suffice. */
function coveringKeys({ key = '', operator = '', value = '', effect = '' }: Toleration): string[] {
  return ['', effect].flatMap((wideEffect) => [
    coverageKeyOf('', wideEffect, undefined),
    coverageKeyOf(key, wideEffect, undefined),
    // As in the reference server, an absent operator does not count as Equal here.
    ...(operator === 'Equal' ? [coverageKeyOf(key, wideEffect, value)] : []),
  ]);
}

/** `value` is undefined for tolerations that match every value. */
function coverageKeyOf(key: string, effect: string, value: string | undefined): string {
  return JSON.stringify(value === undefined ? [key, effect] : [key, effect, value]);
}

function identityOf(toleration: Toleration): string {
  return `${contentOf(toleration)} ${secondsOf(toleration)}`;
}

/** An absent time limit counts as infinite. One above 2^53 is a bigint. */
function secondsOf({ tolerationSeconds }: Toleration): number {
  return Number(tolerationSeconds ?? Number.POSITIVE_INFINITY);
}

function compareSeconds(left: Covering, right: Covering): number {
  return left.seconds === right.seconds ? 0 : left.seconds - right.seconds;
}
