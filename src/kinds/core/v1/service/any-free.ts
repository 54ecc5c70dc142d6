/**
 * A free number of a range: addresses and ports are picked alike.
 */

export interface NumberRange {
  readonly first: number;
  /** None when it is not above zero. */
  readonly size: number;
}

/**
 * Begins anywhere and tries every number once, so that the last free one is found as well; undefined when there is none.
 * It goes on by strides that come to all numbers of the range. By ones it would lengthen every run of taken numbers
 * that it comes across, and cross it again the next time.
 */
export function anyFree(
  { first, size }: NumberRange,
  isTaken: (value: number) => boolean,
  random: () => number,
): number | undefined {
  if (size <= 0) return undefined;
  let place = Math.floor(random() * size);
  if (!isTaken(first + place)) return first + place;
  const stride = strideOf(size, random);
  for (let tried = 1; tried < size; tried++) {
    place = (place + stride) % size;
    if (!isTaken(first + place)) return first + place;
  }
  return undefined;
}

/** Any stride without a common divisor with the size: it comes back to where it began only after all others. */
function strideOf(size: number, random: () => number): number {
  let stride = 1 + Math.floor(random() * (size - 1));
  while (divisorOf(stride, size) !== 1) stride = (stride % size) + 1;
  return stride;
}

function divisorOf(left: number, right: number): number {
  return right === 0 ? left : divisorOf(right, left % right);
}
