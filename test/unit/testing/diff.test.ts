/**
 * diffObjects and formatDiff.
 */
import { defineKind, mapList } from 'orchplane';
import { ConfigMap, Pod } from 'orchplane/kinds';
import { diffObjects, formatDiff, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { lineDiff } from '../../../src/meta/format-diff.js';
import fc from '../../property/seeded.js';

describe('diffObjects', () => {
  test('reports added, removed and changed fields by path', () => {
    const before = { metadata: { labels: { a: '1', b: '2' } }, data: { size: 's' } };
    const after = { metadata: { labels: { a: '1', c: '3' } }, data: { size: 'm' }, extra: { deep: { er: 1 } } };
    expect(diffObjects(before, after)).toEqual([
      { path: '.metadata.labels.b', type: 'removed', before: '2' },
      { path: '.metadata.labels.c', type: 'added', after: '3' },
      { path: '.data.size', type: 'changed', before: 's', after: 'm' },
      { path: '.extra', type: 'added', after: { deep: { er: 1 } } },
    ]);
    expect(diffObjects(before, before)).toEqual([]);
    expect(diffObjects(before, structuredClone(before))).toEqual([]);
  });

  test('ignores fields that change with every write unless all is set', () => {
    const object = (resourceVersion: string) => ({
      metadata: { name: 'x', resourceVersion, managedFields: [{ manager: resourceVersion }] },
    });
    expect(diffObjects(object('1'), object('2'))).toEqual([]);
    expect(diffObjects(object('1'), object('2'), { all: true }).map(({ path }) => path)).toEqual([
      '.metadata.resourceVersion',
      '.metadata.managedFields[0].manager',
    ]);
  });

  const pod = (...containers: object[]) => ({ apiVersion: 'v1', kind: 'Pod', spec: { containers } });

  test('matches list items by the keys of the kind', () => {
    const before = pod({ name: 'a', image: 'a:1' }, { name: 'b', image: 'b:1' });
    const after = pod({ name: 'c', image: 'c:1' }, { name: 'b', image: 'b:2' });
    const expected = [
      { path: '.spec.containers[name="a"]', type: 'removed', before: { name: 'a', image: 'a:1' } },
      { path: '.spec.containers[name="b"].image', type: 'changed', before: 'b:1', after: 'b:2' },
      { path: '.spec.containers[name="c"]', type: 'added', after: { name: 'c', image: 'c:1' } },
    ];
    expect(diffObjects(before, after)).toEqual(expected);
    const { apiVersion: _a, kind: _k, ...untyped } = before;
    expect(diffObjects(untyped, { spec: after.spec }, { kind: Pod })).toEqual(expected);
    // Without a kind, items are matched by position.
    expect(diffObjects(untyped, { spec: after.spec }).map(({ path }) => path)).toEqual([
      '.spec.containers[0].name',
      '.spec.containers[0].image',
      '.spec.containers[1].image',
    ]);
  });

  test('reports items that only moved', () => {
    const [a, b] = [{ name: 'a' }, { name: 'b' }];
    expect(diffObjects(pod(a, b), pod(b, a))).toEqual([
      { path: '.spec.containers', type: 'moved', before: [a, b], after: [b, a] },
    ]);
  });

  test('uses the list keys of user-defined kinds', () => {
    const Board = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Board',
      scope: 'Namespaced',
      body: { spec: z.object({ pins: mapList(z.object({ id: z.string(), colour: z.string() }), 'id') }) },
    });
    const board = (...pins: object[]) => ({ apiVersion: 'example.com/v1', kind: 'Board', spec: { pins } });
    const differences = diffObjects(
      board({ id: 'x', colour: 'red' }),
      board({ id: 'y', colour: 'red' }, { id: 'x', colour: 'blue' }),
      { kind: Board },
    );
    expect(differences.map(({ path }) => path)).toEqual(['.spec.pins[id="x"].colour', '.spec.pins[id="y"]']);
  });

  test('treats undefined and null as an object without fields', () => {
    expect(diffObjects(undefined, { a: 1 })).toEqual([{ path: '.a', type: 'added', after: 1 }]);
    expect(diffObjects({ a: 1 }, null)).toEqual([{ path: '.a', type: 'removed', before: 1 }]);
    expect(diffObjects(undefined, undefined)).toEqual([]);
  });
});

describe('formatDiff', () => {
  test('prints a unified diff of YAML', async () => {
    const cluster = testCluster();
    const configMaps = cluster.api(ConfigMap);
    const data = Object.fromEntries('abcdefghij'.split('').map((key) => [key, '1']));
    const before = await configMaps.create({ metadata: { name: 'web' }, data });
    const after = await configMaps.edit('web', (draft) => {
      draft.data = { ...draft.data, b: '2', k: '1' };
    });
    expect(formatDiff(before, after)).toBe(
      [
        '--- ConfigMap default/web, version 5',
        '+++ ConfigMap default/web, version 6',
        '@@ -1,7 +1,7 @@',
        ' apiVersion: v1',
        ' data:',
        '   a: "1"',
        '-  b: "1"',
        '+  b: "2"',
        '   c: "1"',
        '   d: "1"',
        '   e: "1"',
        '@@ -10,6 +10,7 @@',
        '   h: "1"',
        '   i: "1"',
        '   j: "1"',
        '+  k: "1"',
        ' kind: ConfigMap',
        ' metadata:',
        '   creationTimestamp: "2030-01-01T00:00:00Z"',
      ].join('\n'),
    );
    expect(formatDiff(before, before)).toBe('');
    expect(formatDiff(before, after, { context: 0 })).toContain('@@ -4 +4 @@\n-  b: "1"\n+  b: "2"\n@@ -12,0 +13 @@');
  });

  test('prints colours when requested', () => {
    expect(formatDiff({ a: 1 }, { a: 2 }, { colour: true })).toBe(
      '\u001b[1m--- object\u001b[0m\n\u001b[1m+++ object\u001b[0m\n\u001b[36m@@ -1 +1 @@\u001b[0m\n' +
        '\u001b[31m-a: 1\u001b[0m\n\u001b[32m+a: 2\u001b[0m',
    );
    expect(formatDiff({ a: 1 }, { a: 2 }, { colour: false })).not.toContain('\u001b');
  });

  test('prints an added or removed object as a whole', () => {
    expect(formatDiff(undefined, { a: 1, b: 2 })).toBe('--- nothing\n+++ object\n@@ -0,0 +1,2 @@\n+a: 1\n+b: 2');
    expect(formatDiff({ a: 1 }, undefined)).toBe('--- object\n+++ nothing\n@@ -1 +0,0 @@\n-a: 1');
  });
});

test('returns line diffs that contain both sides in order', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = lineDiff(before, after);
      expect(diff.filter(({ sign }) => sign !== '+').map(({ text }) => text)).toEqual(before);
      expect(diff.filter(({ sign }) => sign !== '-').map(({ text }) => text)).toEqual(after);
    }),
  );
  const many = Array.from({ length: 3_000 }, (_, index) => String(index));
  expect(lineDiff(many, [...many].reverse()).length).toBe(6_000);
});
