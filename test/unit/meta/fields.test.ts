/** Field selectors: the vectors of the reference implementation, escapes, and exact matches. */
import { describe, expect, test } from 'vitest';
import type { FieldSelector } from '../../../src/meta/fields.js';
import { compileFields, parseFieldSelector, requiresExactMatch } from '../../../src/meta/fields.js';
import { SelectorError } from '../../../src/meta/label-selector-text.js';
import { readVectors } from '../../vectors/read.js';

interface SelectorVector {
  readonly in: string;
  readonly canonical?: string;
  readonly matches?: readonly boolean[];
  readonly error?: string;
}

describe('field selector vectors in selectors.json', () => {
  const vectors = readVectors('selectors') as { field: SelectorVector[]; fieldSets: Record<string, string>[] };

  test.each(vectors.field)('evaluates the field selector $in', ({ in: text, canonical = '', matches, error }) => {
    if (error !== undefined) {
      expect(() => parseFieldSelector(text)).toThrow(new SelectorError(error));
      return;
    }
    const selector = parseFieldSelector(text);
    expect(canonicalText(selector)).toBe(canonical);
    expect(vectors.fieldSets.map((set) => compileFields(selector)((field) => set[field] ?? ''))).toEqual(matches);
  });
});

test('orders the terms of a field selector by their text', () => {
  expect(canonicalText(parseFieldSelector('b==2,,a!=1'))).toBe('a!=1,b=2');
});

test.each([
  ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ['a=b\\😀', 'invalid field selector: invalid escape sequence: \\😀'],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
])('rejects the field selector %s', (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
});

test('parses escaped values of a field selector', () => {
  for (const value of ['', 'a,b', 'a=b', 'a\\b', '\\', ',=\\', '😀,']) {
    expect(parseFieldSelector(`f=${escaped(value)}`).terms).toEqual([{ field: 'f', operator: '=', value }]);
  }
});

test('requires an exact match only for an equality term of a field selector', () => {
  const selector = parseFieldSelector('metadata.name==web,metadata.namespace!=a');
  expect(requiresExactMatch(selector, 'metadata.name')).toBe('web');
  expect(requiresExactMatch(selector, 'metadata.namespace')).toBeUndefined();
  expect(requiresExactMatch(selector, 'other')).toBeUndefined();
  expect(requiresExactMatch(parseFieldSelector(''), 'metadata.name')).toBeUndefined();
});

/** Prints a selector like the reference. */
function canonicalText({ terms }: FieldSelector): string {
  return terms.map(({ field, operator, value }) => field + operator + escaped(value)).join(',');
}

function escaped(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

test('a selector with several terms for one field requires all of them', () => {
  const matches = (text: string, value: string) => compileFields(parseFieldSelector(text))(() => value);
  expect(matches('a=1,a=1,a!=2', '1')).toBe(true);
  expect(matches('a=1,a=2', '1')).toBe(false);
  expect(matches('a!=1,a!=2', '2')).toBe(false);
  expect(matches('a!=1,a!=2', '3')).toBe(true);
});
