/**
 * Entry point of the RE2 regular expressions (Go's regexp syntax without lookaround and back references). Syntax errors
 * equal the reference server's, and matching takes time linear in the text. Other folders import only this file;
 * `test/package/layers.test.ts` checks it.
 *
 * A pattern is parsed (`syntax.ts`) into nodes (`node.ts`) with character sets (`set.ts`), compiled to instructions
 * (`program.ts`), and run over the text in all states at once (`nfa.ts`, `find.ts`). `lazy-dfa.ts` caches the
 * transitions between state sets.
 */

import { Re2SyntaxError } from './class.js';
import { type CompiledRe2, type FindOptions, findMatches } from './find.js';
import { LazyDfa } from './lazy-dfa.js';
import type { OnSteps } from './nfa.js';
import type { Node } from './node.js';
import { compileNode } from './program.js';
import { parseRe2 } from './syntax.js';

export interface Re2Options {
  readonly onSteps?: OnSteps;
}

/** The error of a pattern, such as `error parsing regexp: missing closing ): \`(\``; undefined if it is valid. */
export function re2Problem(pattern: string, { onSteps }: Re2Options = {}): string | undefined {
  const { problem } = parsed(pattern, onSteps);
  return problem === undefined ? undefined : `error parsing regexp: ${problem}`;
}

/** Whether a pattern matches anywhere in a text. An invalid pattern matches nothing. */
export function re2Matches(pattern: string, text: string, { onSteps }: Re2Options = {}): boolean {
  return withCompiled(pattern, onSteps, ({ dfa }) => dfa.matches(text, 0, onSteps)) ?? false;
}

/**
 * The non-overlapping matches from left to right. Empty for an invalid pattern.
 *
 * @example
 * re2FindAll('[0-9]+', '12 a 3') // ['12', '3']
 */
export function re2FindAll(pattern: string, text: string, options: FindOptions = {}): string[] {
  return withCompiled(pattern, options.onSteps, (compiled) => findMatches(compiled, text, options)) ?? [];
}

/** A cached pattern; it is compiled on first use. */
interface CacheEntry {
  readonly problem?: string;
  readonly node?: Node;
  compiled?: CompiledRe2 | undefined;
}

/**
 * Maximum cached patterns. Schemas use the same few patterns for every value; with more or huge ones the cache is
 * cleared.
 */
const MAX_CACHED = 200;
/** Maximum size of the cache, in units of about four bytes. */
const MAX_WEIGHT = 4_000_000;
const cache = new Map<string, CacheEntry>();
let weight = 0;

/** Work to parse one character of a pattern, and to compile one instruction, in steps. */
const STEPS_TO_READ = 50;
const STEPS_TO_MAKE = 20;

function parsed(pattern: string, onSteps: OnSteps | undefined): CacheEntry {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  onSteps?.(pattern.length * STEPS_TO_READ);
  if (cache.size >= MAX_CACHED || weight >= MAX_WEIGHT) {
    cache.clear();
    weight = 0;
  }
  const made = parse(pattern);
  cache.set(pattern, made);
  weight += pattern.length * 10;
  return made;
}

function parse(pattern: string): CacheEntry {
  try {
    return { node: parseRe2(pattern) };
  } catch (error) {
    if (error instanceof Re2SyntaxError) return { problem: error.message };
    throw error;
  }
}

/** Runs a function with the compiled pattern; undefined for an invalid pattern. */
function withCompiled<Result>(
  pattern: string,
  onSteps: OnSteps | undefined,
  use: (compiled: CompiledRe2) => Result,
): Result | undefined {
  const entry = parsed(pattern, onSteps);
  if (entry.node === undefined) return undefined;
  if (entry.compiled === undefined) {
    onSteps?.(entry.node.size * STEPS_TO_MAKE);
    const program = compileNode(entry.node);
    entry.compiled = { program, dfa: new LazyDfa(program) };
    weight += weightOf(entry.compiled);
  }
  const { compiled } = entry;
  const before = weightOf(compiled);
  try {
    return use(compiled);
  } finally {
    weight += weightOf(compiled) - before;
    if (weight >= MAX_WEIGHT) evictOthers(entry);
  }
}

function weightOf({ program, dfa }: CompiledRe2): number {
  return 3 * program.size + dfa.weight;
}

/** Drops the other compiled patterns; they are recompiled on their next use. */
function evictOthers(entry: CacheEntry): void {
  for (const other of cache.values()) {
    if (other === entry || other.compiled === undefined) continue;
    weight -= weightOf(other.compiled);
    other.compiled = undefined;
  }
}
