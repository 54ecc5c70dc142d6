/** Escaping of field names in CEL expressions. */
import { describe, expect, test } from 'vitest';
import { escapeName, unescapeName } from '../../../../src/crd/rules/escape.js';

describe('escapeName', () => {
  test.each([
    ['size', 'size'],
    ['my-name', 'my__dash__name'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['a_b', 'a_b'],
    ['___', '__underscores___'],
    ['namespace', '__namespace__'],
    ['namespaces', 'namespaces'],
    ['.', '__dot__'],
  ])('escapes %s as %s and unescapes it', (name, escaped) => {
    expect(escapeName(name)).toBe(escaped);
    expect(unescapeName(escaped)).toBe(name);
  });

  test.each(['', '9lives', 'ünï', 'a b', 'a$', '\n'])('rejects the name %j, which cannot be escaped', (name) => {
    expect(escapeName(name)).toBeUndefined();
  });

  test.each(['__nope__', 'a__if__', '__if__b'])('rejects %s, which is not an escaped name', (escaped) => {
    expect(unescapeName(escaped)).toBeUndefined();
  });
});
