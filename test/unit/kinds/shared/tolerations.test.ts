/** Tolerations: validation, updates and merging. */
import { describe, expect, test } from 'vitest';
import type { Toleration } from '../../../../src/kinds/shared/tolerations.js';
import {
  mergeTolerations,
  validateTolerations,
  validateTolerationsUpdate,
} from '../../../../src/kinds/shared/tolerations.js';
import { printFieldError } from '../../../../src/meta/field-error.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';

const EMPTY_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
const EFFECTS = 'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"';

describe('toleration validation', () => {
  test.each<[string, Toleration, string[]]>([
    ['the operator Exists only', { operator: 'Exists' }, []],
    ['a value', { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 0 }, []],
    ['no operator', { key: 'a', value: 'b' }, []],
    ['no fields', {}, [`t[0].operator: Invalid value: "": ${EMPTY_KEY}`]],
    [
      'an unknown operator',
      { key: 'a', operator: 'Like' },
      ['t[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"'],
    ],
    [
      'a value with the operator Exists',
      { key: 'a', operator: 'Exists', value: 'b' },
      ['t[0].operator: Invalid value: "b": value must be empty when `operator` is \'Exists\''],
    ],
    [
      'seconds with another effect',
      { key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 },
      ['t[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
    ],
    ['an unknown effect', { key: 'a', effect: 'Maybe' }, [`t[0].effect: Unsupported value: "Maybe": ${EFFECTS}`]],
    [
      'many errors',
      { operator: 'Like', effect: 'Maybe', tolerationSeconds: 1 },
      [
        `t[0].operator: Invalid value: "Like": ${EMPTY_KEY}`,
        't[0].effect: Invalid value: "Maybe": effect must be \'NoExecute\' when `tolerationSeconds` is set',
        't[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"',
        `t[0].effect: Unsupported value: "Maybe": ${EFFECTS}`,
      ],
    ],
  ])('validates a toleration with %s', (_, toleration, errors) => {
    expect(validateTolerations('t', [toleration]).map(printFieldError)).toEqual(errors);
  });

  test('reports an invalid value at the path of the operator', () => {
    const fields = validateTolerations('t', [{ operator: 'Exists' }, { key: 'a b', value: 'c d' }]);
    expect(fields.map(({ field }) => field)).toEqual(['t[1].key', 't[1].operator']);
  });
});

describe('toleration updates', () => {
  const old: Toleration = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
  const rejected = ['t: Forbidden: existing toleration can not be modified except its tolerationSeconds'];

  test.each<[string, Toleration[], string[]]>([
    ['no change', [old], []],
    ['other seconds', [{ ...old, tolerationSeconds: 1 }], []],
    ['no seconds and an empty value', [{ key: 'a', operator: 'Exists', value: '', effect: 'NoExecute' }], []],
    ['a toleration added before an old one', [{ key: 'b', operator: 'Exists' }, old], []],
    ['a removed toleration', [], rejected],
    ['another operator', [{ ...old, operator: 'Equal' }], rejected],
    ['a removed toleration and an invalid new one', [{ key: 'a', operator: 'Like' }], rejected],
    [
      'an invalid new toleration',
      [old, { key: 'a', operator: 'Like' }],
      ['t[1].operator: Unsupported value: "Like": supported values: "Equal", "Exists"'],
    ],
  ])('validates an update of tolerations with %s', (_, tolerations, errors) => {
    expect(validateTolerationsUpdate('t', tolerations, [old]).map(printFieldError)).toEqual(errors);
  });
});

describe('toleration merging', () => {
  const all: Toleration = { operator: 'Exists' };
  const exists: Toleration = { key: 'a', operator: 'Exists' };
  const equal: Toleration = { key: 'a', operator: 'Equal', value: 'x', effect: 'NoExecute' };
  const brief: Toleration = { ...equal, tolerationSeconds: 5 };

  test.each<[string, Toleration[], Toleration[], Toleration[]]>([
    ['two empty lists', [], [], []],
    ['equal tolerations are merged', [equal], [{ ...equal }], [equal]],
    ['the wider key takes precedence', [equal], [exists, all], [all]],
    ['the wider key takes precedence also if it is first', [all], [equal], [all]],
    ['an unlimited toleration covers a limited one', [brief], [equal], [equal]],
    [
      'a limited toleration does not cover a longer one',
      [brief],
      [{ ...equal, tolerationSeconds: 6 }],
      [{ ...equal, tolerationSeconds: 6 }],
    ],
    ['a toleration with another value is kept', [equal], [{ ...equal, value: 'y' }], [equal, { ...equal, value: 'y' }]],
    [
      'a toleration with another effect is kept',
      [{ ...exists, effect: 'NoSchedule' }],
      [equal],
      [{ ...exists, effect: 'NoSchedule' }, equal],
    ],
    [
      'a missing operator differs from Equal',
      [{ key: 'a', value: 'x' }],
      [{ key: 'a', operator: 'Equal', value: 'x' }],
      [{ key: 'a', value: 'x' }],
    ],
  ])('merges tolerations: %s', (_, first, second, merged) => {
    expect(mergeTolerations(first, second)).toEqual(merged);
  });
});

describe('many tolerations', () => {
  const many = (count: number, from = 0): Toleration[] =>
    Array.from({ length: count }, (_, i) => ({
      key: 'k',
      operator: 'Equal',
      value: `v${from + i}`,
      effect: 'NoSchedule',
    }));

  test('merges and compares many tolerations in less than quadratic time', () => {
    const spentMs = cpuTimer();
    expect(mergeTolerations(many(20_000), many(20_000, 10_000))).toHaveLength(30_000);
    expect(validateTolerationsUpdate('t', many(20_000), many(20_000))).toEqual([]);
    // Half a second; a quadratic algorithm takes minutes.
    expect(spentMs()).toBeLessThan(15_000);
  }, 60_000);

  test('merges tolerations that differ in seconds to the longest one', () => {
    const lasting = (tolerationSeconds?: number): Toleration => ({
      key: 'k',
      operator: 'Exists',
      effect: 'NoExecute',
      ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    });
    expect(mergeTolerations([lasting(1), lasting(3)], [lasting(2), lasting(3)])).toEqual([lasting(3)]);
    expect(mergeTolerations([lasting(), lasting(3)], [lasting()])).toEqual([lasting()]);
    expect(mergeTolerations([lasting(1)], [{ key: 'k', operator: 'Exists' }])).toEqual([
      { key: 'k', operator: 'Exists' },
    ]);
  });
});
