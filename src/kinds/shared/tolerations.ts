/**
 * Tolerations of Pods and RuntimeClasses: their rules, what an update of a Pod may do to them, and how two lists of
 * them are merged. Whether a toleration tolerates a taint is a scheduler's question and not answered here.
 */
import type { FieldError } from '../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported } from '../../meta/field-error.js';
import { labelValueProblems, qualifiedNameProblems } from '../../meta/names.js';
import { validateTaintEffect } from './taints.js';

export interface Toleration {
  /** Absent with `Exists`: every key. */
  readonly key?: string | undefined;
  /** `Equal` when absent. */
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  /** Absent: every effect. */
  readonly effect?: string | undefined;
  /** Absent: for ever. */
  readonly tolerationSeconds?: number | null | undefined;
}

const OPERATORS = ['Equal', 'Exists'];

/** The rules of a list of tolerations. Equal ones may stand in it more than once. */
export function validateTolerations(path: string, tolerations: readonly Toleration[]): FieldError[] {
  return tolerations.flatMap((toleration, index) => validateToleration(keyPath(path, index), toleration));
}

function validateToleration(path: string, toleration: Toleration): FieldError[] {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const operatorPath = childPath(path, 'operator');
  const effectPath = childPath(path, 'effect');
  const found: FieldError[] = [];
  if (key !== '') {
    found.push(...qualifiedNameProblems(key).map((problem) => invalid(childPath(path, 'key'), key, problem)));
  } else if (operator !== 'Exists') {
    const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    found.push(invalid(operatorPath, operator, detail));
  }
  if (tolerationSeconds !== undefined && tolerationSeconds !== null && effect !== 'NoExecute') {
    found.push(invalid(effectPath, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  // A bad value is reported at the operator: it is the operator that says what a value may be.
  if (operator === 'Exists') {
    if (value !== '') found.push(invalid(operatorPath, value, "value must be empty when `operator` is 'Exists'"));
  } else if (operator === 'Equal' || operator === '') {
    const problems = labelValueProblems(value);
    if (problems.length > 0) found.push(invalid(operatorPath, value, problems.join(';')));
  } else {
    found.push(notSupported(operatorPath, operator, OPERATORS));
  }
  if (effect !== '') found.push(...validateTaintEffect(effectPath, effect));
  return found;
}

/**
 * The rules of a Pod's tolerations on update: each old one must still be there, with any `tolerationSeconds`; others
 * may be added. While one is missing nothing else is reported.
 */
export function validateTolerationsUpdate(
  path: string,
  tolerations: readonly Toleration[],
  previous: readonly Toleration[],
): FieldError[] {
  if (previous.every((old) => tolerations.some((toleration) => toleratesTheSame(toleration, old)))) {
    return validateTolerations(path, tolerations);
  }
  return [forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
}

/**
 * Both lists as one, in order, without those that another one makes superfluous; of equals the first stays. This is
 * how the tolerations of a RuntimeClass join those of a Pod.
 */
export function mergeTolerations<T extends Toleration>(first: readonly T[], second: readonly T[]): T[] {
  const all = [...first, ...second];
  const merged: T[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((kept) => covers(kept, toleration)) ||
      all.slice(index + 1).some((later) => !isSame(later, toleration) && covers(later, toleration));
    if (!isCovered) merged.push(toleration);
  }
  return merged;
}

/** True when `wide` tolerates everything that `narrow` does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const { key = '', operator = '', value = '', effect = '' } = wide;
  if (key !== (narrow.key ?? '') && !(key === '' && operator === 'Exists')) return false;
  if (effect !== '' && effect !== (narrow.effect ?? '')) return false;
  // Seconds count only for what evicts, and no number of them is as long as for ever.
  if (effect === 'NoExecute' && secondsOf(narrow) > secondsOf(wide)) return false;
  if (operator === 'Exists') return true;
  // A narrow one that leaves its operator out is not taken for Equal here. The server does not do so either.
  return (operator === 'Equal' || operator === '') && narrow.operator === 'Equal' && value === (narrow.value ?? '');
}

function secondsOf({ tolerationSeconds }: Toleration): number {
  return tolerationSeconds ?? Number.POSITIVE_INFINITY;
}

function isSame(left: Toleration, right: Toleration): boolean {
  return secondsOf(left) === secondsOf(right) && toleratesTheSame(left, right);
}

/** Equal but for the seconds. Absent and empty are the same. */
function toleratesTheSame(left: Toleration, right: Toleration): boolean {
  const fields = ['key', 'operator', 'value', 'effect'] as const;
  return fields.every((field) => (left[field] ?? '') === (right[field] ?? ''));
}
