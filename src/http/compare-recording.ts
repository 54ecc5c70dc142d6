/**
 * Compares the answers of a server with recorded ones. Uids, versions, generated names and times differ between servers: each
 * recorded value stands for the value that the server answered in its place, in later requests, too.
 */
import { isRecord } from '../util/json.js';

/** A difference between a recorded and an actual answer. */
export interface AnswerDifference {
  /** The path in the body: `.metadata.labels.app`; empty for the whole body. */
  readonly path: string;
  readonly recorded: unknown;
  readonly actual: unknown;
}

const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** What a server appends to `metadata.generateName`. */
const GENERATED = /[bcdfghjklmnpqrstvwxz2456789]{5}$/;

/** How old an object is, as tables show it. */
const AGE = /^(?:<unknown>|(?:\d+[smhdy])+)$/;

/** Compares answers in order; see the file comment. */
export class AnswerComparison {
  /** The actual values by the recorded ones. */
  readonly #uids = new Map<string, string>();
  readonly #versions = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #tokens = new Map<string, string>();

  /** A recorded path or body with the actual values. */
  translate(text: string): string {
    let translated = text.replace(UID, (uid) => this.#uids.get(uid) ?? uid);
    for (const [recorded, actual] of this.#names) translated = translated.replaceAll(recorded, actual);
    for (const [recorded, actual] of this.#tokens) translated = translated.replaceAll(recorded, actual);
    const version = (_whole: string, before: string, recorded: string): string =>
      before + (this.#versions.get(recorded) ?? recorded);
    return translated
      .replace(/([?&]resourceVersion=)(\d+)/g, version)
      .replace(/("resourceVersion"\s*:\s*")(\d+)/g, version);
  }

  /** The differences of two bodies. */
  compare(recorded: unknown, actual: unknown): readonly AnswerDifference[] {
    this.#learn(recorded, actual);
    const found: AnswerDifference[] = [];
    this.#compareAt('', recorded, actual, found);
    return found;
  }

  /** Learns which actual values stand for recorded ones. */
  #learn(recorded: unknown, actual: unknown): void {
    if (Array.isArray(recorded) && Array.isArray(actual)) {
      for (const [index, item] of recorded.entries()) this.#learn(item, actual[index]);
    } else if (isRecord(recorded) && isRecord(actual)) {
      const maps = { uid: this.#uids, resourceVersion: this.#versions, continue: this.#tokens } as const;
      for (const [key, values] of Object.entries(maps)) {
        const [left, right] = [recorded[key], actual[key]];
        if (typeof left === 'string' && typeof right === 'string' && left !== '' && !values.has(left)) {
          values.set(left, right);
        }
      }
      this.#learnName(recorded, actual);
      for (const [key, value] of Object.entries(recorded)) this.#learn(value, actual[key]);
    }
  }

  #learnName(recorded: Readonly<Record<string, unknown>>, actual: Readonly<Record<string, unknown>>): void {
    const [left, right] = [recorded['name'], actual['name']];
    if (typeof left !== 'string' || typeof right !== 'string' || left === right) return;
    const isGenerated = typeof recorded['generateName'] === 'string' && recorded['generateName'] !== '';
    if (isGenerated && GENERATED.test(left) && GENERATED.test(right)) this.#names.set(left, right);
  }

  #compareAt(path: string, recorded: unknown, actual: unknown, found: AnswerDifference[]): void {
    if (path.endsWith('.managedFields') && Array.isArray(recorded) && Array.isArray(actual)) {
      this.#compareAt(`${path} `, byManager(recorded), byManager(actual), found);
    } else if (Array.isArray(recorded) && Array.isArray(actual)) {
      for (let at = 0; at < Math.max(recorded.length, actual.length); at++)
        this.#compareAt(`${path}[${at}]`, recorded[at], actual[at], found);
    } else if (isRecord(recorded) && isRecord(actual)) {
      const keys = [...Object.keys(recorded), ...Object.keys(actual)];
      const names = new Map(keys.map((key) => [key, this.translate(key)]));
      const translated = new Set(
        Object.keys(recorded).flatMap((key) => (names.get(key) === key ? [] : names.get(key))),
      );
      for (const [key, name] of names) {
        // Keys of managedFields contain names.
        const other = Object.hasOwn(actual, key) ? actual[key] : actual[name];
        const inner = `${path}.${name}`;
        if (Object.hasOwn(recorded, key)) this.#compareField(inner, key, [recorded[key], other], found);
        else if (!translated.has(key)) found.push({ path: inner, recorded: undefined, actual: actual[key] });
      }
    } else if (!this.#isSame(recorded, actual) && !isAgeOf(path, recorded, actual))
      found.push({ path, recorded, actual });
  }

  #compareField(
    path: string,
    key: string,
    [recorded, actual]: readonly [unknown, unknown],
    found: AnswerDifference[],
  ): void {
    const areTexts = typeof recorded === 'string' && typeof actual === 'string';
    const isVersion = areTexts && (key === 'resourceVersion' || key === 'continue');
    // Other requests change the versions of lists; whether there is one counts.
    if (isVersion && (recorded === '') === (actual === '')) return;
    // Each server explains the columns of tables in its own words.
    if (/^\.(?:object\.)?columnDefinitions\[\d+\]\.description$/.test(path)) return;
    this.#compareAt(path, recorded, actual, found);
  }

  #isSame(recorded: unknown, actual: unknown): boolean {
    if (typeof recorded !== 'string' || typeof actual !== 'string') return recorded === actual;
    return recorded === actual || withoutTimes(this.translate(recorded)) === withoutTimes(actual);
  }
}

/** Entries are sorted by time, and a replay takes less time. */
function byManager(entries: readonly unknown[]): readonly unknown[] {
  const keyOf = (entry: unknown): string => {
    const { manager, operation, subresource = '' } = isRecord(entry) ? entry : {};
    return `${manager} ${operation} ${subresource}`;
  };
  return entries.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
}

function isAgeOf(path: string, recorded: unknown, actual: unknown): boolean {
  return /\.cells\[\d+\]$/.test(path) && AGE.test(String(recorded)) && AGE.test(String(actual));
}

function withoutTimes(text: string): string {
  return text.replace(TIME, '<time>');
}
