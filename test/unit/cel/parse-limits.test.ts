/** Texts that are nested too deeply, too long or have too many errors: rejected quickly with the messages of cel-go. */
import { describe, expect, test } from 'vitest';
import { parse } from '../../../src/cel/parse/parse.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { answerTo, macros } from './parse-fixtures.js';

const TOO_DEEP = { errors: 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250' };
const TOO_HIGH = { errors: 'ERROR: <input>:-1:0: max recursion depth exceeded' };

const nested = (open: string, core: string, close: string, levels: number) =>
  open.repeat(levels) + core + close.repeat(levels);

describe('nesting depth', () => {
  test.each([
    ['(', ')', 249],
    ['[', ']', 249],
    ['f(', ')', 249],
    ['{1: ', '}', 249],
    ['1 + (', ')', 124],
    ['1 == (', ')', 124],
    ['1 + 2 * (', ')', 83],
    ['a[', ']', 249],
    ['[1].all(x, ', ')', 249],
  ])('parses %s…%s up to %i levels', (open, close, levels) => {
    expect(answerTo(nested(open, 'x', close, levels))).toHaveProperty('ast');
    expect(answerTo(nested(open, 'x', close, levels + 1))).toEqual(TOO_DEEP);
    expect(answerTo(nested(open, 'x', close, 5000))).toEqual(TOO_DEEP);
  });

  test.each(['.a', '[0]', '.a()', '.?a', ' + 1', ' * 1', ' == 1'])('parses x%s with 250 repetitions', (suffix) => {
    expect(answerTo(`x${suffix.repeat(250)}`)).toHaveProperty('ast');
    expect(answerTo(`x${suffix.repeat(251)}`)).toEqual(TOO_HIGH);
    expect(answerTo(`x${suffix.repeat(10_000)}`)).toEqual(TOO_HIGH);
  });

  test('does not count chains of logical operators', () => {
    expect(answerTo(`x${' && x'.repeat(5000)}`)).toHaveProperty('ast');
    expect(answerTo(`x${' || x'.repeat(5000)}`)).toHaveProperty('ast');
  });

  test('rejects extreme nesting quickly', () => {
    const spentMs = cpuTimer();
    for (const open of ['(', '[', '{', 'f(', '!(', 'a ? (']) parse(open.repeat(10_000), macros);
    expect(spentMs()).toBeLessThan(5000);
  });
});

describe('expression size', () => {
  test('counts the expression size in code points', () => {
    expect(answerTo(`'${'😀'.repeat(99_998)}'`)).toHaveProperty('ast');
    expect(answerTo(`'${'x'.repeat(99_999)}'`)).toEqual({
      errors: 'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
    });
  });

  test('includes the line in messages only up to a maximum size', () => {
    const message = "ERROR: <input>:1:16385: Syntax error: extraneous input ')' expecting <EOF>";
    expect(answerTo(`${' '.repeat(16_382)}x )`)).toEqual({ errors: message });
    const shown = answerTo(`${' '.repeat(16_381)}x )`);
    expect(shown).toEqual({ errors: expect.stringMatching(/1:16384: .*\n \| {16382}x \)\n \| \.{16383}\^$/) });
  });
});

describe('syntax errors', () => {
  test('recovers from up to thirty syntax errors', () => {
    const result = answerTo(`[${'+, '.repeat(100)}]`);
    expect(result).toEqual({ errors: expect.stringContaining('error recovery attempt limit exceeded: 30') });
  });

  test('stops the parser after one hundred syntax errors', () => {
    const result = answerTo('@'.repeat(200));
    if (!('errors' in result)) throw new Error('expected mistakes');
    expect(result.errors.match(/token recognition error/g)).toHaveLength(100);
    expect(result.errors).toMatch(/\n1 more errors were truncated$/);
  });

  test('skips at most 256 tokens in one recovery from a syntax error', () => {
    expect(answerTo(`x ${'x '.repeat(300)}`)).toEqual({
      errors: expect.stringContaining('<input>:-1:0: error recovery token lookahead limit exceeded: 256'),
    });
  });

  test('finds syntax errors in long texts quickly', () => {
    const spentMs = cpuTimer();
    for (const part of ['a.', 'a + ', '1, ', '"']) parse(part.repeat(20_000), macros);
    expect(spentMs()).toBeLessThan(20_000);
  });
});
