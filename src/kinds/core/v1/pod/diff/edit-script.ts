/**
 * The edits that turn one list into another. The search proceeds from both ends towards the middle and takes the first
 * match, which is not always the shortest script. It follows go-cmp exactly, because the printed diff depends on it.
 * upstream: go-cmp cmp/internal/diff/diff.go Difference
 */

/** The result of a comparison of two items, in numbers of leaves. */
export interface LeafCounts {
  readonly same: number;
  readonly different: number;
}

export type Edit = 'identity' | 'modified' | 'removed' | 'inserted';

export type Compare = (left: number, right: number) => LeafCounts;

interface Point {
  x: number;
  y: number;
}

interface Path extends Point {
  readonly edits: Edit[];
}

/** The edits from a list of `leftLength` items to one of `rightLength` items. */
export function editScript(leftLength: number, rightLength: number, compare: Compare): Edit[] {
  const search = new Search(leftLength, rightLength, compare);
  return search.run();
}

class Search {
  readonly #compare: Compare;
  readonly #forward: Path = { x: 0, y: 0, edits: [] };
  readonly #reverse: Path;
  readonly #front: Point = { x: 0, y: 0 };
  readonly #back: Point;
  /** Limits the search. When it is used up, the rest counts as different. */
  #budget: number;

  constructor(leftLength: number, rightLength: number, compare: Compare) {
    this.#compare = compare;
    this.#reverse = { x: leftLength, y: rightLength, edits: [] };
    this.#back = { x: leftLength, y: rightLength };
    this.#budget = 4 * (leftLength + rightLength);
  }

  run(): Edit[] {
    let forward = true;
    while (this.#front.x < this.#back.x && this.#front.y < this.#back.y && this.#budget > 0) {
      if (forward) this.#searchForward();
      else this.#searchBackward();
      forward = !forward;
    }
    this.#connectForward(this.#reverse);
    return [...this.#forward.edits, ...this.#reverse.edits.reverse()];
  }

  #searchForward(): void {
    const [path, other, front] = [this.#forward, this.#reverse, this.#front];
    let [stopLeft, stopRight] = [false, false];
    for (let i = 0; !(stopLeft && stopRight) && this.#budget > 0; i++) {
      const z = zigzag(i);
      const point = { x: front.x + z, y: front.y - z };
      if (point.x >= other.x || point.y < path.y) stopLeft = true;
      else if (point.y >= other.y || point.x < path.x) stopRight = true;
      else if (this.#equal(point.x, point.y)) {
        this.#connectForward(point);
        step(path, 'identity', 1);
        while (path.x < other.x && path.y < other.y && this.#equal(path.x, path.y)) step(path, 'identity', 1);
        Object.assign(front, { x: path.x, y: path.y });
        break;
      } else this.#budget--;
    }
    if (other.x - front.x >= other.y - front.y) front.x++;
    else front.y++;
  }

  #searchBackward(): void {
    const [path, other, back] = [this.#reverse, this.#forward, this.#back];
    let [stopLeft, stopRight] = [false, false];
    for (let i = 0; !(stopLeft && stopRight) && this.#budget > 0; i++) {
      const z = zigzag(i);
      const point = { x: back.x - z, y: back.y + z };
      if (other.x >= point.x || path.y < point.y) stopLeft = true;
      else if (other.y >= point.y || path.x < point.x) stopRight = true;
      else if (this.#equal(point.x - 1, point.y - 1)) {
        this.#connectBackward(point);
        step(path, 'identity', -1);
        while (other.x < path.x && other.y < path.y && this.#equal(path.x - 1, path.y - 1)) step(path, 'identity', -1);
        Object.assign(back, { x: path.x, y: path.y });
        break;
      } else this.#budget--;
    }
    if (back.x - other.x >= back.y - other.y) back.x--;
    else back.y--;
  }

  #connectForward(to: Point): void {
    const path = this.#forward;
    while (to.x > path.x && to.y > path.y) {
      const edit = pairing(this.#compare(path.x, path.y));
      step(path, edit ?? (to.x - path.x >= to.y - path.y ? 'removed' : 'inserted'), 1);
    }
    while (to.x > path.x) step(path, 'removed', 1);
    while (to.y > path.y) step(path, 'inserted', 1);
  }

  #connectBackward(to: Point): void {
    const path = this.#reverse;
    while (path.x > to.x && path.y > to.y) {
      const edit = pairing(this.#compare(path.x - 1, path.y - 1));
      step(path, edit ?? (path.y - to.y >= path.x - to.x ? 'inserted' : 'removed'), -1);
    }
    while (path.x > to.x) step(path, 'removed', -1);
    while (path.y > to.y) step(path, 'inserted', -1);
  }

  #equal(left: number, right: number): boolean {
    return this.#compare(left, right).different === 0;
  }
}

/** Similar items count as one modified item; undefined if the items are too different. */
function pairing({ same, different }: LeafCounts): Edit | undefined {
  if (different === 0) return 'identity';
  return same + 1 >= different ? 'modified' : undefined;
}

function step(path: Path, edit: Edit, direction: 1 | -1): void {
  path.edits.push(edit);
  if (edit !== 'inserted') path.x += direction;
  if (edit !== 'removed') path.y += direction;
}

/** Maps 0, 1, 2, … to 0, -1, 1, -2, 2, … */
function zigzag(index: number): number {
  return index % 2 === 0 ? index / 2 : -(index + 1) / 2;
}
