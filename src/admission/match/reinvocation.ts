/**
 * Tracks reinvocation of webhooks or policies: the second round runs those with reinvocationPolicy IfNeeded that ran in
 * the first round and whose object changed afterwards.
 */
import { copyJson, deepEqual } from '../../util/json.js';
import type { AdmissionPlugin, Rounds } from '../types.js';

export class Reinvocation {
  readonly #rounds: Rounds;
  /** The object as the plugin left it; other plugins may change it between rounds. */
  #lastObject: unknown;
  /** Keys that ran and allow reinvocation if the object changes. */
  #reinvocable = new Set<string>();
  /** Keys to run in the second round: the object changed after they ran. */
  readonly #scheduled = new Set<string>();

  constructor(rounds: Rounds) {
    this.#rounds = rounds;
  }

  /** The state of a plugin for one request; both rounds share it. */
  static of(plugin: AdmissionPlugin, rounds: Rounds): Reinvocation {
    const known = rounds.pluginState.get(plugin);
    if (known instanceof Reinvocation) return known;
    const made = new Reinvocation(rounds);
    rounds.pluginState.set(plugin, made);
    return made;
  }

  /** Starts a round: a change by another plugin since the last round triggers reinvocation. */
  beginRound(object: unknown): void {
    if (this.#isSecondRound && !deepEqual(this.#lastObject, object)) this.#schedule();
  }

  /** Ends a round, also after an error. */
  endRound(object: unknown): void {
    this.#lastObject = copyJson(object);
  }

  get #isSecondRound(): boolean {
    return this.#rounds.round > 0;
  }

  /** Everything runs in the first round; the second runs only scheduled keys. */
  shouldInvoke(key: string): boolean {
    return !this.#isSecondRound || this.#scheduled.has(key);
  }

  /** The object changed: schedules the keys that ran before, and requests a second round. */
  objectChanged(): void {
    this.#schedule();
    this.#rounds.requestReinvocation();
  }

  /** Marks a key that ran as reinvocable. */
  allowReinvocation(key: string): void {
    this.#reinvocable.add(key);
  }

  #schedule(): void {
    for (const key of this.#reinvocable) this.#scheduled.add(key);
    this.#reinvocable = new Set();
  }
}
