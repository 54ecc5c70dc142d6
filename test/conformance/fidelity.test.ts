/** The table of docs/fidelity.md contains the figures of figures.json. `.ci/run` compares these with a replay. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';
import { type Figures, percent, sectionOf, table, withSection } from './fidelity-table.mjs';
import { RECORDINGS, readRecordings } from './recordings.mjs';

const document = readFileSync(join(root, 'docs/fidelity.md'), 'utf8');
const figures = JSON.parse(readFileSync(join(root, 'test/conformance/figures.json'), 'utf8')) as Figures;

describe('figures.json', () => {
  test('covers every area of the recordings with its number of steps', () => {
    const recorded: Record<string, number> = {};
    for (const { area, steps } of readRecordings(RECORDINGS)) recorded[area] = (recorded[area] ?? 0) + steps.length;
    const covered = Object.entries(figures).map(([area, { steps }]) => [area, steps]);
    expect(Object.fromEntries(covered)).toEqual(recorded);
  });

  test('has every status code and more than 99 % of the responses of each area', () => {
    for (const { steps, kubernetes, orch } of Object.values(figures)) {
      expect([kubernetes.codes, orch.codes]).toEqual([steps, steps]);
      expect(Math.min(kubernetes.identical, orch.identical + orch.specified) / steps).toBeGreaterThan(0.99);
      expect(kubernetes.specified).toBe(0);
    }
  });
});

describe('the table of docs/fidelity.md', () => {
  const rows = (sectionOf(document) ?? '').split('\n').filter((line) => line.startsWith('| '));

  test('contains the table of figures.json in docs/fidelity.md', () => {
    expect(sectionOf(document)?.trim()).toBe(table(figures));
    expect(withSection(document, figures)).toBe(document);
  });

  test('has the same columns in each row and only measured figures', () => {
    const cells = rows.map((row) => row.split('|').slice(1, -1));
    expect(new Set(cells.map(({ length }) => length))).toEqual(new Set([7]));
    const claimed = cells.slice(1, -1).map(([, steps, identical]) => [numberIn(steps), numberIn(identical)]);
    const measured = Object.values(figures).map(({ steps, kubernetes }) => [steps, kubernetes.identical]);
    expect(claimed.sort()).toEqual(measured.sort());
  });

  test('rounds percentages down', () => {
    expect(percent(2_242, 2_243)).toBe('99.9');
    expect(percent(5, 5)).toBe('100.0');
  });

  test('does not write the table to a document whose marks are missing or occur twice', () => {
    expect(() => withSection('# Fidelity', figures)).toThrow(/must contain the lines/);
    expect(() => withSection(document + document, figures)).toThrow(/once each/);
  });
});

function numberIn(cell = ''): number {
  return Number(cell.replace(',', ''));
}
