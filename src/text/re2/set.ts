/**
 * Character sets of patterns: ranges, named ASCII sets, and Unicode categories and scripts. Membership is tested per
 * code point with the JavaScript engine's Unicode properties, so no tables are needed; the engine's Unicode version may
 * be newer than the reference server's (15.0).
 *
 * Case folding maps one code point to one: `ß` does not match `SS`, but the Kelvin sign matches `k`.
 */

/** A component of a set. */
export interface Member {
  /** Members with equal keys are equal. */
  readonly key: () => string;
  readonly has: (code: number) => boolean;
  readonly negated: boolean;
}

/** Lowest and highest code point, inclusive. */
export type Range = readonly [low: number, high: number];

export interface SetOptions {
  readonly ranges?: readonly Range[];
  readonly members?: readonly Member[];
  readonly negated?: boolean;
  /** Whether the set also contains all cases of its characters. */
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
  /** Cached membership of ASCII characters; 0 means unknown. */
  #ascii: Uint8Array | undefined;

  constructor({ ranges = [], members = [], negated = false, folded = false }: SetOptions) {
    const named = members.length < 2 ? members : uniqueMembers(members);
    this.#members = ranges.length === 0 ? named : [rangesMember(ranges), ...named];
    this.#negated = negated;
    this.#folded = folded;
  }

  /** Sets with equal keys are equal. */
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

  /** Folding precedes negation: a negated member excludes all cases of its characters. */
  #find(code: number): boolean {
    const cases = this.#folded ? foldsOf(code) : [code];
    const inside = this.#members.some(({ has, negated }) => cases.some(has) !== negated);
    return inside !== this.#negated;
  }
}

/** The union of characters and sets. */
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

/** The member for a POSIX class such as `alpha` of `[:alpha:]`; undefined if the name is unknown. */
export function namedMember(name: string, negated: boolean): Member | undefined {
  const ends = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  return ends === undefined ? undefined : { ...rangesMember(pairs(ends)), key: () => `:${name}`, negated };
}

/** The member for `\d`, `\S` and similar classes by letter. */
export function perlMember(letter: string): Member | undefined {
  const lower = letter.toLowerCase();
  const ends = Object.hasOwn(PERL, lower) ? PERL[lower] : undefined;
  return ends === undefined
    ? undefined
    : { ...rangesMember(pairs(ends)), key: () => `\\${lower}`, negated: lower !== letter };
}

/** The member for a Unicode category or script; undefined if the reference server does not know the name. */
export function unicodeMember(name: string, negated: boolean): Member | undefined {
  if (name === 'Any') return { key: () => name, has: () => true, negated };
  const expression = unicodeExpressions.get(name) ?? unicodeExpression(name);
  if (expression === undefined) return undefined;
  return { key: () => name, has: (code) => expression.test(String.fromCodePoint(code)), negated };
}

/** Cached, because compiling these is slow; the names bound their number. */
const unicodeExpressions = new Map<string, RegExp>();

function unicodeExpression(name: string): RegExp | undefined {
  const source = unicodeSource(name);
  if (source === undefined) return undefined;
  const expression = new RegExp(source, 'u');
  unicodeExpressions.set(name, expression);
  return expression;
}

function unicodeSource(name: string): string | undefined {
  // Go's category C excludes unassigned characters.
  if (name === 'C') return '[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}]';
  if (CATEGORIES.split(' ').includes(name)) return `\\p{${name}}`;
  return SCRIPTS.split(' ').includes(name) ? `\\p{Script=${name}}` : undefined;
}

function rangesMember(ranges: readonly Range[]): Member {
  const ends = merged(ranges);
  return { key: () => ends.join(','), has: (code) => isWithin(ends, code), negated: false };
}

/** Merges ranges to ascending bounds: `[b-da-b]` becomes 97 100. */
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
  // Binary search: `low` becomes the number of ranges that start at or before the code.
  let low = 0;
  let high = ends.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[2 * middle] ?? 0) <= code) low = middle + 1;
    else high = middle;
  }
  return low > 0 && code <= (ends[2 * low - 1] ?? -1);
}

/** Parses ranges written as pairs of bounds: `09AZ` is 0 to 9 and A to Z. */
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

/** The vertical tab is in `[:space:]`, but not in `\s`. */
const PERL: Readonly<Record<string, string>> = { d: '09', s: '\t\n\f\r  ', w: '09AZ__az' };

const CATEGORIES = 'Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs';

/** Scripts of Unicode 15.0; the engine also knows aliases and newer scripts, which the reference server rejects. */
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

/** All cases of a character, including itself. */
function foldsOf(code: number): readonly number[] {
  return (code < 0x80 ? asciiFolds(code) : foldGroupsTable().get(code)) ?? [code];
}

const LONG_S = 0x17f;

const KELVIN_SIGN = 0x212a;

/** Handled separately, so that the table is built only for non-ASCII texts. */
function asciiFolds(code: number): readonly number[] | undefined {
  const upper = code & ~0x20;
  if (upper < 0x41 || upper > 0x5a) return undefined;
  const lower = upper | 0x20;
  if (upper === 0x4b) return [upper, lower, KELVIN_SIGN];
  return upper === 0x53 ? [upper, lower, LONG_S] : [upper, lower];
}

let foldGroups: ReadonlyMap<number, readonly number[]> | undefined;

function foldGroupsTable(): ReadonlyMap<number, readonly number[]> {
  foldGroups ??= buildFoldGroups();
  return foldGroups;
}

/** Ranges of cased characters (Unicode 15.0); most others are Han and Hangul and are skipped to save time. */
const CASED: readonly (readonly [first: number, last: number])[] = [
  [0x41, 0x2d2f],
  [0xa640, 0xabff],
  [0xff21, 0xff5a],
  [0x10400, 0x118ff],
  [0x16e40, 0x16e7f],
  [0x1e900, 0x1e943],
];

function buildFoldGroups(): ReadonlyMap<number, readonly number[]> {
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

/** Its upper case is `I`, but it folds only to itself. */
const DOTLESS_I = 0x131;

/** The lower case of the upper case, if both are single characters; undefined for uncased characters. */
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
