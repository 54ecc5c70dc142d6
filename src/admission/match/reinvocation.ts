/**
 * Which webhooks or policies are asked once more in the second round: those that want to be, were asked in the first one,
 * and whose object was changed after they had been asked.
 */
import { copyJson, deepEqual } from '../../util/json.js';
import type { AdmissionPlugin, Rounds } from '../types.js';

export class Reinvocation {
  readonly #rounds: Rounds;
  /** The object as the plugin left it; other plugins may change it between the rounds. */
  #left: unknown;
  /** Asked, and willing to be asked again if anything changes. */
  #willing = new Set<string>();
  /** Something has changed since they were asked. */
  readonly #due = new Set<string>();

  constructor(rounds: Rounds) {
    this.#rounds = rounds;
  }

  /** What the plugin knows of the request it looks at; the same in both rounds. */
  static of(plugin: AdmissionPlugin, rounds: Rounds): Reinvocation {
    const known = rounds.memory.get(plugin);
    if (known instanceof Reinvocation) return known;
    const made = new Reinvocation(rounds);
    rounds.memory.set(plugin, made);
    return made;
  }

  /** At the beginning of a round. */
  begin(object: unknown): void {
    if (this.#isAgain && !deepEqual(this.#left, object)) this.#demand();
  }

  /** At its end, however it ended. */
  end(object: unknown): void {
    this.#left = copyJson(object);
  }

  get #isAgain(): boolean {
    return this.#rounds.round > 0;
  }

  /** In the first round all are asked; in the second one nobody for the first time. */
  isAsked(key: string): boolean {
    return !this.#isAgain || this.#due.has(key);
  }

  /** The object is another than the one that others have seen: everybody is to have another look. */
  changed(): void {
    this.#demand();
    this.#rounds.again();
  }

  /** After it was asked. */
  wantsAgain(key: string): void {
    this.#willing.add(key);
  }

  #demand(): void {
    for (const key of this.#willing) this.#due.add(key);
    this.#willing = new Set();
  }
}
