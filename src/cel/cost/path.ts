/**
 * The path from a variable to a node: `self`, `items`, `@items`, `name`.
 *
 * cel-go builds paths by appending to Go slices. Paths with a common prefix share one backing array, so the last append
 * overwrites the ends of earlier paths. Estimates depend on that: in `self.items.all(x, x.list.all(y, y != x.name))`
 * the size of `x.list` is looked up after its path has become that of `x.name`. This class reproduces the growth of Go
 * slices:
 *
 *     self                      capacity 1, length 1
 *     self items                capacity 2, length 2
 *     self items @items _       capacity 4, length 3: `x.list` and `x.name` both write the fourth element
 */
export class Path {
  static readonly EMPTY = new Path([], 0, 0);

  readonly #array: string[];
  readonly #capacity: number;
  readonly length: number;

  private constructor(array: string[], length: number, capacity: number) {
    this.#array = array;
    this.length = length;
    this.#capacity = capacity;
  }

  static of(variable: string): Path {
    return new Path([variable], 1, 1);
  }

  append(step: string): Path {
    const isFull = this.length === this.#capacity;
    const array = isFull ? this.steps() : this.#array;
    array[this.length] = step;
    return new Path(array, this.length + 1, isFull ? Math.max(this.#capacity * 2, 1) : this.#capacity);
  }

  /** The current steps of the path. */
  steps(): string[] {
    return this.#array.slice(0, this.length);
  }
}
