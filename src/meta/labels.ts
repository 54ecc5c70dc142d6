/**
 * Label selectors: LabelSelector objects in specs, the text of `labelSelector=` (parsed by label-selector-text.ts), and
 * the matcher for both.
 *
 * Matching is the hot path of list and watch, so a selector contains its requirements compiled to functions.
 * spec: Parameters
 */
import { unreachable } from '../util/invariant.js';
import { getOrInsertComputed } from '../util/once.js';
import { childPath, type FieldError, forbidden, invalid, keyPath, required } from './field-error.js';
import {
  type LabelOperator,
  type LabelRequirement,
  parseInt64,
  readRequirements,
  sortedByKey,
  sortedSet,
} from './label-selector-text.js';
import { isLabelValue, labelValueProblems, qualifiedNameProblems } from './names.js';

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  /** All must match; sorted by key. */
  readonly requirements: readonly LabelRequirement[];
  /** The requirements compiled; for {@link matchesLabels} only. */
  readonly tests: readonly LabelTest[];
}

type LabelTest = (labels: Labels) => boolean;

/** The LabelSelector type of the API. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelSelectorExpression[];
}

export interface LabelSelectorExpression {
  readonly key: string;
  /** `In`, `NotIn`, `Exists` or `DoesNotExist` when valid. */
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Matches every object. */
export const everything: LabelSelector = Object.freeze({ requirements: [], tests: [] });

/** Matches no object; the meaning of an absent LabelSelector object. */
export const nothing: LabelSelector = Object.freeze({ requirements: [], tests: [() => false] });

const NO_LABELS: Labels = Object.freeze({});

/** True when all requirements match. Absent labels are equivalent to empty labels. */
export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  const present = labels ?? NO_LABELS;
  for (const test of selector.tests) if (!test(present)) return false;
  return true;
}

/**
 * Parses a `labelSelector` parameter. Throws SelectorError.
 *
 * @example
 * matchesLabels(parseLabelSelector('app in (web, api),!canary'), { app: 'web' }) // true
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return everything;
  return selectorOf(readRequirements(text));
}

/** The canonical text; parsing it returns an equal selector. */
export function printLabelSelector(selector: LabelSelector): string {
  return selector.requirements.map(printRequirement).join(',');
}

/** A selector that requires these labels. The labels must be valid. */
export function labelSelectorFrom(labels: Labels): LabelSelector {
  return selectorOf(Object.keys(labels).map((key) => ({ key, operator: '=', values: [labels[key] ?? ''] })));
}

const OBJECT_OPERATORS: ReadonlyMap<string, LabelOperator> = new Map<string, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/**
 * The matcher of a LabelSelector object: absent matches nothing, empty matches everything. It matches nothing if an
 * operator is unknown, which {@link labelSelectorObjectErrors} reports.
 */
export function labelSelectorFromObject(object: LabelSelectorObject | undefined): LabelSelector {
  if (object === undefined) return nothing;
  // A selector may have a hundred thousand values. Objects of the store are frozen throughout.
  const parts = [object, object.matchLabels, object.matchExpressions];
  return parts.every((part) => Object.isFrozen(part))
    ? getOrInsertComputed(selectors, object, selectorOfObject)
    : selectorOfObject(object);
}

const selectors = new WeakMap<LabelSelectorObject, LabelSelector>();

function selectorOfObject(object: LabelSelectorObject): LabelSelector {
  const requirements = [...labelSelectorFrom(object.matchLabels ?? {}).requirements];
  for (const { key, operator, values = [] } of object.matchExpressions ?? []) {
    const compiledOperator = OBJECT_OPERATORS.get(operator);
    if (compiledOperator === undefined) return nothing;
    requirements.push({ key, operator: compiledOperator, values: sortedSet(values) });
  }
  return selectorOf(requirements);
}

