/** The guide lists every built-in kind with its version. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as kinds from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { root } from '../package/manifest.js';

test('lists every built-in kind with its subresources in the guide', () => {
  const guide = readFileSync(join(root, 'docs/guide/07-built-in-kinds.md'), 'utf8');
  const rows = new Map(
    [...guide.matchAll(/^\| `([^`]+)`[^|]*\| (.*) \|$/gm)].map(([, version, list]) => [version, list ?? '']),
  );
  const missing = Object.entries(kinds).flatMap(([name, kind]) => {
    if (Array.isArray(kind) || typeof kind !== 'object' || !kinds.builtInKinds.includes(kind as never)) return [];
    const { group, version, subresources } = kind as (typeof kinds.builtInKinds)[number];
    const below = Object.keys(subresources).sort().join(', ');
    const entry = below === '' ? name : `${name} (${below})`;
    const list = rows.get(group === '' ? version : `${group}/${version}`) ?? '';
    return `, ${list}, `.includes(`, ${entry}, `) ? [] : [`${group}/${version} ${entry}`];
  });
  expect(missing).toEqual([]);
  expect(rows.size).toBeGreaterThan(20);
});
