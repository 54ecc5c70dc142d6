/**
 * The JSONPath of printer columns: `.spec.ports[*].name`, `.status.conditions[?(@.type=="Ready")].status`. It has the
 * syntax of the reference's command line, not that of RFC 9535.
 */
import { isRecord } from '../../util/json.js';

/** The text is no path. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/** Finds values in an object; undefined when the path leads where there can be nothing. */
export type JsonPath = (object: unknown) => readonly unknown[] | undefined;

type Step = (values: readonly unknown[], root: unknown) => readonly unknown[] | undefined;

/** Throws {@link JsonPathError}. */
export function parseJsonPath(text: string): JsonPath {
  const steps = new Parser(text).parse();
  return (object) => run(steps, [object], object);
}

function run(steps: readonly Step[], start: readonly unknown[], root: unknown): readonly unknown[] | undefined {
  let values: readonly unknown[] | undefined = start;
  for (const step of steps) {
    if (values === undefined) return undefined;
    values = step(values, root);
  }
  return values;
}

const NAME_END = new Set([' ', '.', '[', ']', ',', '=', '!', '>', '<', '(', ')', '+', '|', '&', '*', '{', '}']);

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): readonly Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) steps.push(this.#step());
    return steps;
  }

  #step(): Step {
    const char = this.#text[this.#at];
    if (char === '@' || char === '$') {
      this.#at++;
      return char === '$' ? (_values, root) => [root] : (values) => values;
    }
    if (char === ' ') {
      this.#at++;
      return (values) => values;
    }
    if (this.#text.startsWith('..', this.#at)) {
      this.#at += 1;
      // The next dot, or bracket, says what is looked for.
      if (this.#text[this.#at + 1] === '[') this.#at++;
      return descend;
    }
    if (char === '[') return this.#bracket();
    if (char === '.') {
      this.#at++;
      if (this.#text[this.#at] === '[') return this.#bracket();
      if (this.#text[this.#at] === '*') {
        this.#at++;
        return wildcard;
      }
      return fieldStep(this.#name());
    }
    throw new JsonPathError(`unexpected ${JSON.stringify(char)} at ${this.#at} in ${JSON.stringify(this.#text)}`);
  }

  #name(): string {
    let name = '';
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] as string;
      if (char === '\\' && this.#at + 1 < this.#text.length) {
        name += this.#text[this.#at + 1];
        this.#at += 2;
        continue;
      }
      if (NAME_END.has(char)) break;
      name += char;
      this.#at++;
    }
    return name;
  }

  #bracket(): Step {
    const inside = this.#upToBracket();
    if (inside.startsWith('?(') && inside.endsWith(')')) return filterStep(inside.slice(2, -1));
    if (inside.trim() === '*') return wildcard;
    const parts = splitOutsideQuotes(inside, ',');
    const steps = parts.map(bracketPart);
    if (steps.length === 1) return steps[0] as Step;
    return (values, root) => {
      const found: unknown[] = [];
      for (const step of steps) {
        const some = step(values, root);
        if (some === undefined) return undefined;
        found.push(...some);
      }
      return found;
    };
  }

  /** What stands between this bracket and its end; quotes and inner brackets are passed over. */
  #upToBracket(): string {
    const start = this.#at + 1;
    let depth = 0;
    let quote = '';
    for (let at = start; at < this.#text.length; at++) {
      const char = this.#text[at] as string;
      if (quote !== '') {
        if (char === '\\') at++;
        else if (char === quote) quote = '';
      } else if (char === '"' || char === "'") quote = char;
      else if (char === '[') depth++;
      else if (char === ']' && depth-- === 0) {
        this.#at = at + 1;
        return this.#text.slice(start, at);
      }
    }
    throw new JsonPathError(`unterminated array in ${JSON.stringify(this.#text)}`);
  }
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let quote = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (quote !== '') {
      if (char === '\\') at++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === separator) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

