/**
 * What becomes of an event: a new object, one more count on an object that is there, or nothing. The rules are those of
 * the reference's recorder, so that a loop that fails every second leaves a handful of events and not thousands:
 *
 *   equal events                       one object, counted
 *   ten that differ in the message     from the tenth on one object for all of them, counted
 *   more than 25 about one object      one every five minutes; the others are dropped
 *
 * Knows nothing of requests: `events.ts` writes what comes out here and tells how it went.
 */
import type { Clock } from '../../util/clock.js';

/**
 * A map that forgets what was not asked for longest, once it holds too much.
 */
export class RecentMap<Value> {
  readonly #most: number;
  /** A Map keeps the order of insertion, so the first entry is the one to forget. */
  readonly #entries = new Map<string, Value>();
  /** What was asked for last: it need not be moved to the end. */
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

/** An event as far as it decides which others are like it. */
export interface Happening {
  readonly source: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** An object that events like this one are counted on. */
export interface Counted {
  readonly name: string;
  readonly count: number;
}

export interface Correlated {
  /** Under which the object is remembered. */
  readonly key: string;
  readonly message: string;
  /** Absent: there is none yet. */
  readonly known: Counted | undefined;
}

const MOST_REMEMBERED = 4_096;
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
  readonly #counted = new RecentMap<Counted>(MOST_REMEMBERED);
  readonly #buckets = new RecentMap<Bucket>(MOST_REMEMBERED);
  readonly #texts = new Texts();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** What to write about it; undefined: nothing, there have been too many. */
  correlate(happening: Happening): Correlated | undefined {
    const { about, similar } = this.#texts.of(happening);
    const isCombined = this.#isOneOfMany(happening, similar);
    const message = isCombined ? COMBINED + happening.message : happening.message;
    const key = isCombined ? similar : `${similar}\n\n${message}`;
    if (!this.#takesToken(about)) return undefined;
    return { key, message, known: this.#counted.get(key) };
  }

  /** It has been written: events like it are counted there from now on. */
  written(key: string, counted: Counted): void {
    this.#counted.set(key, counted);
  }

  #isOneOfMany(happening: Happening, key: string): boolean {
    const now = this.#clock.now();
    let similar = this.#similar.get(key);
    if (similar === undefined || now - similar.lastMs > SIMILAR_WITHIN_MS) {
      similar = { messages: new Set(), lastMs: now };
      this.#similar.set(key, similar);
    }
    similar.messages.add(happening.message);
    similar.lastMs = now;
    if (similar.messages.size < SIMILAR_EVENTS) return false;
    // So that the set does not grow with every message there ever was.
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest);
      break;
    }
    return true;
  }

  #takesToken(key: string): boolean {
    const now = this.#clock.now();
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: BURST, lastMs: now };
      this.#buckets.set(key, bucket);
    }
    bucket.tokens = Math.min(BURST, bucket.tokens + Math.max(0, now - bucket.lastMs) / MS_PER_EVENT);
    bucket.lastMs = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }
}

/**
 * What happenings are compared by. A controller tells of one object again and again, and long texts take their time to be
 * put together and looked up: the last ones are kept.
 */
class Texts {
  #last: Happening | undefined;
  #about = '';
  readonly #similar = new Map<string, string>();

  of(happening: Happening): { readonly about: string; readonly similar: string } {
    if (this.#last === undefined || !isAboutTheSame(this.#last, happening)) {
      this.#last = happening;
      this.#about = aboutText(happening);
      this.#similar.clear();
    }
    const { reason } = happening;
    let similar = this.#similar.get(reason);
    if (similar === undefined) {
      similar = `${this.#about}\n${reason}`;
      // There are a few reasons only, unless somebody makes them up.
      if (this.#similar.size >= MOST_REASONS) this.#similar.clear();
      this.#similar.set(reason, similar);
    }
    return { about: this.#about, similar };
  }
}

const MOST_REASONS = 50;

/** Who says something of what sort about which object. No part can hold a line break. */
function aboutText({ source, kind, namespace, name, uid, apiVersion, type }: Happening): string {
  return `${source}\n${kind}\n${namespace}\n${name}\n${uid}\n${apiVersion}\n${type}`;
}

function isAboutTheSame(left: Happening, right: Happening): boolean {
  return (
    left.uid === right.uid &&
    left.name === right.name &&
    left.namespace === right.namespace &&
    left.kind === right.kind &&
    left.apiVersion === right.apiVersion &&
    left.type === right.type &&
    left.source === right.source
  );
}
