/**
 * Parses and matches field selectors (`fieldSelector=`). The kind defines which fields exist. spec: Parameters
 */
import { getOrInsertComputed } from '../util/once.js';
import { SelectorError } from './label-selector-text.js';

export interface FieldTerm {
  readonly field: string;
  readonly operator: '=' | '!=';
  /** Unescaped. */
  readonly value: string;
}

export interface FieldSelector {
  /** All must match; sorted by their text. */
  readonly terms: readonly FieldTerm[];
}

/** Matches every object. */
export const everyField: FieldSelector = Object.freeze({ terms: [] });

/**
 * Parses a `fieldSelector` parameter. Throws SelectorError.
 *
 * @example
 * parseFieldSelector('spec.nodeName=a,status.phase!=Failed').terms.length // 2
 */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everyField;
  const terms = splitTerms(text).sort();
  const parsed = terms.filter((term) => term !== '').map((term) => parseTerm(term, text));
  // A term without a field and a value selects everything.
  return { terms: parsed.filter(({ field, value }) => field !== '' || value !== '') };
}

/**
 * A test that is true when all terms match. `lookup` returns the empty string for an absent field. Its cost depends on the number
 * of fields, not on the number of terms: a selector may have a hundred thousand.
 */
export function compileFields({ terms }: FieldSelector): (lookup: (field: string) => string) => boolean {
  const byField = new Map<string, { readonly equal: Set<string>; readonly unequal: Set<string> }>();
  for (const { field, operator, value } of terms) {
    const values = getOrInsertComputed(byField, field, () => ({ equal: new Set(), unequal: new Set() }));
    values[operator === '=' ? 'equal' : 'unequal'].add(value);
  }
  const fields = [...byField];
  return (lookup) =>
    fields.every(([field, { equal, unequal }]) => {
      const value = lookup(field);
      return !unequal.has(value) && (equal.size === 0 || (equal.size === 1 && equal.has(value)));
    });
}

/** The value that a field must equal, if the selector has such a term. A list by name then reads a single key. */
export function requiresExactMatch(selector: FieldSelector, field: string): string | undefined {
  return selector.terms.find((term) => term.operator === '=' && term.field === field)?.value;
}

const BACKSLASH = 92;
const COMMA = 44;

/** Splits at unescaped commas. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (code === COMMA) {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, whole: string): FieldTerm {
  const match = /!=|==|=/.exec(term);
  if (match === null) throw new SelectorError(`invalid selector: '${whole}'; can't understand '${term}'`);
  const [operator] = match;
  return {
    field: term.slice(0, match.index),
    operator: operator === '!=' ? '!=' : '=',
    value: unescapeFieldValue(term.slice(match.index + operator.length)),
  };
}

function unescapeFieldValue(value: string): string {
  if (!/[\\,=]/.test(value)) return value;
  return value.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw new SelectorError(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`);
    }
    if (!['\\', ',', '='].includes(escaped)) {
      throw new SelectorError(`invalid field selector: invalid escape sequence: ${found}`);
    }
    return escaped;
  });
}
