/**
 * Expressions that try to block the process, fill its memory or reach JavaScript objects. Each must end in a value or
 * an error, soon. The tests measure CPU time, so other work on the machine does not count, and the limits are many
 * times the usual time.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { compile, jsonValue, plan } from '../../src/cel/index.js';
import {
  CelCostLimitError,
  CelError,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  type CelValue,
} from '../../src/cel/values.js';
import { cpuTimer } from '../fixtures/cpu-time.js';
import { environment, variables } from '../unit/cel/evaluate-fixtures.js';

const COST_LIMIT = 1_000_000;
const MOST_MILLISECONDS = 1000;
const CANCELLED = 'operation cancelled: actual cost limit exceeded';

const thousand = Array.from({ length: 1000 }, (_, index) => index);
const letters = `${'a'.repeat(100_000)}!`;
const world: ReadonlyMap<string, CelValue> = new Map<string, CelValue>([
  ...variables,
  ['s', letters],
  ['t', 'ab'.repeat(50)],
  ['ds', letters],
  ['li', jsonValue(thousand)],
  ['dl', jsonValue(thousand)],
  ['ls', jsonValue(thousand.map((index) => `item-${index}`))],
  [
    'dy',
    jsonValue({
      ...{ a: 1, l: [1, 2], s: 'x' },
      map: Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, 1])),
      rows: Array.from({ length: 300 }, () => thousand.slice(0, 300)),
      small: thousand.map(() => 5e-324),
      digits: `${'1'.repeat(1_000_000)}:00`,
      number: '1'.repeat(1_000_000),
    }),
  ],
  ['dn', jsonValue('\ud83d broken \ude00')],
]);

interface Ending {
  /** The outcome: `issue`, `error`, `cost` or `value`. */
  readonly how: 'issue' | 'error' | 'cost' | 'value';
  readonly message: string;
  readonly value?: CelValue;
  readonly cost: number;
  readonly milliseconds: number;
}

const table: string[] = [];

afterAll(() => {
  // The figures are for information; nothing is asserted on them here.
  process.stdout.write(`${['  CPU ms       cost  ended  expression', ...table].join('\n')}\n`);
});

function attempt(expression: string): Ending {
  const spentMs = cpuTimer();
  const ending = outcome(expression);
  const milliseconds = spentMs();
  const opening = JSON.stringify(expression.slice(0, 70)).slice(1, -1);
  const shown = expression.length > 70 ? `${opening}… (${expression.length})` : opening;
  table.push(
    `${milliseconds.toFixed(1).padStart(8)} ${String(ending.cost).padStart(10)}  ${ending.how.padEnd(5)}  ${shown}`,
  );
  return { ...ending, milliseconds };
}

function outcome(expression: string): Omit<Ending, 'milliseconds'> {
  const compiled = compile(expression, environment);
  if (compiled.checked === undefined) {
    expect(compiled.issues.length).toBeGreaterThan(0);
    return { how: 'issue', message: compiled.text, cost: 0 };
  }
  try {
    const { value, error, cost } = plan(compiled.checked, environment).evaluate(world, { costLimit: COST_LIMIT });
    if (error === undefined) return { how: 'value', message: '', value, cost };
    expect(error instanceof CelError || error instanceof CelCostLimitError).toBe(true);
    return { how: error instanceof CelCostLimitError ? 'cost' : 'error', message: error.message, cost };
  } catch (error) {
    // Planning rejects expressions that can never succeed.
    if (error instanceof CelError) return { how: 'error', message: error.message, cost: 0 };
    throw error;
  }
}

