/** Memory of long label selectors: each open watch keeps its own. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readLabelRequirements } from '../../../src/kinds/selector-requirements.js';
import { SelectorError } from '../../../src/meta/label-selector-text.js';
import { type LabelSelector, matchesLabels, parseLabelSelector } from '../../../src/meta/labels.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';

const TERMS = 3_000;
const SELECTORS = 30;

test('a term of a long selector needs less than 350 bytes', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const text = Array.from({ length: TERMS }, (_, at) => `k${at}!=v`).join(',');
  const selectors: LabelSelector[] = [parseLabelSelector(text)];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < SELECTORS; at++) selectors.push(parseLabelSelector(`${text},x=${at}`));
  collect();
  expect((process.memoryUsage().heapUsed - before) / SELECTORS / TERMS).toBeLessThan(350);
  const last = selectors.at(-1) as LabelSelector;
  expect([{ x: '29' }, { x: '29', k7: 'v' }, { x: '2' }, {}].map((labels) => matchesLabels(last, labels))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('an invalid selector of three megabytes is read up to its first error', () => {
  const text = 'a b '.repeat(750_000);
  const spentMs = cpuTimer();
  expect(() => readLabelRequirements(text)).toThrow(SelectorError);
  expect(spentMs()).toBeLessThan(50);
});
