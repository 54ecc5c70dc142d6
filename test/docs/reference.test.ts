/** The API reference covers every entry of the package. `.ci/run` generates it with the site and fails on a warning. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entries, root } from '../package/manifest.js';

test('configures typedoc with every entry of the package', () => {
  const { entryPoints, treatWarningsAsErrors } = JSON.parse(readFileSync(join(root, 'typedoc.json'), 'utf8'));
  expect([...entryPoints].sort()).toEqual(entries.map(({ source }) => source).sort());
  expect(treatWarningsAsErrors).toBe(true);
});
