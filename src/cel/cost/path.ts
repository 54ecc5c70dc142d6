/**
 * How a part of an expression is reached from a variable: `self`, `items`, `@items`, `name`.
 *
 * The reference keeps paths in growing arrays and lets paths with the same beginning share one, so that the last path to
 * grow from a beginning overwrites the end of those that grew from it before. Estimates depend on it: in
 * `self.items.all(x, x.list.all(y, y != x.name))` the size of `x.list` is asked for when its path has become that of
 * `x.name`. So this is an array that grows in the same steps:
 *
 *     self                      room for 1, used 1
 *     self items                room for 2, used 2
 *     self items @items _       room for 4, used 3: `x.list` and `x.name` both write the fourth place
 */
export class Path {
  static readonly EMPTY = new Path([], 0, 0);

  readonly #places: string[];
  readonly #room: number;
  readonly length: number;

  private constructor(places: string[], length: number, room: number) {
    this.#places = places;
    this.length = length;
    this.#room = room;
  }

  static of(variable: string): Path {
    return new Path([variable], 1, 1);
  }

  append(step: string): Path {
    const grows = this.length === this.#room;
    const places = grows ? this.steps() : this.#places;
    places[this.length] = step;
    return new Path(places, this.length + 1, grows ? Math.max(this.#room * 2, 1) : this.#room);
  }

  /** As the path is at this moment. */
  steps(): string[] {
    return this.#places.slice(0, this.length);
  }
}
