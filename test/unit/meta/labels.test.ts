/** Label selectors: the vectors of the reference implementation, special cases of the grammar, and selector objects. */
import { describe, expect, test } from 'vitest';
import { printFieldError } from '../../../src/meta/field-error.js';
import { SelectorError } from '../../../src/meta/label-selector-text.js';
import type { LabelSelectorObject } from '../../../src/meta/labels.js';
import {
  everything,
  labelErrors,
  labelSelectorFrom,
  labelSelectorFromObject,
  labelSelectorObjectErrors,
  matchesLabels,
  nothing,
  parseLabelSelector,
  printLabelSelector,
  selectsLabels,
} from '../../../src/meta/labels.js';
import { readVectors } from '../../vectors/read.js';

interface SelectorVector {
  readonly in: string;
  readonly canonical?: string;
  readonly matches?: readonly boolean[];
  readonly error?: string;
}

const LABEL_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const canonical = (text: string) => printLabelSelector(parseLabelSelector(text));
const matches = (text: string, labels?: Record<string, string>) => matchesLabels(parseLabelSelector(text), labels);

describe('a selector with many requirements', () => {
  // More than the number from which on requirements are tested together.
  const padding = Array.from({ length: 20 }, (_, at) => `!pad${at}`).join(',');
  const terms = ['a', '!a', 'a=1', 'a==2', 'a!=1', 'a in (1,2)', 'a notin (2,3)', 'a>1', 'a<3', 'b=x', 'b!=x', '!b'];
  const objects = [
    undefined,
    {},
    { a: '1' },
    { a: '2' },
    { a: '3', b: 'x' },
    { a: 'x' },
    { a: '' },
    { b: 'x' },
    { b: 'y' },
  ];

  test('matches the same labels as its requirements one by one', () => {
    for (const first of terms) {
      for (const second of terms) {
        for (const third of terms) {
          const expected = objects.map((labels) => [first, second, third].every((term) => matches(term, labels)));
          const text = `${first},${padding},${second},${third}`;
          expect(
            objects.map((labels) => matches(text, labels)),
            text,
          ).toEqual(expected);
        }
      }
    }
  });

  test('requires all keys, and only own ones', () => {
    const required = Array.from({ length: 20 }, (_, at) => `k${at}`);
    const labels = Object.fromEntries(required.map((key) => [key, 'v']));
    expect(matches(required.join(','), labels)).toBe(true);
    expect(matches(`${required.join(',')},one`, labels)).toBe(false);
    expect(matches(`${required.join(',')},constructor`, labels)).toBe(false);
    expect(matches(`${required.join(',')},!constructor`, labels)).toBe(true);
  });
});

describe('label selector vectors in selectors.json', () => {
  const vectors = readVectors('selectors') as { label: SelectorVector[]; labelSets: Record<string, string>[] };

  test.each(vectors.label)(
    'evaluates the label selector $in',
    ({ in: text, canonical: expected = '', matches: expectedMatches, error }) => {
      if (error !== undefined) {
        expect(() => parseLabelSelector(text)).toThrow(new SelectorError(error));
        return;
      }
      const selector = parseLabelSelector(text);
      expect(printLabelSelector(selector)).toBe(expected);
      expect(vectors.labelSets.map((labels) => matchesLabels(selector, labels))).toEqual(expectedMatches);
    },
  );
});

describe('label selector text', () => {
  test.each([
    ['a = b , c != d', 'a=b,c!=d'],
    ['b,a', 'a,b'],
    ['a in (c, b, c)', 'a in (b,c)'],
    ['a in (,b)', 'a in (,b)'],
    ['a in (b,,c)', 'a in (,b,c)'],
    ['a>5,a<9', 'a>5,a<9'],
    ['a=in,b=notin', 'a=in,b=notin'],
    ['\t\r\n', ''],
  ])('prints the label selector %s as %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
    expect(canonical(canonical(text))).toBe(expected);
  });

  test.each([
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['a,', "found '', expected: identifier after ','"],
    ['a(', "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in (!', "unable to parse requirement: found '!', expected: ',', ')' or identifier"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a in (b,,)', "unable to parse requirement: found ')', expected: ',', or identifier"],
    ['a in (b!', "unable to parse requirement: found '!', expected: ',' or ')'"],
    ['a\0b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    [
      'a>x-',
      `unable to parse requirement: [values[0]: Invalid value: "x-": for 'Gt', 'Lt' operators, the value must be an integer, values[0][a]: Invalid value: "x-": ${LABEL_VALUE}]`,
    ],
    [
      'a in (-b,-c)',
      `unable to parse requirement: [values[0][a]: Invalid value: "-b": ${LABEL_VALUE}, values[1][a]: Invalid value: "-c": ${LABEL_VALUE}]`,
    ],
    [
      'a>9223372036854775808',
      "unable to parse requirement: values[0]: Invalid value: \"9223372036854775808\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('rejects the label selector %s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(new SelectorError(message));
  });
});

describe('label matching', () => {
  test('treats undefined labels as empty', () => {
    expect(matches('a')).toBe(false);
    expect(matches('!a')).toBe(true);
    expect(matches('a!=b')).toBe(true);
    expect(matchesLabels(everything, undefined)).toBe(true);
    expect(matchesLabels(nothing, { a: 'b' })).toBe(false);
  });

  test('does not treat inherited property names as labels', () => {
    for (const key of ['constructor', 'toString', 'hasOwnProperty']) {
      expect(matches(key, {})).toBe(false);
      expect(matches(`!${key}`, {})).toBe(true);
      expect(matches(`${key} notin (x)`, {})).toBe(true);
      expect(matches(key, { [key]: 'x' })).toBe(true);
    }
    // Not a valid key, but a record may contain it.
    const proto: Record<string, string> = JSON.parse('{"__proto__":"x"}');
    expect(matchesLabels(labelSelectorFrom(proto), proto)).toBe(true);
    expect(matchesLabels(labelSelectorFrom(proto), {})).toBe(false);
  });

  test('compares numbers in label selectors as 64-bit integers', () => {
    expect(matches('a>9007199254740992', { a: '9007199254740993' })).toBe(true);
    expect(matches('a>1', { a: '1x' })).toBe(false);
    expect(matches('a<10', { a: '09' })).toBe(true);
    expect(matches('a<10', {})).toBe(false);
  });

  test('requires each of many labels of a plain record', () => {
    const labels = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, at % 2 === 0 ? 'v' : '']));
    const selector = labelSelectorFrom(labels);
    expect(matchesLabels(selector, labels)).toBe(true);
    expect(matchesLabels(selector, { ...labels, other: 'x' })).toBe(true);
    expect(matchesLabels(selector, { ...labels, k1: 'x' })).toBe(false);
    const { k1: _k1, ...fewer } = labels;
    expect(matchesLabels(selector, fewer)).toBe(false);
    expect(matchesLabels(selector, undefined)).toBe(false);
  });

  test('requires each label of a plain record', () => {
    const selector = labelSelectorFrom({ tier: 'front', app: 'web' });
    expect(printLabelSelector(selector)).toBe('app=web,tier=front');
    expect(matchesLabels(selector, { app: 'web', tier: 'front', x: 'y' })).toBe(true);
    expect(matchesLabels(selector, { app: 'web' })).toBe(false);
    expect(labelSelectorFrom({})).toBe(everything);
  });
});

