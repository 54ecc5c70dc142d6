/**
 * Parsed expressions compared with cel-go: nodes with ids and offsets, or the reported errors. The erroneous texts are
 * handwritten or mutations of valid ones: tokens deleted, inserted, swapped, truncated.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from '../../../src/cel/parse/parse.js';
import { answerTo, dump, macros } from './parse-fixtures.js';

interface Case {
  readonly text: string;
  readonly ast?: unknown;
  readonly errors?: string;
}

const cases = readFileSync(new URL('./parse-cases.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);

describe('parse', () => {
  test.each(cases.filter(({ ast }) => ast !== undefined).map((one) => [JSON.stringify(one.text), one] as const))(
    'parses %s like cel-go',
    (_name, { text, ast }) => {
      expect(answerTo(text)).toEqual({ ast });
    },
  );

  test.each(cases.filter(({ errors }) => errors !== undefined).map((one) => [JSON.stringify(one.text), one] as const))(
    'rejects %s with the errors of cel-go',
    (_name, { text, errors }) => {
      expect(answerTo(text)).toEqual({ errors });
    },
  );
});

describe('chains of logical operators', () => {
  test('parses chains of logical operators to balanced trees', () => {
    const shape = (text: string): string => {
      const parsed = parse(text, macros);
      if ('issues' in parsed) throw new Error(text);
      const show = (node: unknown): string => {
        const [type, , , name, , args] = node as [string, number, number, string, null, unknown[]];
        return type === 'call' ? `(${args.map(show).join(' ')})` : name;
      };
      return show(dump(parsed.expr));
    };
    expect(shape('a && b && c')).toBe('((a b) c)');
    expect(shape('a || b || c || d')).toBe('((a b) (c d))');
    expect(shape('a && b && c && d && e && f')).toBe('(((a b) c) ((d e) f))');
  });
});

describe('macros', () => {
  test('records the original calls of macros', () => {
    const parsed = parse('has(a.b) || c.all(x, c.exists(y, y == x))', macros);
    if ('issues' in parsed) throw new Error('expected nodes');
    const written = [...parsed.macroCalls.values()].map((call) => call.function);
    expect(written.sort()).toEqual(['all', 'exists', 'has']);
    const all = [...parsed.macroCalls.values()].find((call) => call.function === 'all');
    expect(all?.args[1]).toMatchObject({ type: 'call', function: 'exists' });
  });

  test('leaves the call of a macro unchanged that does not expand', () => {
    const shy = { function: 'f', member: false, args: 'any', expand: () => undefined } as const;
    const parsed = parse('f(1, 2)', new Map([['f:*:false', shy]]));
    expect(parsed).toMatchObject({ expr: { type: 'call', function: 'f', args: [{ value: 1n }, { value: 2n }] } });
  });

  test('copies the nodes of a macro with new ids and the same offsets', () => {
    const twice = {
      function: 'twice',
      member: false,
      args: 1,
      expand: (context, _target, [arg]) => arg && context.list(arg, context.copy(arg)),
    } as const satisfies Parameters<typeof parse>[1] extends ReadonlyMap<string, infer M> ? M : never;
    const parsed = parse('twice({a.b: [1, f(x)]})', new Map([['twice:1:false', twice]]));
    if ('issues' in parsed || parsed.expr.type !== 'list') throw new Error('expected a list');
    const [first, second] = parsed.expr.elements.map((element) => JSON.stringify(dump(element)));
    expect(first).toBe(
      '["map",2,6,[[3,10,["select",5,8,["ident",4,7,"a"],"b",false],["list",6,12,[["literal",7,13,["int","1"]],["call",8,17,"f",null,[["ident",9,18,"x"]]]],[]],false]]]',
    );
    expect(second).toBe(
      '["map",10,6,[[11,5,["select",12,8,["ident",13,7,"a"],"b",false],["list",14,12,[["literal",15,13,["int","1"]],["call",16,17,"f",null,[["ident",17,18,"x"]]]],[]],false]]]',
    );
  });
});
