/** Field selectors: every outcome of the real implementation, escapes, and exact matches. */
import { describe, expect, test } from 'vitest';
import {
  escapeFieldValue,
  matchesFields,
  parseFieldSelector,
  printFieldSelector,
  requiresExactMatch,
} from '../../../src/meta/fields.js';
import { SelectorError } from '../../../src/meta/label-selector-text.js';
import { hasVectors, readVectors, vectorSuite } from './vectors.js';

interface SelectorVector {
  readonly in: string;
  readonly canonical?: string;
  readonly matches?: readonly boolean[];
  readonly error?: string;
}

describe.skipIf(!hasVectors('selectors'))(vectorSuite('selectors'), () => {
  const vectors = hasVectors('selectors')
    ? (readVectors('selectors') as { field: SelectorVector[]; fieldSets: Record<string, string>[] })
    : { field: [], fieldSets: [] };

  test('the file holds field selectors', () => {
    expect(vectors.field.length).toBeGreaterThan(0);
  });

  test.each(vectors.field)('$in', ({ in: text, canonical = '', matches, error }) => {
    if (error !== undefined) {
      expect(() => parseFieldSelector(text)).toThrow(new SelectorError(error));
      return;
    }
    const selector = parseFieldSelector(text);
    expect(printFieldSelector(selector)).toBe(canonical);
    expect(vectors.fieldSets.map((set) => matchesFields(selector, (field) => set[field] ?? ''))).toEqual(matches);
  });
});

test('terms are ordered by their text', () => {
  expect(printFieldSelector(parseFieldSelector('b==2,,a!=1'))).toBe('a!=1,b=2');
});

test.each([
  ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ['a=b\\😀', 'invalid field selector: invalid escape sequence: \\😀'],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
])('%s fails', (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(new SelectorError(message));
});

test('values survive being written and read', () => {
  for (const value of ['', 'a,b', 'a=b', 'a\\b', '\\', ',=\\', '😀,']) {
    const text = `f=${escapeFieldValue(value)}`;
    expect(parseFieldSelector(text).terms).toEqual([{ field: 'f', operator: '=', value }]);
    expect(printFieldSelector(parseFieldSelector(text))).toBe(text);
  }
});

test('only an equal sign pins a field', () => {
  const selector = parseFieldSelector('metadata.name==web,metadata.namespace!=a');
  expect(requiresExactMatch(selector, 'metadata.name')).toBe('web');
  expect(requiresExactMatch(selector, 'metadata.namespace')).toBeUndefined();
  expect(requiresExactMatch(selector, 'other')).toBeUndefined();
  expect(requiresExactMatch(parseFieldSelector(''), 'metadata.name')).toBeUndefined();
});
