/** Comments in src that cite the specification name sections of docs/specification.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../package/manifest.js';

const page = readFileSync(join(root, 'docs/specification.md'), 'utf8');
const sections = new Set([...page.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading));

/** `spec: Watch, Events` at the start of a comment's line or after a sentence, up to the end of the line. */
const CITATION = /(?:\* |\/\/ |[.:)] )spec: ([A-Z][^\n]*?)(?: \*\/)?$/gm;

const cited = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(join(root, 'src', file), 'utf8').matchAll(CITATION)].flatMap(([, list = '']) =>
      list.split(', ').map((section) => ({ file, section })),
    ),
  );

test('every citation names an existing section', () => {
  expect(cited.length).toBeGreaterThan(90);
  expect(cited.filter(({ section }) => !sections.has(section))).toEqual([]);
});
