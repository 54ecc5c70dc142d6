/** Recorded results of the reference implementation for generated inputs: `oracle.jsonl`, one section per line. */
import { readFileSync } from 'node:fs';

interface Oracle {
  /** Schema, distinguisher, number of queues, hand. */
  readonly hands: readonly [string, string, number, readonly number[]][];
  readonly match: {
    /** Of one schema each. */
    readonly rules: readonly unknown[];
    /** User, groups, attributes, and for each schema whether it matches. */
    readonly digests: readonly [string, string[], string[], string][];
  };
  /** Seats in all, and levels; see the test for the order. */
  readonly limits: readonly [number, readonly (number | null)[][]][];
  /** Second of each drop, and what is told after it. */
  readonly dropped: readonly (readonly [number, number])[][];
  /** Time, and seats; or time, the end of a period, the most, what is expected. */
  readonly demand: readonly (readonly [number, number] | readonly [number, 'end', number, number])[][];
  /** Queues, hand, length, seats, and what was done: operation, arguments, and who began after it. */
  readonly trace: readonly [number, number, number, number, readonly [string, number[], number[] | 'rejected'][]][];
  readonly work: readonly [
    verb: string,
    name: string,
    resource: string,
    subresource: string,
    query: Readonly<Record<string, string>>,
    objects: number,
    watchers: number,
    maxSeats: number,
    seats: number,
    finalSeats: number,
    lingerMicroseconds: number,
  ][];
}

export const oracle = Object.fromEntries(
  readFileSync(new URL('./oracle.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; cases: unknown })
    .map(({ name, cases }) => [name, cases]),
) as unknown as Oracle;
