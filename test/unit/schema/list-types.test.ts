/** List types of user-defined kinds: declarations and unique items. */
import { createCluster, defineKind, mapList, setList } from 'orchplane';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { failureOf } from '../server/watch-reader.js';

function kindWith(shape: z.ZodRawShape) {
  return defineKind({ apiVersion: 'example.com/v1', kind: 'Box', scope: 'Cluster', body: { spec: z.object(shape) } });
}

const item = z.object({ name: z.string(), port: z.number().optional(), side: z.string().default('left') });

describe('a list type declaration', () => {
  test.each([
    [
      'a key that items do not have',
      () => mapList(item, 'nmae' as 'name'),
      /mapList key "nmae" is not a field of the items/,
    ],
    ['an optional key', () => mapList(item, 'port'), /mapList key "port" is optional/],
    ['no key', () => mapList(item, []), /mapList needs at least one key/],
    ['items that are not objects', () => mapList(z.string(), 'length' as never), /mapList is for objects/],
    [
      'a key that is not a scalar',
      () => mapList(z.object({ at: z.object({}) }), 'at'),
      /mapList key "at" is not a scalar/,
    ],
    ['a set of objects', () => setList(item), /setList is for strings, numbers and booleans/],
  ])('rejects a declaration with %s', (_why, list, message) => {
    expect(() => kindWith({ list: list().optional() }).schema).toThrow(message);
  });
});

describe('a duplicate item', () => {
  const Box = kindWith({
    items: mapList(item, ['name', 'side']).optional(),
    tags: setList(z.string()).optional(),
    nested: z.record(z.string(), z.object({ numbers: setList(z.number()) })).optional(),
  });
  const cluster = createCluster({ kinds: [Box] });
  const create = (spec: object) => failureOf(cluster.api(Box).create({ metadata: { name: 'b' }, spec } as never));

  test.each([
    ['in a set', { tags: ['a', 'b', 'a'] }, 'spec.tags[2]: Duplicate value: "a"'],
    [
      'by its keys, including their defaults',
      { items: [{ name: 'n' }, { name: 'n', side: 'left' }] },
      'spec.items[1]: Duplicate value: map[string]interface {}{"name":"n", "side":"left"}',
    ],
    ['in a nested set', { nested: { k: { numbers: [1, 1] } } }, 'spec.nested[k].numbers[1]: Duplicate value: 1'],
  ])('rejects a duplicate item %s', async (_where, spec, why) => {
    expect(await create(spec)).toHaveProperty('message', `Box.example.com "b" is invalid: ${why}`);
  });

  test('accepts items that differ in another key', async () => {
    const items = [{ name: 'n' }, { name: 'n', side: 'right' }];
    const made = await cluster.api(Box).create({ metadata: { name: 'fine' }, spec: { items } });
    expect(made.spec).toEqual({
      items: [
        { name: 'n', side: 'left' },
        { name: 'n', side: 'right' },
      ],
    });
  });
});
