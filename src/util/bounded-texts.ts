/** Collects messages and paths, up to a total length. */

/** All paths below a long key contain it, so they can be much longer than the object. */
const MAX_CHARACTERS = 1_000_000;

/** Texts until they have more than a million characters; further ones are left out. */
export class BoundedTexts {
  readonly texts: string[] = [];
  #characters = 0;

  get isFull(): boolean {
    return this.#characters > MAX_CHARACTERS;
  }

  add(text: string): void {
    if (this.isFull) return;
    this.#characters += text.length;
    this.texts.push(text);
  }
}
