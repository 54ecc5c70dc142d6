/** Every built-in kind keeps the contract of kinds; a kind without a sample here fails. */
import { defineKind, status } from 'orchplane';
import { builtInKinds, ConfigMap, Lease, Namespace, Secret } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { describeKind, type KindSample } from './kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];

const samples: readonly KindSample[] = [
  {
    kind: ConfigMap,
    body: {},
    change: { data: { k: 'v' } },
    wireOrder: [...TYPE, 'immutable', 'data', 'binaryData'],
    vanishesAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
  {
    kind: Secret,
    body: {},
    change: { data: { k: 'dg==' } },
    wireOrder: [...TYPE, 'immutable', 'data', 'stringData', 'type'],
    vanishesAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
  {
    kind: Namespace,
    body: {},
    change: {},
    wireOrder: [...TYPE, 'spec', 'status'],
    vanishesAtOnce: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
  {
    kind: Lease,
    body: { spec: {} },
    change: { spec: { holderIdentity: 'me' } },
    wireOrder: [...TYPE, 'spec'],
    vanishesAtOnce: true,
    unconditionalUpdate: false,
    createOnUpdate: true,
  },
];

test('every built-in kind has a sample', () => {
  const sampled = new Set(samples.map(({ kind }) => kind));
  expect(builtInKinds.filter((kind) => !sampled.has(kind)).map(({ kind }) => kind)).toEqual([]);
});

test('no two built-in kinds share a name', () => {
  const names = builtInKinds.flatMap(({ group, version, kind, names: { plural, shortNames } }) =>
    [kind, plural, ...shortNames].map((name) => `${group}/${version}/${name}`),
  );
  expect(new Set(names).size).toBe(names.length);
});

for (const sample of samples) describeKind(sample);

describeKind({
  kind: defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    scope: 'Namespaced',
    body: { spec: z.object({ size: z.string().default('m') }), status: z.object({ ready: z.boolean() }).optional() },
    subresources: { status },
  }),
  body: { spec: {} },
  change: { spec: { size: 'l' } },
  wireOrder: ['apiVersion', 'kind', 'metadata', 'spec', 'status'],
  vanishesAtOnce: true,
  unconditionalUpdate: false,
  createOnUpdate: false,
});

describeKind({
  kind: defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Policy',
    scope: 'Cluster',
    body: { alpha: z.string().optional(), zeta: z.string().optional() },
  }),
  body: {},
  change: { alpha: 'a', zeta: 'z' },
  wireOrder: ['alpha', 'apiVersion', 'kind', 'metadata', 'zeta'],
  vanishesAtOnce: true,
  unconditionalUpdate: false,
  createOnUpdate: false,
});
