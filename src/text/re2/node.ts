/**
 * The parts of a regular expression, made from the inside out. Every part knows three figures by which the reference
 * server refuses expressions: how high its own tree for it is, how many instructions it would make of it, and how often
 * counted repetitions would copy the innermost thing. That tree is flatter than this one (a sequence in a sequence is
 * one sequence, neighbouring characters are one text), so the figures are worked out as if this one were flat too.
 * Its search for common beginnings of alternatives is not imitated; it moves the figures by one or two.
 */
import { type CharacterSet, unionOf } from './set.js';

export type Assertion = 'textStart' | 'textEnd' | 'lineStart' | 'lineEnd' | 'wordBoundary' | 'noWordBoundary';

interface Figures {
  readonly height: number;
  readonly size: number;
  readonly copies: number;
  /** Whether the part may match nothing. */
  readonly nullable: boolean;
  /** Set where the part is plain text, read with or without regard to case. Neighbours of one sort are one text. */
  readonly text?: 'exact' | 'folded';
}

export type Node = Figures &
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
  /** Infinity when there is no end. */
  readonly max: number;
  /** As few times as possible. Whether there is a match does not depend on it, only which. */
  readonly lazy: boolean;
}

/** The highest tree, the most instructions and the most copies that are accepted. */
export const MAX_HEIGHT = 1000;
export const MAX_SIZE = 3_355_443;
export const MAX_COPIES = 1000;

const LEAF = { height: 1, size: 1, copies: 0 } as const;

export const EMPTY: Node = { kind: 'empty', ...LEAF, nullable: true };

/** One character, or one of several; `text` when it stands for itself. */
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

/** One part after the other. */
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
 * One part or another. Neighbours of one character each are one set, and neighbours that are nothing are one nothing:
 * there too, and a choice of thousands of characters must not become as many instructions.
 */
export function choice(all: readonly Node[]): Node {
  const parts = all.length < 2 ? all : mergedNeighbours(all);
  const [first = EMPTY] = parts;
  if (parts.length < 2) return first;
  const size = sum(parts) + parts.length - 1;
  const copies = largest(parts, (part) => part.copies);
  const height = 1 + largest(parts, (part) => flatHeight(part, 'choice'));
  const nullable = parts.some((part) => part.nullable);
  return { kind: 'choice', parts, height, size, copies, nullable };
}

function mergedNeighbours(parts: readonly Node[]): readonly Node[] {
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

/** `*`, `+` and `?` take no part in the count of copies: `written` tells them from `{0,}`, `{1,}` and `{0,1}`. */
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

/** No spreading into Math.max: an expression may have more parts than a call takes arguments. */
function largest(parts: readonly Node[], figure: (part: Node) => number): number {
  return parts.reduce((most, part) => Math.max(most, figure(part)), 0);
}