describe('label selector objects', () => {
  test('matches the labels and expressions of a selector object', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'x', operator: 'DoesNotExist' },
        { key: 'zone', operator: 'Exists', values: [] },
        { key: 'env', operator: 'NotIn', values: ['prod'] },
      ],
    });
    expect(printLabelSelector(selector)).toBe('app=web,env notin (prod),tier in (a,b),!x,zone');
    expect(matchesLabels(selector, { app: 'web', tier: 'a', zone: '1' })).toBe(true);
  });

  test('matches nothing for undefined and everything for an empty selector', () => {
    expect(matchesLabels(labelSelectorFromObject(undefined), {})).toBe(false);
    expect(matchesLabels(labelSelectorFromObject({}), {})).toBe(true);
  });

  test('evaluates a selector object like its parsed selector', () => {
    const objects: readonly (LabelSelectorObject | undefined)[] = [
      undefined,
      {},
      { matchLabels: {} },
      { matchLabels: { a: '1' } },
      { matchLabels: { a: '1', b: '' } },
      { matchLabels: { constructor: 'x' } },
      { matchLabels: { a: '1' }, matchExpressions: [] },
      { matchLabels: { a: '1' }, matchExpressions: [{ key: 'b', operator: 'DoesNotExist' }] },
      { matchExpressions: [{ key: 'a', operator: 'Like' }] },
      // Unvalidated objects may contain null.
      { matchLabels: null, matchExpressions: null } as never,
      { matchLabels: { b: null } } as never,
    ];
    const labels = [undefined, {}, { a: '1' }, { a: '2' }, { a: '1', b: '' }, { a: '1', b: '2' }];
    for (const object of objects) {
      for (const each of labels) {
        expect(selectsLabels(object, each)).toBe(matchesLabels(labelSelectorFromObject(object), each));
      }
    }
    expect(selectsLabels({ matchLabels: { a: '1' } }, { a: '1', c: '3' })).toBe(true);
  });

  test('matches nothing for an unknown operator', () => {
    expect(labelSelectorFromObject({ matchExpressions: [{ key: 'a', operator: 'Like' }] })).toBe(nothing);
  });

  test.each<[LabelSelectorObject, string[]]>([
    [{}, []],
    [{ matchLabels: { a: 'b c' } }, [`spec.selector.matchLabels: Invalid value: "b c": ${LABEL_VALUE}`]],
    [
      { matchExpressions: [{ key: 'a', operator: 'Like' }] },
      ['spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator'],
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      [
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
    [
      { matchExpressions: [{ key: '/a', operator: 'Exists', values: ['-'] }] },
      [
        "spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        'spec.selector.matchExpressions[0].key: Invalid value: "/a": prefix part must be non-empty',
        `spec.selector.matchExpressions[0].values[0]: Invalid value: "-": ${LABEL_VALUE}`,
      ],
    ],
  ])('validates the selector object %j', (object, expected) => {
    expect(labelSelectorObjectErrors(object, 'spec.selector').map(printFieldError)).toEqual(expected);
  });

  test('allows invalid values with allowInvalidValues', () => {
    const object = { matchExpressions: [{ key: 'a', operator: 'In', values: ['-'] }] };
    expect(labelSelectorObjectErrors(object, 'selector', { allowInvalidValues: true })).toEqual([]);
  });

  test('reports label errors at the map in key order', () => {
    const errors = labelErrors({ '/b': 'ok', '/a': 'ok' }, 'metadata.labels');
    expect(errors.map(printFieldError)).toEqual([
      'metadata.labels: Invalid value: "/a": prefix part must be non-empty',
      'metadata.labels: Invalid value: "/b": prefix part must be non-empty',
    ]);
  });
});