function bracketPart(part: string): Step {
  const text = part.trim();
  const quoted = /^(['"])([\s\S]*)\1$/.exec(text);
  if (quoted !== null) return fieldStep((quoted[2] as string).replace(/\\(.)/g, '$1'));
  const slice = /^(-?\d*)(:(-?\d*))?(:(\d*))?$/.exec(text);
  if (slice === null || text === '') throw new JsonPathError(`invalid array index ${text}`);
  const [, from = '', colon, to = '', , by = ''] = slice;
  return sliceStep(from, colon === undefined ? undefined : to, by);
}

function fieldStep(name: string): Step {
  if (name === '') return (values) => values;
  return (values) => values.flatMap((value) => (isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []));
}

/** Everything that lists and maps hold. */
const wildcard: Step = (values) => values.flatMap(inside);

function inside(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (!isRecord(value)) return [];
  return Object.keys(value)
    .sort()
    .map((key) => value[key]);
}

const descend: Step = (values) => {
  const found: unknown[] = [];
  const open = [...values].reverse();
  while (open.length > 0) {
    const value = open.pop();
    found.push(value);
    open.push(...[...inside(value)].reverse());
  }
  return found;
};

function sliceStep(from: string, to: string | undefined, by: string): Step {
  return (values) => {
    const found: unknown[] = [];
    for (const value of values) {
      if (value === null || value === undefined) continue;
      if (!Array.isArray(value)) return undefined;
      const at = (text: string, otherwise: number) => {
        const number = text === '' ? otherwise : Number(text);
        return number < 0 ? number + value.length : number;
      };
      const start = at(from, 0);
      const end = to === undefined ? start + 1 : at(to, value.length);
      // One beyond the end is a mistake, a range that reaches there is not.
      if (start < 0 || (to === undefined && start >= value.length)) return undefined;
      const stride = Math.max(1, Number(by || 1));
      for (let index = start; index < Math.min(end, value.length); index += stride) found.push(value[index]);
    }
    return found;
  };
}

const OPERATOR = /(==|!=|<=|>=|<|>)/;

function filterStep(text: string): Step {
  const match = splitAtOperator(text);
  const left = operand(match.left);
  const right = match.right === undefined ? undefined : operand(match.right);
  return (values, root) =>
    values.flatMap((value) =>
      (Array.isArray(value) ? value : []).filter((item) => {
        const found = left(item, root);
        if (right === undefined) return found.length > 0;
        const expected = right(item, root);
        if (found.length === 0 || expected.length === 0) return false;
        return compares(found[0], match.operator, expected[0]);
      }),
    );
}

function splitAtOperator(text: string): { left: string; operator: string; right: string | undefined } {
  const [head = ''] = text.split(OPERATOR);
  const operator = OPERATOR.exec(text.slice(head.length))?.[0];
  if (operator === undefined) return { left: text.trim(), operator: '', right: undefined };
  return { left: head.trim(), operator, right: text.slice(head.length + operator.length).trim() };
}

type Operand = (item: unknown, root: unknown) => readonly unknown[];

function operand(text: string): Operand {
  const quoted = /^(['"])([\s\S]*)\1$/.exec(text);
  if (quoted !== null) {
    const literal = [quoted[2] as string];
    return () => literal;
  }
  if (text === 'true' || text === 'false') {
    const literal = [text === 'true'];
    return () => literal;
  }
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    const literal = [Number(text)];
    return () => literal;
  }
  const steps = new Parser(text).parse();
  return (item, root) => run(steps, [item], root) ?? [];
}

function compares(left: unknown, operator: string, right: unknown): boolean {
  if (typeof left !== typeof right) return operator === '!=';
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return (left as number) < (right as number);
    case '<=':
      return (left as number) <= (right as number);
    case '>':
      return (left as number) > (right as number);
    default:
      return (left as number) >= (right as number);
  }
}
