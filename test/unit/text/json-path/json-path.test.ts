/**
 * Printer column cells for a few thousand combinations of object, column type and path, compared with the reference
 * server.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { printerColumns } from '../../../../src/crd/printer-columns.js';
import { parseJson } from '../../../../src/text/json/parse-json.js';
import { parseJsonPath } from '../../../../src/text/json-path/json-path.js';

/** Object (by index), column type, path; the cell, unless the path is invalid. */
type Case = readonly [object: number, type: string, path: string, cell?: unknown];

interface Cells {
  readonly objects: readonly object[];
  readonly cells: readonly Case[];
}

const text = readFileSync(new URL('./json-path-cells.json', import.meta.url), 'utf8');
const { objects, cells } = parseJson(text).value as unknown as Cells;

function cellOf(object: unknown, type: string, jsonPath: string): unknown {
  const columns = printerColumns([{ name: 'X', type, jsonPath }]);
  const context = { nowMs: Date.UTC(2030, 0, 1) } as never;
  return columns?.[1] === undefined ? 'no column' : columns[1].cell(object as never, context);
}

test('returns the recorded text of every cell', () => {
  const wrong = cells.filter(([object, type, path, ...expected]) => {
    const [want] = expected.length === 0 ? ['no column'] : expected;
    const got = cellOf(objects[object], type, path);
    // Large integers are compared in a common format.
    return got !== want && String(got) !== String(want);
  });
  expect(wrong).toEqual([]);
  expect(cells.length).toBeGreaterThan(1500);
});

describe('ages in table cells', () => {
  test.each([
    ['2029-12-31T23:55:00Z', '5m'],
    ['2029-12-31T00:00:00+00:00', '24h'],
    ['2030-01-01T00:00:00.5Z', '0s'],
    ['2031-01-01T00:00:00Z', '<invalid>'],
    ['2029-12-31', '<invalid>'],
    ['', '<unknown>'],
  ])('shows the age of %j as %j', (at, age) => {
    expect(cellOf({ at }, 'date', '.at')).toBe(age);
  });

  test.each([[1], [true], [null], [{}]])('shows %j as an invalid time', (at) => {
    expect(cellOf({ at }, 'date', '.at')).toBeNull();
  });
});

test('handles a very long path and a deeply nested object without a stack overflow', () => {
  let deep: unknown = 'end';
  for (let depth = 0; depth < 20_000; depth++) deep = { a: deep };
  expect(parseJsonPath('.a'.repeat(20_000))(deep)).toEqual(['end']);
  expect(parseJsonPath('..b')(deep)).toEqual([]);
});
