/**
 * Decides whether an event becomes a new object, increments the count of an existing one, or is dropped. The rules are those
 * of client-go's EventCorrelator, so a loop that fails every second leaves a handful of events:
 *
 *   equal events                          one object with a count
 *   ten with different messages           from the tenth on one combined object with a count
 *   more than 25 about one object         one every five minutes; the others are dropped
 *
 * Makes no requests: `events.ts` writes the result and calls `written`.
 */
import type { Clock } from '../../util/clock.js';
import { getOrInsertComputed } from '../../util/once.js';
import { sha256Tag } from '../../util/sha256.js';

/**
 * A map of limited size that evicts the least recently used entry.
 */
export class RecentMap<Value> {
  readonly #most: number;
  /** A Map keeps insertion order, so the first entry is the least recently used one. */
  readonly #entries = new Map<string, Value>();
  /** The most recently used key: it need not be moved to the end. */
  #newest: string | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined && key !== this.#newest) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    if (key !== this.#newest) this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#newest = key;
    if (this.#entries.size <= this.#most) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

/** The attributes of an event that decide which events are equal or similar. */
export interface EventAttributes {
  readonly source: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The part of the object; empty: the whole object. */
  readonly fieldPath: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** An Event object that counts occurrences. */
export interface CountedEvent {
  readonly name: string;
  readonly count: number;
}

export interface Correlated {
  /** The key for `written`. */
  readonly key: string;
  readonly message: string;
  /** Whether the Event object stands for events with different messages. */
  readonly isCombined: boolean;
  /** The existing Event object; undefined: none yet. */
  readonly known: CountedEvent | undefined;
}

const MOST_REMEMBERED = 4_096;
const LONGEST_REMEMBERED = 1_024;
const SIMILAR_EVENTS = 10;
const SIMILAR_WITHIN_MS = 600_000;
const COMBINED = '(combined from similar events): ';
const BURST = 25;
const MS_PER_EVENT = 300_000;

interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Bucket {
  tokens: number;
  lastMs: number;
}

export class EventCorrelator {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #similar = new RecentMap<Similar>(MOST_REMEMBERED);
  readonly #counted = new RecentMap<CountedEvent>(MOST_REMEMBERED);
  readonly #buckets = new RecentMap<Bucket>(MOST_REMEMBERED);

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Returns what to write; undefined: the event is dropped because of the rate limit. */
  correlate(happening: EventAttributes): Correlated | undefined {
    const about = aboutText(happening);
    const similar = `${about}\n${happening.reason}`;
    const isCombined = this.#isCombined(happening, similar);
    const message = isCombined ? COMBINED + happening.message : happening.message;
    const key = isCombined ? similar : `${similar}\n${happening.fieldPath}\n${identityOf(message)}`;
    if (!this.#takesToken(about)) return undefined;
    return { key, message, isCombined, known: this.#counted.get(key) };
  }

  /** Remembers the Event object on which further occurrences are counted. */
  written(key: string, counted: CountedEvent): void {
    this.#counted.set(key, counted);
  }

  #isCombined(happening: EventAttributes, key: string): boolean {
    const now = this.#clock.now();
    let similar = this.#similar.get(key);
    if (similar === undefined || now - similar.lastMs > SIMILAR_WITHIN_MS) {
      similar = { messages: new Set(), lastMs: now };
      this.#similar.set(key, similar);
    }
    similar.messages.add(identityOf(happening.message));
    similar.lastMs = now;
    if (similar.messages.size < SIMILAR_EVENTS) return false;
    // Limits the size of the set.
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest);
      break;
    }
    return true;
  }

  #takesToken(key: string): boolean {
    const now = this.#clock.now();
    const bucket = getOrInsertComputed(this.#buckets, key, () => ({ tokens: BURST, lastMs: now }));
    bucket.tokens = Math.min(BURST, bucket.tokens + Math.max(0, now - bucket.lastMs) / MS_PER_EVENT);
    bucket.lastMs = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }
}

/** A message can be as long as a request. The hash of a long one is remembered. */
function identityOf(message: string): string {
  return message.length > LONGEST_REMEMBERED ? sha256Tag(message) : message;
}

/** The key of source, object and type. No part can contain a line break. */
function aboutText({ source, kind, namespace, name, uid, apiVersion, type }: EventAttributes): string {
  return `${source}\n${kind}\n${namespace}\n${name}\n${uid}\n${apiVersion}\n${type}`;
}
