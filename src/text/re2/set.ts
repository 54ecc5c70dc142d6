/**
 * Sets of characters in regular expressions: ranges, the named sets of ASCII, and the categories and scripts of Unicode.
 * Membership is asked for one code point at a time, so no table of Unicode is spelled out; which characters a category
 * holds is known to the engine at hand, whose Unicode may be newer than that of the reference server (15.0).
 */

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

/** Something a set is made of. */
export interface Member {
  /** Two members of one key are the same. */
  readonly key: () => string;
  readonly has: (code: number) => boolean;
  readonly negated: boolean;
}

/** Lowest and highest code point, both inside. */
export type Range = readonly [low: number, high: number];

export interface SetOptions {
  readonly ranges?: readonly Range[];
  readonly members?: readonly Member[];
  readonly negated?: boolean;
  /** Whether a character is in when one of its other cases is. */
  readonly folded?: boolean;
}

const ASCII_SIZE = 128;
const INSIDE = 1;
const OUTSIDE = 2;

export class CharacterSet {
  #key: string | undefined;
  readonly #members: readonly Member[];
  readonly #negated: boolean;
  readonly #folded: boolean;
  /** What has been found out about the characters most texts are made of; 0 is not asked yet. */
  #ascii: Uint8Array | undefined;

  constructor({ ranges = [], members = [], negated = false, folded = false }: SetOptions) {
    const named = members.length < 2 ? members : uniqueMembers(members);
    this.#members = ranges.length === 0 ? named : [rangesMember(ranges), ...named];
    this.#negated = negated;
    this.#folded = folded;
  }

  /** Two sets of one key are the same. */
  get key(): string {
    const names = this.#members.map((member) => `${member.negated ? '!' : ''}${member.key()}`);
    this.#key ??= `${this.#negated ? '^' : ''}${this.#folded ? 'i' : ''} ${names.join(' ')}`;
    return this.#key;
  }

  has(code: number): boolean {
    if (code >= ASCII_SIZE) return this.#find(code);
    this.#ascii ??= new Uint8Array(ASCII_SIZE);
    const known = this.#ascii[code];
    if (known === INSIDE || known === OUTSIDE) return known === INSIDE;
    const found = this.#find(code);
    this.#ascii[code] = found ? INSIDE : OUTSIDE;
    return found;
  }

  /** A negated member leaves out all cases of what it names, hence the folding happens before its negation. */
  #find(code: number): boolean {
    const cases = this.#folded ? foldsOf(code) : [code];
    const inside = this.#members.some(({ has, negated }) => cases.some(has) !== negated);
    return inside !== this.#negated;
  }
}

/** The set of everything that is in one of several, which may be single characters. */
export function unionOf(parts: readonly (number | CharacterSet)[]): CharacterSet {
  const ranges = parts.flatMap((part): readonly Range[] => (typeof part === 'number' ? [[part, part]] : []));
  const members = parts.flatMap((part): readonly Member[] =>
    typeof part === 'number' ? [] : [{ key: () => `(${part.key})`, has: (code) => part.has(code), negated: false }],
  );
  return new CharacterSet({ ranges, members });
}

function uniqueMembers(members: readonly Member[]): readonly Member[] {
  return [...new Map(members.map((member) => [`${member.negated} ${member.key()}`, member])).values()];
}

/** `alpha` of `[:alpha:]`; undefined when there is no such name. */
export function namedMember(name: string, negated: boolean): Member | undefined {
  const ends = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  return ends === undefined ? undefined : { ...rangesMember(pairs(ends)), key: () => `:${name}`, negated };
}

/** The set of `\d`, `\S` and their like, by its letter. */
export function perlMember(letter: string): Member | undefined {
  const lower = letter.toLowerCase();
  const ends = Object.hasOwn(PERL, lower) ? PERL[lower] : undefined;
  return ends === undefined
    ? undefined
    : { ...rangesMember(pairs(ends)), key: () => `\\${lower}`, negated: lower !== letter };
}

/** A category or a script, spelled as the Unicode standard does; undefined when the reference server knows none. */
export function unicodeMember(name: string, negated: boolean): Member | undefined {
  if (name === 'Any') return { key: () => name, has: () => true, negated };
  const expression = unicodeExpressions.get(name) ?? unicodeExpression(name);
  if (expression === undefined) return undefined;
  return { key: () => name, has: (code) => expression.test(String.fromCodePoint(code)), negated };
}

/** It takes a while before an engine has made one; there are no more than there are names. */
const unicodeExpressions = new Map<string, RegExp>();

function unicodeExpression(name: string): RegExp | undefined {
  const source = unicodeSource(name);
  if (source === undefined) return undefined;
  const expression = new RegExp(source, 'u');
  unicodeExpressions.set(name, expression);
  return expression;
}

function unicodeSource(name: string): string | undefined {
  // The category of others has no unassigned characters over there.
  if (name === 'C') return '[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]';
  if (CATEGORIES.split(' ').includes(name)) return `\\p{${name}}`;
  return SCRIPTS.split(' ').includes(name) ? `\\p{Script=${name}}` : undefined;
}

function rangesMember(ranges: readonly Range[]): Member {
  const ends = merged(ranges);
  return { key: () => ends.join(','), has: (code) => isWithin(ends, code), negated: false };
}

/** The ends of ranges as a rising line of numbers: `[b-da-b]` makes 97 100. */
function merged(ranges: readonly Range[]): readonly number[] {
  const [first] = ranges;
  if (ranges.length === 1 && first !== undefined) return first;
  const ends: number[] = [];
  for (const [low, high] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const last = ends.at(-1);
    if (last !== undefined && low <= last + 1) ends[ends.length - 1] = Math.max(last, high);
    else ends.push(low, high);
  }
  return ends;
}

function isWithin(ends: readonly number[], code: number): boolean {
  // Halving, until `low` counts the ranges that begin at or before the code.
  let low = 0;
  let high = ends.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[2 * middle] ?? 0) <= code) low = middle + 1;
    else high = middle;
  }
  return low > 0 && code <= (ends[2 * low - 1] ?? -1);
}

/** Ranges written as their two ends: `09AZ` is 0 to 9 and A to Z. */
function pairs(ends: string): readonly Range[] {
  const ranges: Range[] = [];
  for (let at = 0; at < ends.length; at += 2) ranges.push([ends.charCodeAt(at), ends.charCodeAt(at + 1)]);
  return ranges;
}

const NAMED: Readonly<Record<string, string>> = {
  alnum: '09AZaz',
  alpha: 'AZaz',
  ascii: '\u0000\u007f',
  blank: '\t\t  ',
  cntrl: '\u0000\u001f\u007f\u007f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '\t\r  ',
  upper: 'AZ',
  word: '09AZ__az',
  xdigit: '09AFaf',
};

/** The vertical tab is space by name and not by letter. */
const PERL: Readonly<Record<string, string>> = { d: '09', s: '\t\n\f\r  ', w: '09AZ__az' };

const CATEGORIES = 'Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs';

/** Unicode 15.0; the engine at hand knows aliases and newer ones besides, which are refused there. */
const SCRIPTS =
  'Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki ' +
  'Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee ' +
  'Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan ' +
  'Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi ' +
  'Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic Inherited ' +
  'Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li Kharoshthi ' +
  'Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani ' +
  'Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui ' +
  'Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari ' +
  'New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian ' +
  'Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong ' +
  'Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian ' +
  'Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le ' +
  'Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai ' +
  'Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square';

/** All cases of a character, itself included. */
function foldsOf(code: number): readonly number[] {
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
