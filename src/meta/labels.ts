/**
 * Label selectors: the text of `labelSelector=`, the LabelSelector object inside specs, and the matcher both become.
 *
 * Matching is the hot path of list and watch, so a selector carries its requirements compiled to small tests.
 * spec: Label selectors
 */
import { unreachable } from '../util/invariant.js';
import type { FieldError } from './field-error.js';
import { childPath, forbidden, invalid, keyPath, printFieldError, required } from './field-error.js';
import { isLabelValue, labelValueProblems, qualifiedNameProblems } from './names.js';

/** A selector text that cannot be read; the message is what a client is told. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Sorted, without duplicates; empty for `exists` and `!`. */
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  /** All must hold; ordered by key. */
  readonly requirements: readonly LabelRequirement[];
  /** The requirements compiled; for {@link matchesLabels} only. */
  readonly tests: readonly LabelTest[];
}

type LabelTest = (labels: Labels) => boolean;

/** The LabelSelector of the API, as it stands in a spec. */
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

/** Matches no object: what an absent LabelSelector object means. */
export const nothing: LabelSelector = Object.freeze({ requirements: [], tests: [() => false] });

const NO_LABELS: Labels = Object.freeze({});

/** True when all requirements hold. Absent labels are the same as none. */
export function matchesLabels(selector: LabelSelector, labels: Labels | undefined): boolean {
  const present = labels ?? NO_LABELS;
  for (const test of selector.tests) if (!test(present)) return false;
  return true;
}

/**
 * Reads the text of a `labelSelector` parameter. Throws a SelectorError.
 *
 * @example
 * matchesLabels(parseLabelSelector('app in (web, api),!canary'), { app: 'web' }) // true
 */
export function parseLabelSelector(text: string): LabelSelector {
  if (text === '') return everything;
  return selectorOf(new SelectorReader(scan(text)).read());
}

/** The canonical text; parsing it gives the same selector. */
export function printLabelSelector(selector: LabelSelector): string {
  return selector.requirements.map(printRequirement).join(',');
}

/** A selector that asks for exactly these labels. The labels must be valid. */
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
 * The matcher of a LabelSelector object; absent means nothing, empty means everything. An expression with an unknown
 * operator, which {@link labelSelectorObjectErrors} reports, makes it match nothing.
 */
export function labelSelectorFromObject(object: LabelSelectorObject | undefined): LabelSelector {
  if (object === undefined) return nothing;
  const requirements = [...labelSelectorFrom(object.matchLabels ?? {}).requirements];
  for (const { key, operator, values = [] } of object.matchExpressions ?? []) {
    const known = OBJECT_OPERATORS.get(operator);
    if (known === undefined) return nothing;
    requirements.push({ key, operator: known, values: sortedSet(values) });
  }
  return selectorOf(requirements);
}

/** Whether a LabelSelector object selects these labels. For a single question: a matcher answers many faster. */
export function selectsLabels(object: LabelSelectorObject | undefined, labels: Labels | undefined): boolean {
  if (object === undefined) return false;
  // In a state that nobody judged, null may stand for nothing.
  const wanted = object.matchLabels ?? NO_LABELS;
  if ((object.matchExpressions ?? []).length > 0) return matchesLabels(labelSelectorFromObject(object), labels);
  const present = labels ?? NO_LABELS;
  for (const key of Object.keys(wanted)) {
    if (!Object.hasOwn(present, key) || present[key] !== (wanted[key] ?? '')) return false;
  }
  return true;
}

/** What is wrong with a LabelSelector object at `path`. */
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

/** What is wrong with one expression of a selector object. */
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

/** What is wrong with a map of labels; every fault is reported at the map itself, in the order of the keys. */
export function labelErrors(labels: Labels, path: string): FieldError[] {
  if (areGood(labels)) return [];
  const found: FieldError[] = [];
  for (const key of Object.keys(labels).sort()) {
    const value = labels[key] ?? '';
    for (const problem of qualifiedNameProblems(key)) found.push(invalid(path, key, problem));
    for (const problem of labelValueProblems(value)) found.push(invalid(path, value, problem));
  }
  return found;
}

function areGood(labels: Labels): boolean {
  for (const key in labels) {
    if (!isLabelValue(labels[key] ?? '')) return false;
    if (goodKeys.has(key)) continue;
    if (qualifiedNameProblems(key).length > 0) return false;
    if (goodKeys.size >= MOST_GOOD_KEYS) goodKeys.clear();
    goodKeys.add(key);
  }
  return true;
}

/** Values differ from object to object, but keys are the same few. */
const goodKeys = new Set<string>();
const MOST_GOOD_KEYS = 1_000;

