/** The guide lists every built-in kind with its version, and every standard controller with its options. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { standardControllers } from 'orchplane/controllers';
import * as kinds from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { root } from '../package/manifest.js';

test('lists every built-in kind with its subresources in the guide', () => {
  const guide = readGuide('07-built-in-kinds');
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

test('lists every standard controller and every option of the standard controllers in the guide', () => {
  const guide = readGuide('12-controllers');
  const table = (heading: string): string => guide.slice(guide.indexOf(`### ${heading}`)).split(/\n#/)[0] ?? '';
  const list = table('List of controllers');
  const names = standardControllers().map(({ name }) => `\`${name}\``);
  expect(names.filter((name) => !list.includes(name))).toEqual([]);
  const options = [...table('Options of all controllers').matchAll(/^\| `(\w+)`/gm)].map(([, option]) => option);
  const misspelt = () => standardControllers({ misspelt: 1 } as object);
  expect(misspelt).toThrow(
    new TypeError(`orchplane: standardControllers has no option "misspelt"; it has ${options.join(', ')}`),
  );
});

function readGuide(page: string): string {
  return readFileSync(join(root, `docs/guide/${page}.md`), 'utf8');
}
