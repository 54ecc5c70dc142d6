/**
 * Two lists of lines → the shortest way from one to the other, as lines that stay, go and come.
 */

export interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Beyond so many pairs of lines the middle is shown as replaced: nobody reads such a diff line by line. */
const MOST_PAIRS = 4_000_000;

export function lineDiff(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const left = before.slice(start, before.length - end);
  const right = after.slice(start, after.length - end);
  return [
    ...before.slice(0, start).map(same),
    ...(left.length * right.length > MOST_PAIRS ? [...left.map(gone), ...right.map(come)] : shortest(left, right)),
    ...before.slice(before.length - end).map(same),
  ];
}

const same = (text: string): Line => ({ sign: ' ', text });
const gone = (text: string): Line => ({ sign: '-', text });
const come = (text: string): Line => ({ sign: '+', text });

/**
 * By the longest common subsequence. `lengths[i][j]` is that of what follows line i of the one and line j of the other, so
 * a walk from the beginning takes the longer way at each fork; what goes is shown before what comes.
 */
function shortest(left: readonly string[], right: readonly string[]): Line[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [before, after] = [left[i], right[j]];
    if (before !== undefined && before === after) {
      lines.push(same(before));
      i++;
      j++;
    } else if (before !== undefined && (after === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(gone(before));
      i++;
    } else if (after !== undefined) {
      lines.push(come(after));
      j++;
    }
  }
  return lines;
}
