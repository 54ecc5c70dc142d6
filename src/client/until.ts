/**
 * What `waitFor` may wait for, in words: each condition is a predicate that can say what it wants and what is missing,
 * so that a wait which runs out of time ends with an error that tells both.
 */
import { isRecord } from '../util/json.js';
import {
  type AnyObject,
  conditionOf,
  conditionsOf,
  generationGap,
  phaseOf,
  printCondition,
  whyNotReady,
} from './readiness.js';
import { isTold, type Told } from './told.js';

/** A predicate that speaks of any object. */
export type UntilCondition = ((object: unknown) => boolean) & Told;

/** One that only an object that exists can meet. */
export type UntilPresent = UntilCondition & { readonly needsObject: true };

/** One that is met when there is no such object. */
export type UntilAbsent = ((object: unknown) => object is undefined) & Told;

/**
 * Conditions for `waitFor`. They compose: `until.and`, `until.or`, `until.not`; `until.that` makes one of a function.
 *
 * @example
 * await cluster.api(Pod).waitFor('web', until.condition('Ready'), { timeoutMs: 60_000 });
 */
export const until = Object.freeze({
  /** The object exists. */
  exists: present('it exists', () => undefined),
  /** There is no such object. */
  deleted: make<UntilAbsent>('it is deleted', (object) => {
    if (object === undefined) return undefined;
    const finalizers = metaOf(object).finalizers ?? [];
    const held = finalizers.length === 0 ? '' : ` and has finalizers ${finalizers.join(', ')}`;
    return metaOf(object).deletionTimestamp === undefined
      ? 'it exists and is not being deleted'
      : `it is being deleted${held}`;
  }),
  /** It is what its specification asks for: replicas, phase or conditions, by its kind. */
  ready: present('it is ready', whyNotReady),
  /** The status speaks of the specification as it is now. */
  generationObserved: present('its generation is observed', (object) => {
    if ((object as AnyObject).status?.['observedGeneration'] === undefined) return 'its status observes no generation';
    return generationGap(object as AnyObject);
  }),
  condition,
  phase,
  that,
  and,
  or,
  not,
});

/** A condition of the status has this value, `True` unless given. */
function condition(type: string, status: 'True' | 'False' | 'Unknown' = 'True'): UntilPresent {
  requireText('until.condition', type);
  return present(`condition ${type} is "${status}"`, (object) => {
    const found = conditionOf(object, type);
    if (found?.status === status) return undefined;
    if (found !== undefined) return `condition ${printCondition(found)}`;
    const others = conditionsOf(object).map((each) => each.type);
    return `it has no condition ${type}${others.length === 0 ? '' : `, only ${others.join(', ')}`}`;
  });
}

/** `status.phase` is one of these. */
function phase(...phases: readonly [string, ...string[]]): UntilPresent {
  for (const each of phases) requireText('until.phase', each);
  return present(`phase is ${phases.map((each) => `"${each}"`).join(' or ')}`, (object) => {
    const found = phaseOf(object);
    if (found !== undefined && phases.includes(found)) return undefined;
    return found === undefined ? 'it has no phase' : `its phase is "${found}"`;
  });
}

/** Whatever a function asks of an object that exists, under words for the error. */
function that<Object>(description: string, predicate: (object: Object) => boolean): UntilPresent {
  requireText('until.that', description);
  if (typeof predicate !== 'function') throw new TypeError('orchplane: until.that takes words and a function');
  return present(description, (object) => (predicate(object as Object) ? undefined : `not so: ${description}`));
}

/** All of them at once. */
function and(...all: readonly [UntilPresent, ...UntilPresent[]]): UntilPresent;
function and(...all: readonly [UntilCondition, ...UntilCondition[]]): UntilCondition;
function and(...all: readonly UntilCondition[]): UntilCondition {
  requireConditions('until.and', all);
  const needsObject = all.some((each) => 'needsObject' in each);
  const condition = make(all.map((each) => each.description).join(' and '), (object) => {
    const missing = all.map((each) => each.missing(object)).filter((text) => text !== undefined);
    return missing.length === 0 ? undefined : [...new Set(missing)].join(' and ');
  });
  return needsObject ? Object.assign(condition, { needsObject }) : condition;
}

/** Any one of them. */
function or(...any: readonly [UntilPresent, ...UntilPresent[]]): UntilPresent;
function or(...any: readonly [UntilCondition, ...UntilCondition[]]): UntilCondition;
function or(...any: readonly UntilCondition[]): UntilCondition {
  requireConditions('until.or', any);
  const needsObject = any.every((each) => 'needsObject' in each);
  const condition = make(any.map((each) => each.description).join(' or '), (object) => {
    const missing = any.map((each) => each.missing(object));
    return missing.includes(undefined) ? undefined : [...new Set(missing)].join(' and ');
  });
  return needsObject ? Object.assign(condition, { needsObject }) : condition;
}

/** The contrary; an object that does not exist meets it where the condition needs one that does. */
function not(one: UntilCondition): UntilCondition {
  requireConditions('until.not', [one]);
  const description = `not (${one.description})`;
  return make(description, (object) =>
    one.missing(object) === undefined ? `still so: ${one.description}` : undefined,
  );
}

function present(description: string, missing: (object: unknown) => string | undefined): UntilPresent {
  const condition = make(description, (object) => (object === undefined ? 'it does not exist' : missing(object)));
  return Object.assign(condition, { needsObject: true } as const);
}

function make<Condition extends Told = UntilCondition>(
  description: string,
  missing: (object: unknown) => string | undefined,
): Condition {
  const predicate = (object: unknown) => missing(object) === undefined;
  return Object.assign(predicate, { description, missing }) as unknown as Condition;
}

function requireText(where: string, text: unknown): void {
  if (typeof text !== 'string' || text === '')
    throw new TypeError(`orchplane: ${where} takes a text, not ${String(text)}`);
}

/** Other predicates have no words; `until.that` gives them some. */
function requireConditions(where: string, all: readonly unknown[]): void {
  if (all.length > 0 && all.every(isTold)) return;
  throw new TypeError(`orchplane: ${where} takes conditions of until; until.that('…', predicate) makes one`);
}

function metaOf(object: unknown): NonNullable<AnyObject['metadata']> {
  return (isRecord(object) ? (object as AnyObject).metadata : undefined) ?? {};
}
