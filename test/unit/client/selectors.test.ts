/** Selectors as callers write them, and their text. */
import { expect, test } from 'vitest';
import { fieldSelectorText, labelSelectorText } from '../../../src/client/selectors.js';
import { StatusError } from '../../../src/meta/errors.js';

test.each([
  ['app in (web, api),!canary', 'app in (web, api),!canary'],
  [{}, ''],
  [{ tier: 'front', app: '' }, 'app=,tier=front'],
  [[], ''],
  [
    [
      { key: 'app', operator: 'In', values: ['web', 'api'] },
      { key: 'canary', operator: 'DoesNotExist' },
      { key: 'team', operator: 'Exists' },
      { key: 'zone', operator: 'NotIn', values: ['a'] },
    ],
    'app in (api,web),!canary,team,zone notin (a)',
  ],
])('labelSelectorText converts %j to %j', (labels, text) => {
  expect(labelSelectorText(labels)).toBe(text);
});

test.each([
  [{ app: 'a,b' }],
  [{ app: 'x notin (y)' }],
  [{ 'a=b': 'c' }],
  [[{ key: 'app', operator: 'In', values: [] }]],
  [[{ key: 'app', operator: 'Sometimes' }]],
  [[{ key: 'app', operator: 'In', values: ['a)'] }]],
])('labelSelectorText rejects %j', (labels) => {
  expect(() => labelSelectorText(labels)).toThrow(expect.toSatisfy((e) => StatusError.is(e, 'BadRequest')));
});

test.each([
  ['status.phase!=Active', 'status.phase!=Active'],
  [{}, ''],
  [{ 'metadata.name': 'w', 'spec.node': '' }, 'metadata.name=w,spec.node='],
  [{ reason: 'a=b,c\\d' }, 'reason=a\\=b\\,c\\\\d'],
])('fieldSelectorText converts %j to %j', (fields, text) => {
  expect(fieldSelectorText(fields)).toBe(text);
});

test.each([[{ '': 'x' }], [{ 'a,b': 'x' }], [{ 'a!': 'x' }]])('fieldSelectorText rejects %j', (fields) => {
  expect(() => fieldSelectorText(fields)).toThrow(expect.toSatisfy((e) => StatusError.is(e, 'BadRequest')));
});
