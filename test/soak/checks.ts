/**
 * What a soak run checks. Each check returns a sentence that says what was violated, or undefined.
 */
import { isDeepStrictEqual } from 'node:util';

/** An object as clients read it; in an event of type ERROR, a Status. */
export interface Stored {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly { readonly manager?: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly code?: number;
}

export interface StoredList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Stored[];
}

export interface StoredEvent {
  readonly type: string;
  readonly object: Stored;
}

type Problem = string | undefined;

/** The state of a collection, built from one list and the events after it. */
export class Replica {
  #items = new Map<string, Stored>();
  #version = '0';

  get version(): string {
    return this.#version;
  }

  get size(): number {
    return this.#items.size;
  }

  reset(list: StoredList): void {
    this.#items = new Map(list.items.map((item) => [keyOf(item), item]));
    this.#version = list.metadata.resourceVersion;
  }

  /** Applies an event. Versions increase, and each type of event fits what is there. */
  apply({ type, object }: StoredEvent): Problem {
    const { resourceVersion } = object.metadata;
    const isBookmark = type === 'BOOKMARK';
    const progress = Number(resourceVersion) - Number(this.#version);
    if (!(isBookmark ? progress >= 0 : progress > 0)) {
      return `a watch at version ${this.#version} delivered ${type} of version ${resourceVersion}`;
    }
    this.#version = resourceVersion;
    if (isBookmark) return undefined;
    const key = keyOf(object);
    const isKnown = this.#items.has(key);
    if (type === 'DELETED') this.#items.delete(key);
    else this.#items.set(key, object);
    if (isKnown !== (type === 'ADDED')) return undefined;
    return `a watch delivered ${type} of ${key} at version ${resourceVersion}, which ${isKnown ? 'is known' : 'is not known'}`;
  }

  /** Compares with a list at the same version. */
  compare(list: StoredList): Problem {
    if (list.metadata.resourceVersion !== this.#version) {
      return `a list at version ${this.#version} returned version ${list.metadata.resourceVersion}`;
    }
    const difference = compareItems([...this.#items.values()], list.items);
    return difference && `a watch at version ${this.#version} does not equal the list: ${difference}`;
  }
}

/** Compares all pages of a list with a list at their version. */
export function comparePages(pages: readonly StoredList[], list: StoredList): Problem {
  const versions = new Set([...pages, list].map(({ metadata }) => metadata.resourceVersion));
  if (versions.size !== 1) return `the pages of one list have the versions ${[...versions].join(', ')}`;
  const items = pages.flatMap((page) => page.items);
  const names = new Set(items.map(keyOf));
  if (names.size !== items.length) return `the pages contain ${items.length - names.size} objects twice`;
  const difference = compareItems(items, list.items);
  return difference && `the pages of version ${list.metadata.resourceVersion} do not equal the list: ${difference}`;
}

function compareItems(found: readonly Stored[], expected: readonly Stored[]): Problem {
  const left = new Map(found.map((item) => [keyOf(item), withoutType(item)]));
  for (const item of expected) {
    const key = keyOf(item);
    const other = left.get(key);
    if (other === undefined) return `${key} is missing`;
    if (!isDeepStrictEqual(other, withoutType(item))) {
      return `${key} is ${excerpt(other)} instead of ${excerpt(withoutType(item))}`;
    }
    left.delete(key);
  }
  const [extra] = left.keys();
  return extra && `${extra} should not be there`;
}

/** Items of lists have no type of their own. */
function withoutType({ kind: _kind, apiVersion: _version, ...rest }: Stored): unknown {
  return rest;
}

function keyOf({ metadata }: Stored): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function excerpt(value: unknown): string {
  return JSON.stringify(value).slice(0, 300);
}

/**
 * The increments of one writer of a counter. An acknowledged increment counts once. One without a response counts once or
 * not at all; the next acknowledged increment, which has a newer version, excludes that it is still executed.
 */
export class Counter {
  #known = 0;
  #pending = 0;

  get acknowledged(): number {
    return this.#known;
  }

  read(value: number): Problem {
    const [least, most] = [this.#known, this.#known + this.#pending];
    if (!(value >= least && value <= most)) return `a counter is ${value}, expected ${least} to ${most}`;
    this.#pending -= value - this.#known;
    this.#known = value;
    return undefined;
  }

  sent(): void {
    this.#pending++;
  }

  rejected(): void {
    this.#pending--;
  }

  acknowledge(value: number): void {
    this.#known = value;
    this.#pending = 0;
  }
}

/** The contents that an object can have: exactly one, unless a write got no response. `undefined`: it does not exist. */
export class Ledger {
  readonly #possible = new Map<string, (string | undefined)[]>();

  /** False while the result of a write is unknown. No other write of this object may follow. */
  isCertain(name: string): boolean {
    return (this.#possible.get(name)?.length ?? 1) === 1;
  }

  content(name: string): string | undefined {
    return this.#possible.get(name)?.[0];
  }

  names(): string[] {
    return [...this.#possible.keys()];
  }

  sent(name: string, content: string | undefined): void {
    this.#possible.set(name, [this.content(name), content]);
  }

  acknowledged(name: string): void {
    this.#possible.set(name, [this.#possible.get(name)?.at(-1)]);
  }

  rejected(name: string): void {
    this.#possible.set(name, [this.content(name)]);
  }

  /** Compares with what was read while no write was running. */
  read(name: string, content: string | undefined): Problem {
    const possible = this.#possible.get(name) ?? [undefined];
    if (!possible.includes(content)) {
      return `${name} is ${content ?? 'absent'}, expected ${possible.map((each) => each ?? 'absent').join(' or ')}`;
    }
    if (content === undefined) this.#possible.delete(name);
    else this.#possible.set(name, [content]);
    return undefined;
  }
}

/** The growth that measuring and the order of requests explain. */
const TOLERANCE = { factor: 1.2, megabytes: 24 };

/** Compares the live heap, in megabytes, after the warm-up and at the end. */
export function compareMemory(warm: number, end: number): Problem {
  const most = warm * TOLERANCE.factor + TOLERANCE.megabytes;
  if (end <= most) return undefined;
  return `the heap grew from ${warm.toFixed(0)} MB after the warm-up to ${end.toFixed(0)} MB at the end`;
}

/** A run with so many violations ends. */
const MOST_VIOLATIONS = 10;

/** Counts and violations of a run. */
export class Report {
  readonly counts: Record<string, number> = {};
  readonly violations: string[] = [];
  readonly #stop = new AbortController();
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** Aborted after too many violations, or at the end. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  count(what: string, by = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + by;
  }

  violation(text: string): void {
    this.violations.push(text);
    this.#log(`violated: ${text}`);
    if (this.violations.length >= MOST_VIOLATIONS) this.stop();
  }

  /** Takes the result of a check. */
  check(what: string, problem: string | undefined): void {
    this.count(`checks: ${what}`);
    if (problem !== undefined) this.violation(`${what}: ${problem}`);
  }

  stop(): void {
    this.#stop.abort();
  }
}
