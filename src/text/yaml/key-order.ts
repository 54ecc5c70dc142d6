/**
 * The key order of the reference server's YAML output: natural order. `a2` precedes `a10`, and non-letters precede
 * letters.
 */

/** Compares two keys for `sort`. */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  return isBefore([...left], [...right]) ? -1 : 1;
}

const LETTER = /^\p{L}$/u;
const DIGIT = /^\p{Nd}$/u;

/** Compares at the first difference. */
function isBefore(left: readonly string[], right: readonly string[]): boolean {
  const at = left.findIndex((character, index) => character !== right[index]);
  const leftFirst = left[at];
  const rightFirst = right[at];
  if (leftFirst === undefined || rightFirst === undefined) return left.length < right.length;
  const leftIsLetter = LETTER.test(leftFirst);
  const rightIsLetter = LETTER.test(rightFirst);
  if (leftIsLetter !== rightIsLetter) return rightIsLetter;
  if (!leftIsLetter) {
    // A zero within a number counts; a leading zero does not.
    const isInside = (leftFirst === '0' || rightFirst === '0') && followsNumber(left, at);
    const leftNumber = numberAt(left, at, isInside);
    const rightNumber = numberAt(right, at, isInside);
    if (leftNumber.value !== rightNumber.value) return leftNumber.value < rightNumber.value;
    if (leftNumber.end !== rightNumber.end) return leftNumber.end < rightNumber.end;
  }
  return codeOf(leftFirst) < codeOf(rightFirst);
}

/** Whether a nonzero digit of the same number precedes the index. */
function followsNumber(characters: readonly string[], at: number): boolean {
  for (let before = at - 1; DIGIT.test(characters[before] ?? ''); before--) if (characters[before] !== '0') return true;
  return false;
}

/** The digits from here as a 64-bit number, zero if there are none; longer numbers overflow. */
function numberAt(characters: readonly string[], at: number, isInside: boolean): { value: bigint; end: number } {
  let value = isInside ? 1n : 0n;
  let end = at;
  for (; DIGIT.test(characters[end] ?? ''); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt(codeOf(characters[end] ?? '0') - ZERO));
  }
  return { value, end };
}

const ZERO = 0x30;

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
