/**
 * The table of docs/fidelity.md says what the replay gave when it was last written down (figures.json), and no more than
 * that. `.ci/run` checks that a run still gives the same.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';
import { type Figures, percent, sectionOf, table, withSection } from './fidelity-table.mjs';

const document = readFileSync(join(root, 'docs/fidelity.md'), 'utf8');
const figures = JSON.parse(readFileSync(join(root, 'test/conformance/figures.json'), 'utf8')) as Figures;

describe('the figures of the replay', () => {
  test('cover every area, and no step counts twice', () => {
    expect(Object.keys(figures).sort()).toEqual(
      'admission apply auth crd crud delete http kinds lifecycle list patch watch'.split(' '),
    );
    for (const { steps, kubernetes, orch } of Object.values(figures)) {
      for (const { alike, butDescriptions, codes } of [kubernetes, orch]) {
        expect(alike).toBeLessThanOrEqual(butDescriptions);
        expect(butDescriptions).toBeLessThanOrEqual(codes);
        expect(codes).toBeLessThanOrEqual(steps);
      }
    }
  });

  test('are high: all codes, and nearly all answers but for descriptions of columns', () => {
    for (const { steps, kubernetes, orch } of Object.values(figures)) {
      expect([kubernetes.codes, orch.codes]).toEqual([steps, steps]);
      expect(Math.min(kubernetes.butDescriptions, orch.butDescriptions) / steps).toBeGreaterThan(0.99);
    }
  });
});

describe('the table of docs/fidelity.md', () => {
  const rows = (sectionOf(document) ?? '').split('\n').filter((line) => line.startsWith('| '));

  test('is made from these figures', () => {
    expect(sectionOf(document)?.trim()).toBe(table(figures));
    expect(withSection(document, figures)).toBe(document);
  });

  test('has the same columns in each row, and claims nothing that was not measured', () => {
    const cells = rows.map((row) => row.split('|').slice(1, -1));
    expect(new Set(cells.map(({ length }) => length))).toEqual(new Set([8]));
    const claimed = cells.slice(1, -1).map(([, steps, alike]) => [numberIn(steps), numberIn(alike)]);
    const measured = Object.values(figures).map(({ steps, kubernetes }) => [steps, kubernetes.alike]);
    expect(claimed.sort()).toEqual(measured.sort());
  });

  test('rounds down', () => {
    expect(percent(2_242, 2_243)).toBe('99.9');
    expect(percent(5, 5)).toBe('100.0');
  });

  test('cannot be written where its marks are missing or doubled', () => {
    expect(() => withSection('# Fidelity', figures)).toThrow(/needs the lines/);
    expect(() => withSection(document + document, figures)).toThrow(/once each/);
  });
});

function numberIn(cell = ''): number {
  return Number(cell.replace(',', ''));
}
