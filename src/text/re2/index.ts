/**
 * The regular expressions of schemas: the syntax of the reference server, checked in its words, and matched in time that
 * grows with the text and the expression only. Lookaround and back references are no part of it.
 *
 * An expression is read (re2-syntax.ts) into parts (re2-node.ts) that hold sets of characters (re2-set.ts), turned into
 * instructions (re2-program.ts), and those are run over the text in all their states at once (re2-match.ts, re2-find.ts).
 * Where such states lead is remembered in a table (re2-automaton.ts), by kinds of characters (re2-alphabet.ts).
 */
import { Automaton } from './automaton.js';
import { type FindOptions, findMatches, type Searched } from './find.js';
import type { OnSteps } from './match.js';
import type { Node } from './node.js';
import { compileNode } from './program.js';
import { parseRe2, SyntaxProblem } from './syntax.js';

export interface Re2Options {
  readonly onSteps?: OnSteps;
}

/** What is wrong with an expression: `error parsing regexp: missing closing ): \`(\``; undefined when nothing is. */
export function re2Problem(pattern: string, { onSteps }: Re2Options = {}): string | undefined {
  const { problem } = parsed(pattern, onSteps);
  return problem === undefined ? undefined : `error parsing regexp: ${problem}`;
}

/** Whether an expression matches anywhere in a text. An expression with a problem matches nothing. */
export function re2Matches(pattern: string, text: string, { onSteps }: Re2Options = {}): boolean {
  return withSearched(pattern, onSteps, ({ automaton }) => automaton.matches(text, 0, onSteps)) ?? false;
}

/**
 * What an expression matches, from left to right, none overlapping another. Nothing for an expression with a problem.
 *
 * @example
 * re2FindAll('[0-9]+', '12 a 3') // ['12', '3']
 */
export function re2FindAll(pattern: string, text: string, options: FindOptions = {}): string[] {
  return withSearched(pattern, options.onSteps, (searched) => findMatches(searched, text, options)) ?? [];
}

/** An expression as it was read, with what is made of it when it is first used. */
interface Kept {
  readonly problem?: string;
  readonly node?: Node;
  searched?: Searched | undefined;
}

/** Schemas bring the same few expressions for every value; who brings many or huge ones makes all be read again. */
const MAX_KEPT = 200;
/** What was read, made and remembered, in numbers of four bytes or what takes a few times that. */
const MAX_WEIGHT = 4_000_000;
const kept = new Map<string, Kept>();
let weight = 0;

/** What it takes to read a character of an expression, and to make an instruction, in steps. */
const STEPS_TO_READ = 50;
const STEPS_TO_MAKE = 20;

function parsed(pattern: string, onSteps: OnSteps | undefined): Kept {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  onSteps?.(pattern.length * STEPS_TO_READ);
  if (kept.size >= MAX_KEPT || weight >= MAX_WEIGHT) {
    kept.clear();
    weight = 0;
  }
  const made = parse(pattern);
  kept.set(pattern, made);
  weight += pattern.length * 10;
  return made;
}

function parse(pattern: string): Kept {
  try {
    return { node: parseRe2(pattern) };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { problem: error.message };
    throw error;
  }
}

/** Undefined for an expression with a problem. */
function withSearched<Result>(
  pattern: string,
  onSteps: OnSteps | undefined,
  use: (searched: Searched) => Result,
): Result | undefined {
  const own = parsed(pattern, onSteps);
  if (own.node === undefined) return undefined;
  if (own.searched === undefined) {
    onSteps?.(own.node.size * STEPS_TO_MAKE);
    const program = compileNode(own.node);
    own.searched = { program, automaton: new Automaton(program) };
    weight += weightOf(own.searched);
  }
  const { searched } = own;
  const before = weightOf(searched);
  try {
    return use(searched);
  } finally {
    weight += weightOf(searched) - before;
    if (weight >= MAX_WEIGHT) forgetOthers(own);
  }
}

function weightOf({ program, automaton }: Searched): number {
  return 3 * program.size + automaton.weight;
}

/** All are still known, but must be made again when they are used. */
function forgetOthers(own: Kept): void {
  for (const other of kept.values()) {
    if (other === own || other.searched === undefined) continue;
    weight -= weightOf(other.searched);
    other.searched = undefined;
  }
}
