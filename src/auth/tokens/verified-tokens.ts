/**
 * Tokens whose signature was found good, because the same token is shown with every request. Only what can never change
 * is kept; whether the token still stands for anybody is asked every time. What was used longest ago goes first.
 */

/** As much text as is kept, in characters. At some 900 for a token, a thousand of them. */
const MOST_CHARACTERS = 1_000_000;

export class VerifiedTokens<Value> {
  readonly #values = new Map<string, Value>();
  #characters = 0;

  get(token: string): Value | undefined {
    const value = this.#values.get(token);
    if (value !== undefined) {
      // A Map is in the order in which keys came.
      this.#values.delete(token);
      this.#values.set(token, value);
    }
    return value;
  }

  add(token: string, value: Value): void {
    if (!this.#values.has(token)) this.#characters += token.length;
    this.#values.set(token, value);
    for (const oldest of this.#values.keys()) {
      if (this.#characters <= MOST_CHARACTERS) return;
      this.#values.delete(oldest);
      this.#characters -= oldest.length;
    }
  }

  get size(): number {
    return this.#values.size;
  }
}
