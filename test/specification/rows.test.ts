/** The rows of docs/specification.md and the titles of the tests in this folder name the same statements. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const PAGE = new URL('../../docs/specification.md', import.meta.url);
const FOLDER = new URL('./', import.meta.url);
const ID = /\b[A-Z]\d*\.\d+\b/g;

interface Row {
  readonly id: string;
  readonly files: readonly string[];
  readonly holds: string;
}

const rows: readonly Row[] = [...readFileSync(PAGE, 'utf8').matchAll(/^\| ([A-Z]\d*\.\d+) \|.*$/gm)].map(
  ([line, id = '']) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { id, files: (cells[3] ?? '').split(', ').filter(Boolean), holds: cells[4] ?? '' };
  },
);

/** The ids in the titles of each file, without the extension. */
const tested: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.test.ts') && name !== 'rows.test.ts')
    .map((name) => {
      const titles =
        readFileSync(new URL(name, FOLDER), 'utf8').match(/(['"`])[A-Z]\d*\.\d+(, [A-Z]\d*\.\d+)*: /g) ?? [];
      return [name.replace('.test.ts', ''), new Set(titles.flatMap((title) => title.match(ID) ?? []))];
    }),
);

test('the page has rows with distinct ids', () => {
  expect(rows.length).toBeGreaterThan(150);
  const ids = rows.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('every row names files whose titles have its id, or gives a reason', () => {
  const missing = rows.filter(({ id, files, holds }) => {
    if (files.length === 0) return !/^reason: .{20}/.test(holds);
    // The first file tests the statement; others may test it by further statements of their own.
    return !tested.get(files[0] ?? '')?.has(id) || files.some((file) => !tested.has(file)) || holds === '';
  });
  expect(missing).toEqual([]);
});

test('every id in a title has a row that names the file', () => {
  const unknown = [...tested].flatMap(([file, ids]) =>
    [...ids]
      .filter((id) => !rows.some((row) => row.id === id && row.files.includes(file)))
      .map((id) => `${file} ${id}`),
  );
  expect(unknown).toEqual([]);
});
