/** No regular expression of the library takes superlinear time: requests contain texts of megabytes. */
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../fixtures/cpu-time.js';
import { type SourceFile, sources } from '../package/sources.js';

/** A pattern with exponential time is found at the first length, one with quadratic time at the last. */
const LENGTHS = [24, 2_000, 20_000];
const MAX_CPU_MS = 100;
const REPEATED = [
  ...` \t\naA09-./_:,()"'\\%=+#*$\{}[@\u00e9~!<&|;`,
  ...['a-', 'a.', 'a0', '0.', '-a', 'a/', '..', 'a,', '\\a', 'a ', ' a', '\r\n', '0:', '::', '(a', '{a', '%2', '1a'],
];

/** Patterns for texts that no client sends. */
const FOR_OWN_TEXTS: readonly string[] = [
  // The pattern of a zod schema, which a program declares.
  'src/crd/zod/pattern.ts',
  // The digits of a double.
  'src/cel/library/format.ts',
];

interface Pattern {
  readonly text: string;
  readonly file: string;
}

function patternsOf({ path, tree }: SourceFile): Pattern[] {
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push({ text: node.text, file: path });
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function cpuTime(run: () => void): number {
  const spentMs = cpuTimer();
  run();
  return spentMs();
}

/** The text that makes the pattern slow, if there is one. */
function slowText({ text }: Pattern): string | undefined {
  const end = text.lastIndexOf('/');
  const [source, flags] = [text.slice(1, end), text.slice(end + 1)];
  const pattern = new RegExp(source, flags);
  const match = (value: string): void => {
    pattern.lastIndex = 0;
    if (flags.includes('g')) value.replace(pattern, '');
    else pattern.test(value);
  };
  for (const length of LENGTHS) {
    for (const part of new Set([...REPEATED, ...source])) {
      for (const start of ['', 'a']) {
        const value = `${start}${part.repeat(length / part.length)}\u0001`;
        // The second time without a pause of the garbage collector.
        if (cpuTime(() => match(value)) > MAX_CPU_MS && cpuTime(() => match(value)) > MAX_CPU_MS) {
          return `${start}${JSON.stringify(part)} repeated to ${length} characters`;
        }
      }
    }
  }
  return undefined;
}

describe('regular expressions', () => {
  const all = sources.filter(({ path }) => !FOR_OWN_TEXTS.includes(path)).flatMap(patternsOf);

  test('the check notices a quadratic and an exponential pattern', () => {
    expect(slowText({ text: '/^[0-9]+\\.?[0-9]*$/', file: '' })).toContain('repeated to 20000');
    expect(slowText({ text: '/^(a+)+$/', file: '' })).toContain('repeated to');
  });

  test('take time in proportion to the length of the text', () => {
    expect(all.length).toBeGreaterThan(300);
    const slow = [...new Map(all.map((pattern) => [pattern.text, pattern])).values()].flatMap((pattern) => {
      const text = slowText(pattern);
      return text === undefined ? [] : [`${pattern.file}: ${pattern.text}: ${text}`];
    });
    expect(slow).toEqual([]);
  }, 120_000);
});
