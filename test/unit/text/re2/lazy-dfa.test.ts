/** The lazy DFA compared with the NFA simulation it caches. */
import { describe, expect, test } from 'vitest';
import { re2FindAll, re2Matches, re2Problem } from '../../../../src/text/re2/index.js';
import { LazyDfa } from '../../../../src/text/re2/lazy-dfa.js';
import { runProgram } from '../../../../src/text/re2/nfa.js';
import { compileNode, type Program } from '../../../../src/text/re2/program.js';
import { parseRe2 } from '../../../../src/text/re2/syntax.js';
import fc from '../../../property/seeded.js';

function programOf(pattern: string): Program {
  return compileNode(parseRe2(pattern));
}

const leaf = fc.constantFrom(
  ...['a', 'b', 'ab', 'é', '😀', '.', '[ab]', '[^a]', '\\d', '\\w', '\\W', '^', '$', '\\b', '\\B', '\\A', '\\z'],
  ...[
    '(?m:^)',
    '(?m:$)',
    '(?s:.)',
    '(?i:k)',
    '(?i:[^k])',
    '\\pL',
    '\\P{Lu}',
    '\\p{Greek}',
    '\\x{FFFD}',
    '(?i)',
    '(?m)',
  ],
);
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('expression'), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.array(tie('expression'), { maxLength: 4 }).map((parts) => `(?:${parts.join('|')})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '{3,5}', '{0}'))
      .map(([part, operator]) => `(${part})${operator}`),
  ),
}));
const text = fc
  .array(fc.constantFrom('a', 'b', 'k', '\u212a', 'A', 'é', 'σ', '😀', '1', ' ', '\n', '\ufffd', '\ud83d', '\ude00'), {
    maxLength: 20,
  })
  .map((characters) => characters.join(''));

test('returns the same result as the NFA from every start index', () => {
  fc.assert(
    fc.property(expression, fc.array(text, { minLength: 1, maxLength: 4 }), (pattern, texts) => {
      const program = programOf(pattern);
      const dfa = new LazyDfa(program);
      for (const each of texts) {
        expect(dfa.matches(each)).toBe(runProgram(program, each));
        const from = each.length >>> 1;
        expect(dfa.matches(each, from)).toBe(runProgram(program, each, { from }));
      }
    }),
    { numRuns: 5000 },
  );
});

/** Pseudo-random text that is the same in every run. */
function noise(length: number, characters: readonly string[]): string {
  let made = '';
  for (let at = 0, state = 12_345; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    made += characters[(state >>> 16) % characters.length];
  }
  return made;
}

describe('LazyDfa with a full cache', () => {
  test.each<[what: string, pattern: string]>([
    ['few states that are used often', '[ab]*a[ab]{5}c'],
    ['some thousand states', '[ab]*a[ab]{10}c'],
    ['a new state for nearly every character', '[ab]*a[ab]{40}c'],
    ['large states', '(a|b)*a(a|b){300}c'],
    ['states with lookahead assertions', '(\\b[ab]*a[ab]{14}$|x)c?z'],
    ['states after a prefix', 'ab[ab]{20}[ab]*b[ab]{30}c'],
  ])('returns the result of the NFA with %s', (_what, pattern) => {
    const program = programOf(pattern);
    const dfa = new LazyDfa(program);
    const long = noise(20_000, ['a', 'b', 'a', 'b', 'a', 'b', ' ']);
    for (const each of [long, `${long}abababababababababababababababababababababababcz`, 'ab'.repeat(300)]) {
      expect(dfa.matches(each)).toBe(runProgram(program, each));
    }
    // About a megabyte.
    expect(dfa.weight).toBeLessThan(1 << 19);
  });

  test('handles thousands of different characters', () => {
    const characters = Array.from({ length: 5000 }, (_, index) => String.fromCodePoint(0x4e00 + index));
    const program = programOf(characters.map((character) => `${character}x?`).join('|'));
    expect(new LazyDfa(program).matches(`${'y'.repeat(10)}${characters.at(-1)}`)).toBe(true);
    const chain = programOf(`z${characters.join('')}`);
    expect(new LazyDfa(chain).matches(`z${characters.join('')}`)).toBe(true);
    expect(new LazyDfa(chain).matches(`zz${characters.slice(1).join('')}`)).toBe(false);
    expect(new LazyDfa(programOf(`.*${characters.join('')}`)).matches(`-${characters.join('')}`)).toBe(true);
  });
});

describe('patterns on a long text', () => {
  test.each<[pattern: string, text: string, matches: boolean, most: number]>([
    ['needle', 'x'.repeat(1_000_000), false, 600_000],
    ['^x', 'y'.repeat(1_000_000), false, 1000],
    ['(^x|^y)z', 'x'.repeat(1_000_000), false, 1000],
    ['x+', 'x'.repeat(1_000_000), true, 1000],
    ['', 'x'.repeat(1_000_000), true, 1000],
  ])('takes few steps for /%s/', (pattern, searched, matches, most) => {
    let steps = 0;
    expect(re2Matches(pattern, searched, { onSteps: (more) => (steps += more) })).toBe(matches);
    expect(steps).toBeLessThan(most);
  });
});

describe('limits of patterns', () => {
  // The messages are those of Go's regexp/syntax.
  test.each<[pattern: string, why: string]>([
    ['(((a{100}){100}){100})', 'invalid repeat count: `{100}`'],
    ['(?:(?:a|b){1000}){1000}', 'invalid repeat count: `{1000}`'],
    ['((a{1000})*){2}', 'invalid repeat count: `{2}`'],
    ['(?:(?:aa|b){1000}c){1000}', 'expression too large: `(?:(?:aa|b){1000}c){1000}`'],
  ])('rejects %s', (pattern, why) => {
    expect(re2Problem(pattern)).toBe(`error parsing regexp: ${why}`);
  });

  test('compiles alternatives of single characters to one instruction', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('|');
    expect(programOf(`(?:${many}|||){1000}`).size).toBeLessThan(4000);
    expect(re2FindAll('(?:a|[bc]|\\d|x)+', 'ab1 cx')).toEqual(['ab1', 'cx']);
  });

  test('aborts a match when onSteps throws', () => {
    const tired = new Error('too much');
    const onSteps = (most: number) => {
      let left = most;
      return (steps: number): void => {
        left -= steps;
        if (left < 0) throw tired;
      };
    };
    const subject = noise(100_000, ['a', 'b']);
    expect(() => re2Matches('x.{1000}y|.{999}z', subject, { onSteps: onSteps(100_000) })).toThrow(tired);
    expect(() => re2FindAll('.{999}z|b$', subject, { onSteps: onSteps(100_000) })).toThrow(tired);
    expect(() => re2Matches(`(?:${'.'.repeat(3000)}){1000}`, 'x', { onSteps: onSteps(1_000_000) })).toThrow(tired);
    expect(() => re2Problem('x'.repeat(100_000), { onSteps: onSteps(100_000) })).toThrow(tired);
    // The aborted match does not affect the next one.
    expect(re2Matches('x.{1000}y|.{999}z', `x${'-'.repeat(1000)}y`)).toBe(true);
  });
});
