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
  const kept = new Set(tolerations.map(contentOf));
  if (previous.every((old) => kept.has(contentOf(old)))) return validateTolerations(path, tolerations);
  return [forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
}

/**
 * Both lists as one, in order, without those that another one makes superfluous; of equals the first stays. This is
 * how the tolerations of a RuntimeClass join those of a Pod.
 */
export function mergeTolerations<T extends Toleration>(first: readonly T[], second: readonly T[]): T[] {
  const all = [...first, ...second];
  const isSuperfluous = coveredByLater(all);
  const kept = new Coverage();
  return all.filter((toleration, index) => {
    if (isSuperfluous[index] || kept.has(toleration) || kept.covers(toleration)) return false;
    kept.add(toleration);
    return true;
  });
}

/** For each whether one that comes after it, and is not the same, tolerates everything that it does. */
function coveredByLater(tolerations: readonly Toleration[]): readonly boolean[] {
  const later = new Coverage();
  const found: boolean[] = [];
  for (let index = tolerations.length - 1; index >= 0; index--) {
    const toleration = tolerations[index] ?? {};
    found.push(later.covers(toleration));
    later.add(toleration);
  }
  return found.reverse();
}

/** The part of a toleration without its seconds. Absent and empty are the same. */
function contentOf({ key = '', operator = '', value = '', effect = '' }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

/**
 * Tolerations, and what they cover together. Those that cover the same but for the seconds are filed in one place, of
 * which the two that last longest are enough: whoever asks may be one of them, and then the other answers.
 */
class Coverage {
  readonly #identities = new Set<string>();
  readonly #longest = new Map<string, readonly Filed[]>();

  has(toleration: Toleration): boolean {
    return this.#identities.has(identityOf(toleration));
  }

  add(toleration: Toleration): void {
    const identity = identityOf(toleration);
    if (this.#identities.has(identity)) return;
    this.#identities.add(identity);
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    // What has neither operator covers nothing but itself.
    if (!['', ...OPERATORS].includes(operator)) return;
    const place = placeOf(key, effect, operator === 'Exists' ? undefined : value);
    // Seconds count only for what evicts.
    const seconds = effect === 'NoExecute' ? secondsOf(toleration) : Number.POSITIVE_INFINITY;
    const filed = [...(this.#longest.get(place) ?? []), { identity, seconds }];
    this.#longest.set(place, filed.sort((left, right) => compareSeconds(right, left)).slice(0, 2));
  }

  /** True when one of them, other than the same one, tolerates everything that this one does. */
  covers(narrow: Toleration): boolean {
    const identity = identityOf(narrow);
    const seconds = secondsOf(narrow);
    return widerPlaces(narrow).some((place) =>
      this.#longest.get(place)?.some((wide) => wide.identity !== identity && wide.seconds >= seconds),
    );
  }
}

interface Filed {
  readonly identity: string;
  readonly seconds: number;
}

/** Where those that cover this one are filed, if their seconds allow. */
function widerPlaces({ key = '', operator = '', value = '', effect = '' }: Toleration): string[] {
  return ['', effect].flatMap((wideEffect) => [
    placeOf('', wideEffect, undefined),
    placeOf(key, wideEffect, undefined),
    // A narrow one that leaves its operator out is not taken for Equal here. The server does not do so either.
    ...(operator === 'Equal' ? [placeOf(key, wideEffect, value)] : []),
  ]);
}

/** Without a value: every value. */
function placeOf(key: string, effect: string, value: string | undefined): string {
  return JSON.stringify(value === undefined ? [key, effect] : [key, effect, value]);
}

function identityOf(toleration: Toleration): string {
  return `${contentOf(toleration)} ${secondsOf(toleration)}`;
}

/** No number of seconds is as long as for ever. */
function secondsOf({ tolerationSeconds }: Toleration): number {
  return tolerationSeconds ?? Number.POSITIVE_INFINITY;
}

function compareSeconds(left: Filed, right: Filed): number {
  return left.seconds === right.seconds ? 0 : left.seconds - right.seconds;
}
