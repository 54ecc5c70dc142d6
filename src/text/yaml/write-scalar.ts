/**
 * How a text is best written in YAML: bare, in quotes or as a block of lines. Readers of YAML 1.1 must find text where
 * text was, so what looks like a number, a boolean, a date or nothing is quoted.
 */
import { isTimestamp, resolveScalar } from './scalar.js';

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal';

/** What a text is made of, as far as it matters. */
export interface TextTraits {
  readonly isMultiline: boolean;
  readonly mayBePlain: boolean;
  readonly mayBeSingle: boolean;
  readonly mayBeLiteral: boolean;
}

/** The style of a text that is no simple key, or is one without line breaks. */
export function styleOf(text: string, traits: TextTraits, isSimpleKey: boolean): ScalarStyle {
  if (text.includes('\n')) return traits.mayBeLiteral && !isSimpleKey ? 'literal' : 'double';
  if (!readsAsText(text)) return 'double';
  if (traits.mayBePlain) return 'plain';
  return traits.mayBeSingle ? 'single' : 'double';
}

/**
 * Whether the text, without quotes, would be read as just that. The reference server does not think of `<<`, which as a
 * key means something to its own reader.
 */
function readsAsText(text: string): boolean {
  if (isTimestamp(text) || SEXAGESIMAL.test(text)) return false;
  return resolveScalar({ text, tag: '', isPlain: true }).type === 'str';
}

/** Numbers in base 60, as in times of day, which other readers know. */
const SEXAGESIMAL = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

export function traitsOf(text: string): TextTraits {
  const isMultiline = BREAK.test(text);
  const isSpecial = !PRINTABLE.test(text) || SPACE_BEFORE_BREAK.test(text);
  const hasSpaceBehindBreak = SPACE_BEHIND_BREAK.test(text);
  return {
    isMultiline,
    mayBePlain: !isMultiline && !isSpecial && !hasSpaceBehindBreak && !/^ | $/.test(text) && !INDICATOR.test(text),
    mayBeSingle: !isSpecial && !hasSpaceBehindBreak,
    mayBeLiteral: !isSpecial && !text.endsWith(' '),
  };
}

const BREAK = /[\n\r\u0085\u2028\u2029]/;
const SPACE_BEFORE_BREAK = / [\n\r\u0085\u2028\u2029]/;
const SPACE_BEHIND_BREAK = /[\n\r\u0085\u2028\u2029] /;

/** What may stand without an escape; characters beyond 16 bits may not. */
export const PRINTABLE = /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

/** What means something to a reader outside flow collections: at the beginning, and anywhere. */
const INDICATOR = /^(?:[#,[\]{}&*!|>'"%@`]|---|\.\.\.|[?:-](?:[ \t]|$))|:(?:[ \t]|$)|[ \t\n\u2028\u2029]#/;
