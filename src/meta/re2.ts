/**
 * The regular expressions of schemas: the syntax of the reference server, checked in its words, and matched in time that
 * grows with the text and the expression only. Lookaround and back references are no part of it.
 *
 * An expression is read (re2-syntax.ts) into parts (re2-node.ts) that hold sets of characters (re2-set.ts), turned into
 * instructions (re2-program.ts), and those are run over the text in all their states at once (re2-match.ts, re2-find.ts).
 */
import { type FindOptions, findMatches } from './re2-find.js';
import { runProgram } from './re2-match.js';
import type { Program } from './re2-program.js';
import { compileNode } from './re2-program.js';
import { parseRe2, SyntaxProblem } from './re2-syntax.js';

/** What is wrong with an expression: `error parsing regexp: missing closing ): \`(\``; undefined when nothing is. */
export function re2Problem(pattern: string): string | undefined {
  const { problem } = compiled(pattern);
  return problem === undefined ? undefined : `error parsing regexp: ${problem}`;
}

/** Whether an expression matches anywhere in a text. An expression with a problem matches nothing. */
export function re2Matches(pattern: string, text: string): boolean {
  const { program } = compiled(pattern);
  return program !== undefined && runProgram(program, text);
}

/**
 * What an expression matches, from left to right, none overlapping another. Nothing for an expression with a problem.
 *
 * @example
 * re2FindAll('[0-9]+', '12 a 3') // ['12', '3']
 */
export function re2FindAll(pattern: string, text: string, options: FindOptions = {}): string[] {
  const { program } = compiled(pattern);
  return program === undefined ? [] : findMatches(program, text, options);
}

interface Compiled {
  readonly problem?: string;
  readonly program?: Program;
}

/** Schemas bring the same few expressions for every value; who brings many or huge ones makes all be read again. */
const MAX_KEPT = 200;
const MAX_WEIGHT = 1_000_000;
const kept = new Map<string, Compiled>();
let weight = 0;

function compiled(pattern: string): Compiled {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  if (kept.size >= MAX_KEPT || weight >= MAX_WEIGHT) {
    kept.clear();
    weight = 0;
  }
  const made = compile(pattern);
  kept.set(pattern, made);
  weight += pattern.length + (made.program?.size ?? 0);
  return made;
}

function compile(pattern: string): Compiled {
  try {
    return { program: compileNode(parseRe2(pattern)) };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { problem: error.message };
    throw error;
  }
}
