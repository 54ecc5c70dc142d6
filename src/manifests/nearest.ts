/**
 * What somebody may have meant by a word that is none of those there are.
 */

/** The known words that are a slip of the hand away, the nearest first; empty when none is. */
export function nearest(word: string, known: Iterable<string>): string[] {
  // In a short word, two slips leave too little of it.
  const limit = word.length < 5 ? 1 : 2;
  return [...new Set(known)]
    .map((each) => ({ each, slips: slipsBetween(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ slips }) => slips <= limit)
    .sort((a, b) => a.slips - b.slips)
    .map(({ each }) => each);
}

/**
 * How many letters were added, left out, replaced, or swapped with their neighbour. Row by row of the table in which
 * `rows[i][j]` is the answer for the first i letters of one word and the first j of the other:
 *
 *     slipsBetween('pdo', 'pod')  →  1
 */
function slipsBetween(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (above[j - 1] ?? 0) + Number(one[i - 1] !== other[j - 1]);
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced, swapped));
    }
    before = above;
    above = row;
  }
  return above[other.length] ?? 0;
}
