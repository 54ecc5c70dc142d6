/** Syntax errors and matches of patterns, compared with Go's regexp package. */

import { describe, expect, test } from 'vitest';
import { re2Matches, re2Problem } from '../../../../src/text/re2/index.js';
import fc from '../../../property/seeded.js';

describe('invalid patterns', () => {
  test.each<[string, string]>([
    ['(', 'missing closing ): `(`'],
    ['a(b|c', 'missing closing ): `a(b|c`'],
    ['a)', 'unexpected ): `a)`'],
    ['a|b)', 'unexpected ): `a|b)`'],
    ['[', 'missing closing ]: `[`'],
    ['x[a', 'missing closing ]: `[a`'],
    ['x[]', 'missing closing ]: `[]`'],
    ['[[:word', 'missing closing ]: `[[:word`'],
    ['(?=x)y', 'invalid or unsupported Perl syntax: `(?=`'],
    ['^(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
    ['(?P=n)', 'invalid or unsupported Perl syntax: `(?P`'],
    ['(?i', 'invalid or unsupported Perl syntax: `(?i`'],
    ['(?i-)a', 'invalid or unsupported Perl syntax: `(?i-)`'],
    ['(?-i-s)a', 'invalid or unsupported Perl syntax: `(?-i-`'],
    ['(?x)a', 'invalid or unsupported Perl syntax: `(?x`'],
    ['(?P<', 'invalid or unsupported Perl syntax: `(?P`'],
    ['(?<=a)', 'invalid named capture: `(?<=a)`'],
    ['(?<!a)b>c', 'invalid named capture: `(?<!a)b>`'],
    ['(?<n', 'invalid named capture: `(?<n`'],
    ['(?P<a b>x)', 'invalid named capture: `(?P<a b>`'],
    ['(?<>x)', 'invalid named capture: `(?<>`'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['a|+?', 'missing argument to repetition operator: `+?`'],
    ['({2,3})', 'missing argument to repetition operator: `{2,3}`'],
    ['(?i)*', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a+?{2}?', 'invalid nested repetition operator: `+?{2}?`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['a{1001,}', 'invalid repeat count: `{1001,}`'],
    ['a{1,99999999999}', 'invalid repeat count: `{1,99999999999}`'],
    ['a{2,1}', 'invalid repeat count: `{2,1}`'],
    ['(a{100}){11}?', 'invalid repeat count: `{11}?`'],
    ['((a{10,})*b{2}){0,101}', 'invalid repeat count: `{0,101}`'],
    ['[z-a]', 'invalid character class range: `z-a`'],
    ['[a-[:digit:]]', 'invalid character class range: `a-[`'],
    ['[[:nope:]]', 'invalid character class range: `[:nope:]`'],
    ['[[:constructor:]]', 'invalid character class range: `[:constructor:]`'],
    ['\\pX', 'invalid character class range: `\\pX`'],
    ['\\p', 'invalid character class range: `\\p`'],
    ['\\p{Greek', 'invalid character class range: `\\p{Greek`'],
    ['\\p{greek}', 'invalid character class range: `\\p{greek}`'],
    ['\\p{Grek}', 'invalid character class range: `\\p{Grek}`'],
    ['\\p{Letter}', 'invalid character class range: `\\p{Letter}`'],
    ['\\p{Script=Greek}', 'invalid character class range: `\\p{Script=Greek}`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['[\\', 'trailing backslash at end of expression: ``'],
    ['\\y', 'invalid escape sequence: `\\y`'],
    ['\\é', 'invalid escape sequence: `\\é`'],
    ['\\C', 'invalid escape sequence: `\\C`'],
    ['a\\E', 'invalid escape sequence: `\\E`'],
    ['\\1', 'invalid escape sequence: `\\1`'],
    ['\\8', 'invalid escape sequence: `\\8`'],
    ['[\\b]', 'invalid escape sequence: `\\b`'],
    ['[a-\\d]', 'invalid escape sequence: `\\d`'],
    ['\\x', 'invalid escape sequence: `\\x`'],
    ['\\x4z', 'invalid escape sequence: `\\x4z`'],
    ['\\x{}', 'invalid escape sequence: `\\x{}`'],
    ['\\x{4', 'invalid escape sequence: `\\x{4`'],
    ['\\x{4z}', 'invalid escape sequence: `\\x{4z`'],
    ['\\x{110000}', 'invalid escape sequence: `\\x{110000`'],
  ])('rejects %s', (pattern, why) => {
    expect(re2Problem(pattern)).toBe(`error parsing regexp: ${why}`);
    expect(re2Matches(pattern, 'a')).toBe(false);
  });
});

describe('size limits of patterns', () => {
  const nested = (open: string, close: string, times: number): string => open.repeat(times) + close.repeat(times);

  test.each<[string, string]>([
    ['groups', nested('(', ')', 999)],
    ['groups with something beside them', nested('(a', ')', 500)],
    ['repetitions', nested('(?:', ')*', 999)],
    ['groups that only hold together', nested('(?:.', ')', 100_000)],
    ['copies', '((?:a{10}){10}b*){10}'],
    ['copies of nothing', '(a{1000}){0}'],
    ['instructions', `(?:${'.'.repeat(3355)}){1000}`],
  ])('accepts the maximum of %s', (_what, pattern) => {
    expect(re2Problem(pattern)).toBeUndefined();
  });

  test.each<[string, string]>([
    ['expression nests too deeply', nested('(', ')', 1000)],
    ['expression nests too deeply', nested('(a', ')', 501)],
    ['expression nests too deeply', nested('(?:', ')*', 1000)],
    ['expression too large', `(?:${'.'.repeat(3356)}){1000}`],
    ['expression too large', '(xx?){1000}'.repeat(1000)],
  ])('rejects a pattern with: %s', (why, pattern) => {
    expect(re2Problem(pattern)).toBe(`error parsing regexp: ${why}: \`${pattern}\``);
  });
});

describe('re2Matches', () => {
  test.each<[string, string, boolean]>([
    ['', 'anything', true],
    ['b', 'abc', true],
    ['^b', 'abc', false],
    ['^[a-z]+$', 'abc', true],
    ['^[a-z]+$', 'aBc', false],
    ['^(?P<name>a|b){2,3}?$', 'ab', true],
    ['^(?<name>a|b){2,3}$', 'a', false],
    ['^a{2}$', 'aaa', false],
    ['^a{2,}$', 'aaa', true],
    ['^(a|bc){0}$', '', true],
    ['^(|a)+$', 'aa', true],
    ['^(a*)*$', 'aab', false],
    ['a|b|', '', true],
    ['^(?i:a)a$', 'Aa', true],
    ['^(?i:a)a$', 'aA', false],
    ['^a(?i:a)$', 'aA', true],
    ['^[\uffffb]$', 'b', true],
    ['^[\u{10ffff}b]$', 'b', true],
    ['^*a', 'ba', true],
    // Literal braces, and operators after empty groups.
    ['^a{,2}$', 'a{,2}', true],
    ['^a{01}$', 'a{01}', true],
    ['x/y{z}', 'x/y{z}', true],
    ['^a(?i)*$', 'aaa', true],
    ['^a\\Q\\E+$', 'aaa', true],
    // Text, line and word boundaries.
    ['\\Aab\\z', 'ab', true],
    ['a$', 'a\n', false],
    ['a\\z', 'a\n', false],
    ['(?m)a$', 'a\nb', true],
    ['(?m)^b', 'a\nb', true],
    ['(?m)\\Ab', 'a\nb', false],
    ['\\bb\\b', 'a b c', true],
    ['\\bb', 'ab', false],
    ['\\Bb', 'ab', true],
    ['\\bé', 'é', false],
    // Flags apply up to the end of the group.
    ['(?i)^abc$', 'ABC', true],
    ['^a(?i)b$', 'aB', true],
    ['^a(?i)b$', 'AB', false],
    ['^(a(?i)b)c$', 'aBC', false],
    ['^(?i)a(?-i:b)c$', 'AbC', true],
    ['^(?i)a(?-i:b)c$', 'ABC', false],
    ['^(?:(?i)a|b)$', 'B', true],
    ['a.b', 'a\nb', false],
    ['a(?s).b', 'a\nb', true],
    ['(?s)a(?-s:.)b', 'a\nb', false],
    ['(?U)^a+$', 'aa', true],
    ['(?i)^[^k]$', 'K', false],
    ['(?i)^[^k]$', '\u212a', false],
    ['(?i)^\\W$', '\u017f', false],
    ['(?i)^[[:^lower:]]$', 'A', false],
    ['(?i)^\\P{Lu}$', 'a', false],
    ['(?i)^σ+$', 'Σσς', true],
    ['(?i)^ẞ$', 'ß', true],
    ['(?i)^ß$', 'SS', false],
    ['(?i)^i$', 'ı', false],
    ['(?i)^[à-ý]$', 'É', true],
    // Escapes.
    ['^\\Qa.b\\E$', 'a.b', true],
    ['^\\Qa.b\\E$', 'axb', false],
    ['^\\Qa.b', 'a.b', true],
    ['^\\Qab\\E+$', 'abb', true],
    ['^\\x41\\x{42}\\103\\x{000044}$', 'ABCD', true],
    ['^\\0\\07\\777$', '\u0000\u0007\u01ff', true],
    ['^\\a\\f\\t\\n\\r\\v\\_\\/$', '\u0007\f\t\n\r\v_/', true],
    // Classes.
    ['^\\p{Greek}\\pL$', 'αβ', true],
    ['^\\p{^Greek}\\P{^Greek}\\PL$', 'aα1', true],
    ['^\\p{Any}[\\p{Old_Italic}]$', 'a\u{10300}', true],
    ['\\P{Any}', 'a', false],
    ['^\\pC$', '\u00ad', true],
    ['^\\pC$', '\u0378', false],
    ['^\\d$', '٣', false],
    ['^\\w$', 'é', false],
    ['^\\s$', '\v', false],
    ['^[[:space:]]$', '\v', true],
    ['^\\S$', '\u00a0', true],
    ['^[[:alpha:]_]+[[:^digit:]]$', 'ab_x', true],
    ['^[\\d\\-.]{3}$', '1-.', true],
    ['^[\\D\\d]$', '\n', true],
    ['^[]a]+$', ']a', true],
    ['^[^]a]$', ']', false],
    ['^[a-]+$', 'a-', true],
    ['^[\\d-z]+$', '1-z', true],
    ['^[[:]+$', '[:', true],
    ['^[^a]$', '\n', true],
    // Code points, not surrogates.
    ['^.$', '😀', true],
    ['^..$', '😀', false],
    ['^[😀-😂]$', '😁', true],
    ['^\\x{1F600}{2}$', '😀😀', true],
    ['\\x{D83D}', '😀', false],
    ['^\\x{FFFD}$', '\ud83d', true],
  ])('matches %j against %j: %s', (pattern, text, outcome) => {
    expect(re2Problem(pattern)).toBeUndefined();
    expect(re2Matches(pattern, text)).toBe(outcome);
  });

  test('returns the same results as RegExp for common syntax', () => {
    const leaf = fc.constantFrom(
      'a',
      'b',
      'c',
      'é',
      '😀',
      '.',
      '[ab]',
      '[^a]',
      '\\d',
      '\\W',
      '(?:^)',
      '(?:$)',
      '(?:\\b)',
    );
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('expression'), { maxLength: 3 }).map((parts) => parts.join('')),
        fc.array(tie('expression'), { maxLength: 3 }).map((parts) => `(?:${parts.join('|')})`),
        fc
          .tuple(tie('expression'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?'))
          .map(([part, operator]) => `(${part})${operator}`),
      ),
    }));
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'é', '😀', '1', ' ', '\n'), { maxLength: 6 });
    fc.assert(
      fc.property(expression, text, (pattern, characters) => {
        const subject = characters.join('');
        expect(re2Matches(pattern, subject)).toBe(new RegExp(pattern, 'u').test(subject));
      }),
      { numRuns: 2000 },
    );
  });

  // A backtracking engine would not terminate on these.
  test.each<[string, string]>([
    ['^(a+)+$', 'a'],
    ['^(a|aa)+$', 'a'],
    ['^(a*)*b', 'a'],
    ['^(?:a?){50}a{50}b', 'a'],
    ['(x+x+)+y', 'x'],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
  ])('matches %s in linear time on 50,000 characters', (pattern, character) => {
    expect(re2Matches(pattern, `${character.repeat(50_000)}!`)).toBe(false);
  });

  test('patterns beyond the cache size are parsed again', () => {
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 300; index++) expect(re2Matches(`^${index}$`, String(index))).toBe(true);
    }
  });
});
