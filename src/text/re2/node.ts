/**
 * The syntax nodes of a pattern, built from the inside out. Every node has three measures by which Go's parser limits
 * patterns: the height of its tree, the number of instructions, and the copies made by counted repetitions. Go's tree
 * is flatter (nested sequences are one sequence, adjacent characters are one string), so the measures are computed as
 * if this tree were flat, too. Go's factoring of common prefixes is not reproduced; it changes the measures by one or
 * two.
 */
import { type CharacterSet, unionOf } from './set.js';

export type Assertion = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'wordBoundary' | 'noWordBoundary';

interface Measures {
  readonly height: number;
  readonly size: number;
  readonly copies: number;
  /** Whether the node can match the empty string. */
  readonly nullable: boolean;
  /** Set for literal text, case-sensitive or folded. Adjacent literals of one kind are one text. */
  readonly text?: 'exact' | 'folded';
}

export type Node = Measures &
  (
    | { readonly kind: 'empty' }
    | { readonly kind: 'one'; readonly matches: number | CharacterSet }
    | { readonly kind: 'assertion'; readonly assertion: Assertion }
    | { readonly kind: 'capture'; readonly part: Node }
    | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Node[] }
    | Repetition
  );

interface Repetition {
  readonly kind: 'repeat';
  readonly part: Node;
  readonly min: number;
  /** Infinity if unbounded. */
  readonly max: number;
  /** Prefers few repetitions. This affects only which match is found, not whether there is one. */
  readonly lazy: boolean;
}

/** Limits of height, instructions and copies. */
export const MAX_HEIGHT = 1000;
export const MAX_SIZE = 3_355_443;
export const MAX_COPIES = 1000;

const LEAF = { height: 1, size: 1, copies: 0 } as const;

export const EMPTY: Node = { kind: 'empty', ...LEAF, nullable: true };

/** A single character or a set; `text` if it is a literal. */
export function one(matches: number | CharacterSet, text?: 'exact' | 'folded'): Node {
  const node = { kind: 'one', matches, height: 1, size: 1, copies: 0, nullable: false } as const;
  return text === undefined ? node : { ...node, text };
}

export function assertion(name: Assertion): Node {
  return { kind: 'assertion', assertion: name, ...LEAF, nullable: true };
}

export function capture(part: Node): Node {
  const { copies, nullable } = part;
  return { kind: 'capture', part, height: part.height + 1, size: part.size + 2, copies, nullable };
}

/** A sequence of nodes. */
export function sequence(parts: readonly Node[]): Node {
  const [first = EMPTY] = parts;
  if (parts.length < 2) return first;
  const { text } = first;
  const size = sum(parts);
  const copies = largest(parts, (part) => part.copies);
  const nullable = parts.every((part) => part.nullable);
  if (text !== undefined && parts.every((part) => part.text === text)) {
    return { kind: 'sequence', parts, height: 1, size, copies, nullable, text };
  }
  const height = 1 + largest(parts, (part) => flatHeight(part, 'sequence'));
  return { kind: 'sequence', parts, height, size, copies, nullable };
}

/**
 * A choice between nodes. Like in Go, adjacent single characters become one set and adjacent empty alternatives one, so
 * a choice of thousands of characters does not become as many instructions.
 */
export function choice(all: readonly Node[]): Node {
  const parts = all.length < 2 ? all : mergeAdjacent(all);
  const [first = EMPTY] = parts;
  if (parts.length < 2) return first;
  const size = sum(parts) + parts.length - 1;
  const copies = largest(parts, (part) => part.copies);
  const height = 1 + largest(parts, (part) => flatHeight(part, 'choice'));
  const nullable = parts.some((part) => part.nullable);
  return { kind: 'choice', parts, height, size, copies, nullable };
}

function mergeAdjacent(parts: readonly Node[]): readonly Node[] {
  const merged: Node[] = [];
  let run: (Node & { kind: 'one' })[] = [];
  const endRun = (): void => {
    const [first] = run;
    if (first !== undefined) merged.push(run.length === 1 ? first : one(unionOf(run.map(({ matches }) => matches))));
    run = [];
  };
  for (const part of parts) {
    if (part.kind === 'one') {
      run.push(part);
      continue;
    }
    endRun();
    if (part.kind !== 'empty' || merged.at(-1)?.kind !== 'empty') merged.push(part);
  }
  endRun();
  return merged;
}

/**
 * A repetition. `*`, `+` and `?` do not count as copies: `written` distinguishes them from `{0,}`, `{1,}` and `{0,1}`.
 */
export function repeat(
  part: Node,
  { min, max, lazy }: Pick<Repetition, 'min' | 'max' | 'lazy'>,
  written: 'sign' | 'count',
): Node {
  const times = max === Number.POSITIVE_INFINITY ? min : max;
  return {
    kind: 'repeat',
    part,
    min,
    max,
    lazy,
    nullable: min === 0 || part.nullable,
    height: part.height + 1,
    size: repeatSize(part, min, max),
    copies: written === 'sign' ? part.copies : copiesOf(part, times, max),
  };
}

function repeatSize(part: Node, min: number, max: number): number {
  if (max !== Number.POSITIVE_INFINITY) return Math.max(1, max * part.size + max - min);
  return min === 0 ? 2 + part.size : 1 + min * part.size;
}

function copiesOf(part: Node, times: number, max: number): number {
  if (max === 0) return 0;
  return times === 0 ? part.copies : times * Math.max(1, part.copies);
}

function flatHeight(part: Node, kind: 'sequence' | 'choice'): number {
  return part.kind === kind && part.text === undefined ? part.height - 1 : part.height;
}

function sum(parts: readonly Node[]): number {
  return parts.reduce((total, part) => total + part.size, 0);
}

/** Not Math.max(...): a pattern may have more nodes than a call may have arguments. */
function largest(parts: readonly Node[], figure: (part: Node) => number): number {
  return parts.reduce((most, part) => Math.max(most, figure(part)), 0);
}