function selectorOf(requirements: readonly LabelRequirement[]): LabelSelector {
  if (requirements.length === 0) return everything;
  // Stable, so that requirements of one key keep their order.
  const sorted = [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return { requirements: sorted, tests: sorted.map(compile) };
}

function sortedSet(values: Iterable<string>): string[] {
  return [...new Set(values)].sort();
}

// Only own keys are labels: `constructor` and `__proto__` are keys like any other. The value is read first, because
// ownership then needs asking only of what is there.
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

function parseInt64(text: string): bigint | undefined {
  // No label value is longer than 63 characters, but a requirement's value is checked for that only later.
  if (text.length > 100 || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value === BigInt.asIntN(64, value) ? value : undefined;
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

type TokenKind = 'word' | 'end' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<' | 'in' | 'notin';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!(),><])|([^ \t\r\n=!(),><\0]+))\0?/gy;

/** Splits at whitespace and symbols. A NUL ends a token, and the whole text where no token stands before it. */
function scan(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [, symbol, word = ''] of text.matchAll(TOKEN)) {
    if (symbol !== undefined) tokens.push({ kind: symbol as TokenKind, text: symbol });
    else tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'word', text: word });
  }
  return tokens;
}

const OPERATORS: ReadonlyMap<TokenKind, LabelOperator> = new Map<TokenKind, LabelOperator>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);

/** Reads tokens by the grammar. One reader reads one selector. */
class SelectorReader {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  read(): LabelRequirement[] {
    const found: LabelRequirement[] = [];
    if (this.#peek().kind === 'end') return found;
    if (!this.#startsRequirement()) {
      throw new SelectorError(`found '${this.#peek().text}', expected: !, identifier, or 'end of string'`);
    }
    for (;;) {
      found.push(this.#requirement());
      const next = this.#take();
      if (next.kind === 'end') return found;
      if (next.kind !== ',') throw new SelectorError(`found '${next.text}', expected: ',' or 'end of string'`);
      if (!this.#startsRequirement()) {
        throw new SelectorError(`found '${this.#peek().text}', expected: identifier after ','`);
      }
    }
  }

  #startsRequirement(): boolean {
    const { kind } = this.#peek();
    return kind === 'word' || kind === '!';
  }

  #requirement(): LabelRequirement {
    const negated = this.#peek().kind === '!';
    if (negated) this.#take();
    const key = this.#word();
    const keyProblems = qualifiedNameProblems(key);
    if (keyProblems.length > 0) fail(printFieldError(invalid('<nil>', key, keyProblems.join('; '))));
    if (negated) return { key, operator: '!', values: [] };
    const { kind } = this.#peek();
    if (kind === 'end' || kind === ',') return { key, operator: 'exists', values: [] };
    const operator = this.#operator();
    const values = sortedSet(operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()]);
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  #word(): string {
    const token = this.#take();
    if (token.kind !== 'word') fail(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #operator(): LabelOperator {
    // The one place where `in` and `notin` are not words.
    const token = this.#tokens[this.#position++] ?? END;
    const operator = OPERATORS.get(token.kind);
    return operator ?? fail(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  /** The right side of `=` and its like; nothing there means the empty value. */
  #value(): string {
    const { kind } = this.#peek();
    return kind === 'end' || kind === ',' ? '' : this.#word();
  }

  /** `(a, b)`. Nothing between two commas, or between a comma and a parenthesis, is the empty value. */
  #values(): string[] {
    const open = this.#take();
    if (open.kind !== '(') fail(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind !== 'word' && first.kind !== ',' && first.kind !== ')') {
      fail(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = first.kind === ')' ? [''] : this.#valueList();
    this.#take();
    return values;
  }

  /** Up to the parenthesis, which stays. `(a,,)` fails: two commas in a row ask for a word after them. */
  #valueList(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      const next = this.#peek();
      if (token.kind === 'word') {
        values.push(token.text);
        if (next.kind === ')') return values;
        if (next.kind !== ',') fail(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0 || next.kind === ')' || next.kind === ',') values.push('');
        if (next.kind === ')') return values;
        if (next.kind === ',') this.#take();
      } else {
        fail(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }

  #peek(): Token {
    const token = this.#tokens[this.#position] ?? END;
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'word', text: token.text } : token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#position++;
    return token;
  }
}

function checkValues(key: string, operator: LabelOperator, values: readonly string[]): void {
  const errors: FieldError[] = [];
  const paths = values.map((_, index) => keyPath('values', index));
  if (operator === 'gt' || operator === 'lt') {
    for (const [index, value] of values.entries()) {
      if (parseInt64(value) !== undefined) continue;
      errors.push(invalid(paths[index] ?? '', value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  for (const [index, value] of values.entries()) {
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.push(invalid(keyPath(paths[index] ?? '', key), value, problems.join('; ')));
  }
  const texts = [...new Set(errors.map(printFieldError))];
  if (texts.length > 0) fail(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
}

function fail(why: string): never {
  throw new SelectorError(`unable to parse requirement: ${why}`);
}
