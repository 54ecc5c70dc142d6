/** CEL rules and scale subresources of user-defined kinds. */

import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineKind as defineInCore } from '../../../src/core.js';
import { createCluster, defineKind, mergePatch, StatusError, scale, scaleAt, status } from '../../../src/index.js';

const body = {
  spec: z.object({
    replicas: z.number().int().optional(),
    min: z.number().int().default(0),
    max: z.number().int().default(5),
  }),
  status: z.object({ replicas: z.number().int().optional(), selector: z.string().optional() }).optional(),
};

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body,
  subresources: { status, scale },
  rules: [
    { rule: 'self.spec.min <= self.spec.max', message: 'min is at most max' },
    {
      rule: 'self.spec.max >= oldSelf.spec.max',
      fieldPath: '.spec.max',
      messageExpression: '"was " + string(oldSelf.spec.max)',
    },
    { rule: '!has(self.status) || !has(self.status.replicas) || self.status.replicas <= self.spec.max' },
  ],
});

describe('CEL rules of a user-defined kind', () => {
  test('checks CEL rules on create, with the messages of CRD rules', async () => {
    const api = createCluster({ kinds: [Widget] }).api(Widget);
    await expect(api.create({ metadata: { name: 'b' }, spec: { min: 7 } })).rejects.toThrow(
      'Widget.example.com "b" is invalid: <nil>: Invalid value: "object": min is at most max',
    );
    expect((await api.list()).items).toEqual([]);
  });

  test('allows CEL rules to read the old object and to report their field', async () => {
    const api = createCluster({ kinds: [Widget] }).api(Widget);
    await api.create({ metadata: { name: 'a' }, spec: {} });
    const shrunk = api.edit('a', (draft) => {
      draft.spec.max = 3;
    });
    await expect(shrunk).rejects.toThrow('spec.max: Invalid value: "object": was 5');
  });

  test('checks CEL rules for status updates', async () => {
    const api = createCluster({ kinds: [Widget] }).api(Widget);
    await api.create({ metadata: { name: 'a' }, spec: {} });
    const tooMany = api.status.edit('a', (draft) => {
      draft.status = { replicas: 9 };
    });
    await expect(tooMany).rejects.toSatisfy((error) => StatusError.is(error, 'Invalid'));
  });

  test('treats zod integers as int in CEL rules', async () => {
    const Even = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Even',
      scope: 'Cluster',
      body: { spec: z.object({ size: z.number().int(), half: z.int() }) },
      rules: [{ rule: 'self.spec.half + self.spec.half == self.spec.size && self.spec.size % 2 == 0' }],
    });
    const api = createCluster({ kinds: [Even] }).api(Even);
    expect((await api.create({ metadata: { name: 'a' }, spec: { size: 4, half: 2 } })).spec.size).toBe(4);
    await expect(api.create({ metadata: { name: 'b' }, spec: { size: 5, half: 2 } })).rejects.toThrow('failed rule');
  });

  test('rejects CEL rules in defineKind that do not compile', () => {
    const define = () =>
      defineKind({
        apiVersion: 'example.com/v1',
        kind: 'Bad',
        scope: 'Cluster',
        body: { spec: z.object({ a: z.string() }) },
        rules: [{ rule: 'self.spec.b > 1' }],
      });
    expect(define).toThrow("undefined field 'b'");
  });

  test('requires defineKind of the main entry point for CEL rules', () => {
    const define = () =>
      defineInCore({
        apiVersion: 'example.com/v1',
        kind: 'Bare',
        scope: 'Cluster',
        body: { spec: z.object({ a: z.string() }) },
        rules: [{ rule: 'true' }],
      });
    expect(define).toThrow("import defineKind from 'orchplane'");
  });
});

describe('the scale subresource of a user-defined kind', () => {
  test('reads and changes the replicas through the scale subresource', async () => {
    const api = createCluster({ kinds: [Widget] }).api(Widget);
    await api.create({ metadata: { name: 'a' }, spec: { replicas: 1 } });
    await api.status.edit('a', (draft) => {
      draft.status = { replicas: 1, selector: 'app=a' };
    });
    const at = api.subresource('scale');
    const seen = await at.get('a');
    expect([seen.kind, seen.spec, seen.status]).toEqual(['Scale', { replicas: 1 }, { replicas: 1, selector: 'app=a' }]);
    await at.patch('a', mergePatch({ spec: { replicas: 4 } }));
    expect((await api.get('a')).spec.replicas).toBe(4);
  });

  test('allows the scale subresource of a user-defined kind to use other field paths', async () => {
    const Ring = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Ring',
      scope: 'Cluster',
      body: {
        spec: z.object({ nodes: z.object({ count: z.number().int() }) }),
        status: z.object({ count: z.number().int() }).optional(),
      },
      subresources: {
        status,
        scale: scaleAt({ specReplicasPath: '.spec.nodes.count', statusReplicasPath: '.status.count' }),
      },
    });
    const api = createCluster({ kinds: [Ring] }).api(Ring);
    await api.create({ metadata: { name: 'r' }, spec: { nodes: { count: 2 } } });
    await api.subresource('scale').patch('r', mergePatch({ spec: { replicas: 3 } }));
    expect((await api.get('r')).spec.nodes.count).toBe(3);
  });
});
