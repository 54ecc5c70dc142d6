/** Recorded results of the reference implementation for generated inputs: `reference-results.jsonl`, one section per line. */
import { readFileSync } from 'node:fs';

interface ReferenceResults {
  /** Schema, distinguisher, number of queues, hand. */
  readonly hands: readonly [string, string, number, readonly number[]][];
  readonly match: {
    /** The rules of each schema. */
    readonly rules: readonly unknown[];
    /** User, groups, attributes, and for each schema whether it matches. */
    readonly digests: readonly [string, string[], string[], string][];
  };
  /** Total seats, and the levels; the test names the columns. */
  readonly limits: readonly [number, readonly (number | null)[][]][];
  /** The second of each rejection, and the Retry-After that follows it. */
  readonly dropped: readonly (readonly [number, number])[][];
  /** Time and seats; or time, the end of a period, the high watermark and the smoothed demand. */
  readonly demand: readonly (readonly [number, number] | readonly [number, 'end', number, number])[][];
  /** Queues, hand size, queue length, seats, and steps: operation, arguments, and the requests dispatched after it. */
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

export const referenceResults = Object.fromEntries(
  readFileSync(new URL('./reference-results.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { name: string; cases: unknown })
    .map(({ name, cases }) => [name, cases]),
) as unknown as ReferenceResults;