/** No JavaScript value may leak: no function, no class, no plain object, and no text of one. */
function isPlain(value: CelValue | undefined): boolean {
  if (typeof value === 'string') return !/\[native code]|\[object |class \w+ \{|function/.test(value);
  if (typeof value === 'function' || typeof value === 'undefined') return false;
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Function.prototype || prototype === null) return false;
  if (value instanceof CelList)
    return Array.from({ length: Math.min(value.size, 100) }, (_, index) => value.at(index)).every(isPlain);
  if (value instanceof CelMap) return [...value.keys()].every((key) => isPlain(value.get(key)));
  if (value instanceof CelObject) return [...value.fieldNames()].every((name) => isPlain(value.get(name)));
  return value instanceof CelOpaque || value.constructor.name.startsWith('Cel');
}

function endsSoon(expression: string): Ending {
  const ending = attempt(expression);
  // One assertion for each value: some have tens of thousands of keys.
  if (ending.how === 'value')
    expect(isPlain(ending.value), `the value of ${expression.slice(0, 200)} is plain`).toBe(true);
  if (ending.how === 'cost') expect(ending.message).toBe(CANCELLED);
  expect(ending.milliseconds).toBeLessThan(MOST_MILLISECONDS);
  return ending;
}

const text = (value: string): string => `'${value.replaceAll('\\', '\\\\')}'`;

/** `cel.bind(a1, first, cel.bind(a2, next(a1), …))`. */
function bound(count: number, first: string, next: (before: string) => string, result = `size(a${count}) > 0`): string {
  let expression = result;
  for (let at = count; at > 0; at--)
    expression = `cel.bind(a${at}, ${at === 1 ? first : next(`a${at - 1}`)}, ${expression})`;
  return expression;
}

describe('regular expressions', () => {
  const patterns = [
    '(a+)+$',
    '(a|aa)+$',
    '(.*)*x',
    '^(a|a?)+$',
    '(x+x+)+y',
    '(a*)*b',
    '^(a?){500}a{500}b',
    '((a{1,10}){1,10}){1,10}$',
    '.{1000}x',
    '(.?){1000}x',
    'a.{998}b|b.{998}a',
    '(a|b|ab)*c{500}',
    '(?i)(k|K|a)*\\pL{300}\\P{Lu}$',
    '(\\b|\\B)*(^|$|a)*x',
    '(?m)(^.*$)*z',
    '[^b]*[^c]*[^d]*[^e]*[^f]*z',
    '(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)x',
  ];
  test.each(patterns)('matches terminates soon for %s', (pattern) => {
    const { how, value } = endsSoon(`s.matches(${text(pattern)})`);
    if (how === 'value') expect(typeof value).toBe('boolean');
    else expect(how).toBe('cost');
    endsSoon(`matches(s, ${text(pattern)})`);
    endsSoon(`li.all(x, !s.matches(${text(pattern)}))`);
  });

  test.each([...patterns, 'a*b|a', 'a*?', '', '(a*b)?', 'a.*b|a'])(
    'find and findAll terminate soon for %s',
    (pattern) => {
      endsSoon(`s.find(${text(pattern)})`);
      endsSoon(`s.findAll(${text(pattern)})`);
      endsSoon(`li.all(x, size(s.findAll(${text(pattern)})) >= 0)`);
    },
  );

  test.each(
    [
      '(((a{100}){100}){100})',
      `${'('.repeat(1001)}${')'.repeat(1001)}`,
      `${'(?:'.repeat(5000)}a${')*'.repeat(5000)}`,
      `(?:${'.'.repeat(3355)}){1000}`,
      `(?:${'a|b|'.repeat(5000)}c){1000}`,
      `${'(a{1000})'.repeat(3000)}`,
      '[a-z]'.repeat(15_000),
      '\\pL\\p{Greek}\\P{Han}'.repeat(2000),
      `(?i)${'abcdefghij'.repeat(5000)}`,
      'a|'.repeat(30_000),
      '(ab|cd)?'.repeat(9000),
      '['.repeat(50_000),
      '[[:'.repeat(20_000),
      '\\Q'.repeat(30_000),
    ].map((pattern): [string, string] => [pattern.slice(0, 40), pattern]),
  )('matches terminates soon for a large pattern: %s', (_start, pattern) => {
    endsSoon(`t.matches(${text(pattern)})`);
    endsSoon(`t.matches(t + ${text(pattern)})`);
    endsSoon(`li.all(x, !t.matches(string(x) + ${text(pattern)}))`);
    endsSoon(`li.all(x, t.findAll(string(x) + ${text(pattern)}) == [])`);
  });

  test('does not run a call that costs more than the remaining budget', () => {
    const pattern = 'a.{999}b'.repeat(60);
    const { how, cost } = endsSoon(`(s + s).findAll(${text(pattern)}) == []`);
    expect(how).toBe('cost');
    // The reported cost is that of the call; the short time shows that it did not run.
    expect(cost).toBeGreaterThan(COST_LIMIT);
  });
});

describe('a search for a long text', () => {
  const half = 'a'.repeat(200_000);
  const quarter = half.slice(half.length / 2);
  const parts = [`${half}b`, `b${half}`, `${quarter}b${quarter}`];
  const searches = [
    's.indexOf(t)',
    's.lastIndexOf(t)',
    's.split(t).size()',
    "s.replace(t, '').size()",
    's.contains(t)',
  ];

  test.each(searches)('%s takes time in proportion to the lengths', (expression) => {
    const compiled = compile(expression, environment);
    if (compiled.checked === undefined) throw new Error(compiled.text);
    const planned = plan(compiled.checked, environment);
    const spentMs = cpuTimer();
    for (const part of parts) {
      const values = new Map([...world, ['s', half + half] as const, ['t', part] as const]);
      const { error } = planned.evaluate(values, { costLimit: 10 * COST_LIMIT });
      if (error !== undefined) expect(error).toBeInstanceOf(CelCostLimitError);
    }
    expect(spentMs()).toBeLessThan(MOST_MILLISECONDS);
  });
});

describe('loops', () => {
  const nested = (macro: (inner: string, depth: number) => string, innermost: string): string => {
    let expression = innermost;
    for (let depth = 5; depth > 0; depth--) expression = macro(expression, depth);
    return expression;
  };

  test.each([
    nested((inner, depth) => `li.all(x${depth}, ${inner})`, 'true'),
    nested((inner, depth) => `li.exists(x${depth}, ${inner})`, 'false'),
    nested((inner, depth) => `dl.exists_one(x${depth}, ${inner})`, 'x1 == x5'),
    nested((inner, depth) => `li.map(x${depth}, ${inner})`, 'x1'),
    nested((inner, depth) => `li.filter(x${depth}, size(${inner}) >= 0)`, 'li'),
    nested((inner, depth) => `li.transformList(i${depth}, x${depth}, ${inner})`, 'x1'),
    'li.all(x, sets.contains(li.map(y, y + 1), li))',
    'ls.all(x, !ls.exists(y, y.contains(x + "z")))',
    'li.all(x, li.sum() + li.max() > 0)',
  ])('terminates soon: %s', (expression) => {
    expect(endsSoon(expression).how).toBe('cost');
  });

  test.each(['li.map(x, li.map(y, li)).size() > 0', 'li.all(x, dl == li)', 'li.all(x, sets.contains(li, li))'])(
    'terminates soon: %s',
    (expression) => {
      endsSoon(expression);
    },
  );
});

describe('work that is not part of the cost', () => {
  const each = (expression: string) => `dy.map.exists(k, ${expression} && k == '')`;
  const time = "timestamp('2020-01-01T00:00:00Z')";
  const formats = (clause: string) => text(clause.repeat(100));
  const expressions = [
    `dy.map.all(k, size(dy.map) > 0)`,
    `dy.map.all(k, dy.map.exists(j, true))`,
    each('dyn(dy.rows) == dyn(dy.map)'),
    each('dy.rows == dy.rows'),
    each('[dy.number + k] == [dy.number + k]'),
    each(`bytes(dy.number) == b''`),
    each(`string(bytes(dy.number)) == ''`),
    each('int(dy.number) == 1'),
    each('uint(dy.number) == 1u'),
    each(`${time}.getHours(dy.digits) == 1`),
    each(`'%f'.format([1e308]) == ''`),
    each(`${formats('%f')}.format(dy.small) == ''`),
    each(`${formats('%e')}.format(dy.small) == ''`),
    each(`'%s'.format([dy.small]) == ''`),
    each(`'%s'.format([dy.map]) == ''`),
    each(`'%s'.format([dy.rows]) == ''`),
  ];
  test.each(expressions)('ends soon: %s', (expression) => {
    endsSoon(expression);
  });

  test('reads the keys of a record that has changed since the previous evaluation', () => {
    const record: Record<string, number> = Object.fromEntries(thousand.map((index) => [`k${index}`, index]));
    const { checked } = compile('size(dy) == size(dy)  ? size(dy) : 0', environment);
    if (checked === undefined) throw new Error('the expression is valid');
    const program = plan(checked, environment);
    const variables = new Map([...world, ['dy', jsonValue(record)] as const]);
    expect(program.evaluate(variables).value).toBe(1000n);
    record['more'] = 1;
    const changed = new Map([...world, ['dy', jsonValue(record)] as const]);
    expect(program.evaluate(changed).value).toBe(1001n);
  });
});

describe('growth', () => {
  test.each(
    [
      bound(60, 's + s', (a) => `${a} + ${a}`),
      bound(60, 'dyn(s) + ds', (a) => `${a} + ${a}`),
      bound(60, 'bytes(s)', (a) => `${a} + ${a}`),
      bound(60, 'li + li', (a) => `${a} + ${a}`),
      bound(60, 'dyn([1, 2])', (a) => `${a} + ${a}`),
      bound(40, "t.replace('a', t)", (a) => `${a}.replace('a', ${a})`),
      bound(40, "'ab'", (a) => `${a}.replace('', ${a})`),
      bound(40, "[t, t].join('-')", (a) => `[${a}, ${a}, ${a}].join(${a})`),
      bound(40, "'%s%s'.format([t, t])", (a) => `'%s%s'.format([${a}, ${a}])`),
      bound(40, "t.split('')", (a) => `${a}.map(x, t).join(t).split('')`),
      bound(30, '[li, li]', (a) => `[${a}[0] + ${a}[1], ${a}[0] + ${a}[1]]`),
      bound(200, 'dyn([i])', (a) => `dyn([${a}, ${a}])`, '[a200] == [dyn([a199, a199])]'),
      bound(100, "dyn({'a': 1})", (a) => `dyn({'a': ${a}, 'b': ${a}})`, 'a100 == dyn({"a": a99, "b": a99})'),
      "li.map(x, s).join('')",
      "li.map(x, s.split(''))",
      "ls.map(x, ls.join(x)).join(',')",
      "'%1000000000.1000000000f'.format([d])",
      "'%.999999999f'.format([d])",
      "'%s'.format([li.map(x, li.map(y, s))])",
      "li.map(x, '%s %s'.format([li, li]))",
      's.substring(0).upperAscii().lowerAscii().trim().replace("a", "bbbbbbbbbb").replace("b", "cccccccccc")',
    ].map((expression): [string, string] => [expression.slice(0, 60), expression]),
  )('terminates soon: %s', (_start, expression) => {
    endsSoon(expression);
  });
});

describe('names of JavaScript properties', () => {
  const names = ['constructor', '__proto__', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];
  const values = ['dy', 'md', 'm', 'dl', 'ds', 'dn', 'li', 's', 'i', 'dyn(i)', 'by', 'ts', 'op', '{}', '[]', 'b'];

  test.each(names)('gives %s no special meaning', (name) => {
    for (const value of values) {
      for (const expression of [
        `${value}.${name}`,
        `${value}.${name}.${name}`,
        `${value}['${name}']`,
        `${value}[?'${name}']`,
        `${value}.?${name}`,
        `has(${value}.${name})`,
        `'${name}' in ${value}`,
        `${value}.${name}()`,
        `${name}(${value})`,
        `${name}`,
        `${name}{}`,
        `Object{${name}: ${value}}`,
        `{'${name}': ${value}}.${name}`,
        `{'${name}': ${value}}`,
        `dyn({'${name}': ${value}})['${name}'].${name}`,
        `[${value}].map(${name}, ${name})`,
        `cel.bind(${name}, ${value}, ${name})`,
        `type(${value}).${name}`,
        `string(type(${value}) == type(type(${value})))`,
      ]) {
        const { value: result } = endsSoonQuietly(expression);
        if (expression.startsWith('has(') || expression.includes(' in ')) expect(result ?? false).toBe(false);
      }
    }
    const { value } = endsSoon(`{'${name}': 1}['${name}'] == 1 && !('${name}' in {'a': 1})`);
    expect(value).toBe(true);
  });

  /** Thousands of cases are not listed individually. */
  function endsSoonQuietly(expression: string): Ending {
    const ending = endsSoon(expression);
    table.pop();
    return ending;
  }

  test('contains only its own entries in a map with JavaScript property names', () => {
    const { value } = endsSoon("{'__proto__': {'polluted': true}, 'constructor': {'polluted': true}}.map(k, k)");
    expect(value instanceof CelList && [value.at(0), value.at(1)].sort()).toEqual(['__proto__', 'constructor']);
    expect('polluted' in {}).toBe(false);
  });
});

describe('deeply nested expressions', () => {
  const deep = 10_000;
  test.each([
    ['parentheses', `${'('.repeat(deep)}1${')'.repeat(deep)}`],
    ['lists', `${'['.repeat(deep)}1${']'.repeat(deep)}`],
    ['maps', `${'{1: '.repeat(deep)}1${'}'.repeat(deep)}`],
    ['ternaries', `${'true ? '.repeat(deep)}1${' : 2'.repeat(deep)}`],
    ['right-nested ternaries', `${'true ? 1 : '.repeat(deep)}1`],
    ['selects', `dy${'.a'.repeat(deep)}`],
    ['optional selects', `dy${'.?a'.repeat(deep)}`],
    ['indexes', `dy${'[0]'.repeat(deep)}`],
    ['nested indexes', `${'dl['.repeat(deep)}0${']'.repeat(deep)}`],
    ['negations', `${'!'.repeat(deep)}true`],
    ['minus signs', `${'-'.repeat(deep)}1`],
    ['sums', Array.from({ length: deep }, () => '1').join('+')],
    ['conjunctions', Array.from({ length: deep }, () => 'b').join('&&')],
    ['comparisons', Array.from({ length: deep }, () => '1').join('<')],
    ['calls', `${'size('.repeat(deep)}s${')'.repeat(deep)}`],
    ['chained calls', `s${'.trim()'.repeat(deep)}`],
    ['macros', `${'[1].map(x, '.repeat(deep / 2)}x${')'.repeat(deep / 2)}`],
    ['chained macros', `li${'.map(x, x)'.repeat(deep / 2)}`],
    ['unclosed parentheses', '('.repeat(deep)],
    ['surplus closing parentheses', ')'.repeat(deep)],
    ['unclosed brackets of all kinds', '([{'.repeat(deep)],
  ])('terminates soon: %s', (_what, expression) => {
    endsSoon(expression);
  });
});

describe('extreme sizes and numbers', () => {
  test.each([
    ['a string of 100,000 characters', `size('${'x'.repeat(99_990)}')`],
    ['a string that is too long', `size('${'x'.repeat(200_000)}')`],
    ['a name', 'x'.repeat(99_999)],
    ['a number', '9'.repeat(99_999)],
    ['a hexadecimal number', `0x${'f'.repeat(99_990)}`],
    ['a fraction', `0.${'1'.repeat(99_990)}`],
    ['an exponent', `1e${'9'.repeat(50_000)}`],
    ['a number as text', `int('${'9'.repeat(90_000)}')`],
    ['a double as text', `double('${'9'.repeat(90_000)}')`],
    ['a duration', `duration('${'1h'.repeat(40_000)}')`],
    ['a quantity', `quantity('${'9'.repeat(90_000)}')`],
    ['a quantity with an exponent', "quantity('1e999999999').add(quantity('1e-999999999'))"],
    ['a sum of quantities', "li.all(x, quantity('1e' + string(x)).add(quantity('1e-9')).isGreaterThan(quantity('0')))"],
    ['a version', `semver('${'1'.repeat(90_000)}.0.0')`],
    ['an address', `isIP('${':1'.repeat(40_000)}')`],
    ['a URL', `isURL('https://${'a.'.repeat(40_000)}')`],
    ['escapes', `'${'\\u00e9'.repeat(16_000)}'`],
    ['lone surrogates', `'\ud83d' + '\ude00' == '😀' || size('\ud83d') == 1`],
    ['lone surrogates in a variable', "dn + dn == dn || size(dn) > 0 || dn.matches('^.$')"],
    ['lone surrogates converted to bytes', 'size(bytes(dn)) > 0'],
    ['an escaped lone surrogate', "'\\ud83d'"],
    ['lone surrogates outside of strings', '\ud83d\ud83d\ude00'],
    ['an empty expression', ''],
    ['NUL characters', '\u0000'.repeat(1000)],
    ['the largest numbers', '9223372036854775807 + 1 > 0'],
    ['the smallest int divided by minus one', '-9223372036854775808 / -1 > 0'],
    ['modulus by zero', '1 % 0 == 1'],
    ['double overflow', '1e308 * 10.0 > 0.0 && int(1e308) > 0'],
    ['not a number', 'int(nan) > 0'],
    ['comments', `1 //${'/'.repeat(99_000)}`],
    ['many syntax errors', '1 + + '.repeat(15_000)],
    ['commas', `[${','.repeat(50_000)}]`],
  ])('terminates soon: %s', (_what, expression) => {
    endsSoon(expression);
  });
});
