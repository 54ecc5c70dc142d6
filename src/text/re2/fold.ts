/**
 * Which characters are the same when case is left aside, as regular expressions see it: one code point for one, so `ß`
 * is no `SS`, but the Kelvin sign is a `k`.
 */

/** All cases of a character, itself included. */
export function foldsOf(code: number): readonly number[] {
  return (code < 0x80 ? asciiFolds(code) : groups().get(code)) ?? [code];
}

/** Apart from the others, so that the table is made for texts beyond ASCII only. */
function asciiFolds(code: number): readonly number[] | undefined {
  const upper = code & ~0x20;
  if (upper < 0x41 || upper > 0x5a) return undefined;
  const lower = upper | 0x20;
  if (upper === 0x4b) return [upper, lower, KELVIN_SIGN];
  return upper === 0x53 ? [upper, lower, LONG_S] : [upper, lower];
}

const LONG_S = 0x17f;
const KELVIN_SIGN = 0x212a;
/** Its upper case is `I`, yet it folds to nothing but itself. */
const DOTLESS_I = 0x131;
/** Where characters with cases live (Unicode 15.0); most of the others are Han and Hangul, and not worth the time. */
const CASED: readonly (readonly [first: number, last: number])[] = [
  [0x41, 0x2d2f],
  [0xa640, 0xabff],
  [0xff21, 0xff5a],
  [0x10400, 0x118ff],
  [0x16e40, 0x16e7f],
  [0x1e900, 0x1e943],
];

let made: ReadonlyMap<number, readonly number[]> | undefined;

function groups(): ReadonlyMap<number, readonly number[]> {
  made ??= makeGroups();
  return made;
}

function makeGroups(): ReadonlyMap<number, readonly number[]> {
  const byFold = new Map<number, Set<number>>();
  for (const [first, last] of CASED) {
    for (let code = first; code <= last; code++) {
      const fold = simpleFold(code);
      if (fold !== undefined) byFold.set(fold, (byFold.get(fold) ?? new Set([fold])).add(code));
    }
  }
  const found = new Map<number, readonly number[]>();
  for (const group of byFold.values()) {
    for (const code of group) found.set(code, [...group]);
  }
  return found;
}

/** The lower case of the upper case, where both are one character; undefined for what has no cases. */
function simpleFold(code: number): number | undefined {
  const character = String.fromCodePoint(code);
  const upper = single(character.toUpperCase()) ?? character;
  const lower = single(upper.toLowerCase()) ?? upper;
  return (lower === character && upper === character) || code === DOTLESS_I ? undefined : lower.codePointAt(0);
}

function single(text: string): string | undefined {
  const character = String.fromCodePoint(text.codePointAt(0) ?? 0);
  return character === text ? text : undefined;
}