/** Whether a LabelSelector object selects these labels. For repeated matching, build a matcher instead. */
export function selectsLabels(object: LabelSelectorObject | undefined, labels: Labels | undefined): boolean {
  if (object === undefined) return false;
  // An object that was not validated may contain null.
  const wanted = object.matchLabels ?? NO_LABELS;
  if ((object.matchExpressions ?? []).length > 0) return matchesLabels(labelSelectorFromObject(object), labels);
  const present = labels ?? NO_LABELS;
  for (const key of Object.keys(wanted)) {
    if (!Object.hasOwn(present, key) || present[key] !== (wanted[key] ?? '')) return false;
  }
  return true;
}

/** Validates a LabelSelector object at `path`. */
export function labelSelectorObjectErrors(
  object: LabelSelectorObject,
  path: string,
  options: { allowInvalidValues?: boolean } = {},
): FieldError[] {
  const expressions = childPath(path, 'matchExpressions');
  return [
    ...labelErrors(object.matchLabels ?? {}, childPath(path, 'matchLabels')),
    ...(object.matchExpressions ?? []).flatMap((expression, index) =>
      labelExpressionErrors(expression, keyPath(expressions, index), options),
    ),
  ];
}

/** Validates one expression of a LabelSelector object. */
export function labelExpressionErrors(
  expression: LabelSelectorExpression,
  path: string,
  options: { allowInvalidValues?: boolean } = {},
): FieldError[] {
  const { key, operator, values = [] } = expression;
  const valuesPath = childPath(path, 'values');
  const found: FieldError[] = [];
  if (!OBJECT_OPERATORS.has(operator)) {
    found.push(invalid(childPath(path, 'operator'), operator, 'not a valid selector operator'));
  } else if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) found.push(required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (values.length > 0) {
    found.push(forbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  found.push(...qualifiedNameProblems(key).map((problem) => invalid(childPath(path, 'key'), key, problem)));
  if (options.allowInvalidValues === true) return found;
  for (const [index, value] of values.entries()) {
    found.push(...labelValueProblems(value).map((problem) => invalid(keyPath(valuesPath, index), value, problem)));
  }
  return found;
}

/** Validates labels. All errors have the path of the map and are sorted by key. */
export function labelErrors(labels: Labels, path: string): FieldError[] {
  if (areValid(labels)) return [];
  const found: FieldError[] = [];
  for (const key of Object.keys(labels).sort()) {
    const value = labels[key] ?? '';
    for (const problem of qualifiedNameProblems(key)) found.push(invalid(path, key, problem));
    for (const problem of labelValueProblems(value)) found.push(invalid(path, value, problem));
  }
  return found;
}

function areValid(labels: Labels): boolean {
  for (const key in labels) {
    if (!isLabelValue(labels[key] ?? '')) return false;
    if (validKeys.has(key)) continue;
    if (qualifiedNameProblems(key).length > 0) return false;
    if (validKeys.size >= MAX_VALID_KEYS) validKeys.clear();
    validKeys.add(key);
  }
  return true;
}

/** A cache of valid keys: objects use few different keys. */
const validKeys = new Set<string>();
const MAX_VALID_KEYS = 1_000;

function selectorOf(requirements: readonly LabelRequirement[]): LabelSelector {
  if (requirements.length === 0) return everything;
  const sorted = sortedByKey(requirements);
  return {
    requirements: sorted,
    tests: sorted.length > MAX_SINGLE_TESTS ? [compileMany(sorted)] : sorted.map(compile),
  };
}

/** A longer selector is tested by the labels of the object, because it may have a hundred thousand requirements. */
const MAX_SINGLE_TESTS = 16;

/** One test for all requirements. Its cost depends on the number of labels. */
function compileMany(requirements: readonly LabelRequirement[]): LabelTest {
  const exact = exactValues(requirements);
  if (exact !== undefined) {
    return (labels) => {
      let found = 0;
      for (const key of Object.keys(labels)) {
        const wanted = exact.get(key);
        if (wanted === undefined) continue;
        if (labels[key] !== wanted) return false;
        found++;
      }
      return found === exact.size;
    };
  }
  const byKey = new Map<string, LabelRequirement[]>();
  for (const each of requirements) {
    const ofKey = byKey.get(each.key);
    // An array that grows from nothing has room for seventeen.
    if (ofKey === undefined) byKey.set(each.key, [each]);
    else ofKey.push(each);
  }
  const requiredCount = [...byKey.values()].filter(isRequired).length;
  // Only for labels that objects have: a watch keeps its selector, and a test needs more memory than its requirements.
  const tests = new Map<string, KeyTest>();
  return (labels) => {
    let found = 0;
    for (const key of Object.keys(labels)) {
      const ofKey = byKey.get(key);
      if (ofKey === undefined) continue;
      if (!getOrInsertComputed(tests, key, () => compileKey(ofKey))(labels[key] ?? '')) return false;
      if (isRequired(ofKey)) found++;
    }
    return found === requiredCount;
  };
}

/** Tests the value of a label. */
type KeyTest = (value: string) => boolean;

/** Whether an object without the label does not match. */
function isRequired(ofKey: readonly LabelRequirement[]): boolean {
  return ofKey.some(({ operator }) => operator !== '!' && operator !== '!=' && operator !== 'notin');
}

/** The values of a selector that requires one value for each of its keys; undefined: it is of another form. */
function exactValues(requirements: readonly LabelRequirement[]): ReadonlyMap<string, string> | undefined {
  const exact = new Map<string, string>();
  for (const { key, operator, values } of requirements) {
    const [value, ...others] = values;
    if (operator !== '=' || value === undefined || others.length > 0 || exact.has(key)) return undefined;
    exact.set(key, value);
  }
  return exact;
}

function compileKey(requirements: readonly LabelRequirement[]): KeyTest {
  let isForbidden = false;
  let allowed: ReadonlySet<string> | undefined;
  const excluded = new Set<string>();
  let least: bigint | undefined;
  let most: bigint | undefined;
  for (const { operator, values } of requirements) {
    if (operator === '!') isForbidden = true;
    else if (operator === '!=' || operator === 'notin') for (const value of values) excluded.add(value);
    else if (operator === '=' || operator === '==' || operator === 'in') {
      const before = allowed;
      allowed = new Set(before === undefined ? values : values.filter((value) => before.has(value)));
    } else if (operator !== 'exists') {
      const bound = parseInt64(values[0] ?? '');
      if (bound === undefined) isForbidden = true;
      else if (operator === 'gt') least = least === undefined || bound > least ? bound : least;
      else most = most === undefined || bound < most ? bound : most;
    }
  }
  return (value) => {
    if (isForbidden || excluded.has(value) || allowed?.has(value) === false) return false;
    if (least === undefined && most === undefined) return true;
    const number = parseInt64(value);
    return number !== undefined && (least === undefined || number > least) && (most === undefined || number < most);
  };
}

// Only own keys are labels: `constructor` and `__proto__` are ordinary keys. Reading the value first avoids most calls of
// `hasOwn`.
function compile({ key, operator, values }: LabelRequirement): LabelTest {
  const [first = ''] = values;
  switch (operator) {
    case 'exists':
      return (labels) => labels[key] !== undefined && Object.hasOwn(labels, key);
    case '!':
      return (labels) => labels[key] === undefined || !Object.hasOwn(labels, key);
    case '=':
    case '==':
      return (labels) => labels[key] === first && Object.hasOwn(labels, key);
    case '!=':
      return (labels) => labels[key] !== first || !Object.hasOwn(labels, key);
    case 'in': {
      const set = new Set<string | undefined>(values);
      return (labels) => set.has(labels[key]) && Object.hasOwn(labels, key);
    }
    case 'notin': {
      const set = new Set<string | undefined>(values);
      return (labels) => !set.has(labels[key]) || !Object.hasOwn(labels, key);
    }
    case 'gt':
    case 'lt':
      return compileComparison(key, operator, parseInt64(first));
    default:
      return unreachable(operator);
  }
}

function compileComparison(key: string, operator: 'gt' | 'lt', bound: bigint | undefined): LabelTest {
  if (bound === undefined) return () => false;
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? parseInt64(labels[key] ?? '') : undefined;
    if (value === undefined) return false;
    return operator === 'gt' ? value > bound : value < bound;
  };
}

function printRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values.join(',')}`;
    case 'lt':
      return `${key}<${values.join(',')}`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}
