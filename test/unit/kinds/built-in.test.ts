/// <reference types="vite/types/importMeta.d.ts" />
/** Runs the kind contract for every built-in kind; a kind without a sample fails. */
import { defineKind, status } from 'orchplane';
import { builtInKinds } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { describeKind, type KindSample } from './kind-contract.js';

const modules = import.meta.glob<{ readonly samples: readonly KindSample[] }>('./samples/*.ts', { eager: true });
const samples = Object.values(modules).flatMap((module) => module.samples);
// Virtual kinds have their own tests.
const stored = builtInKinds.filter(({ virtual }) => virtual === undefined);

test('has a sample for every built-in kind', () => {
  const sampled = new Set(samples.map(({ kind }) => kind));
  expect(stored.filter((kind) => !sampled.has(kind)).map(({ kind, version }) => `${kind} ${version}`)).toEqual([]);
});

test('has no two built-in kinds with the same name', () => {
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
  deletedAtOnce: true,
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
  deletedAtOnce: true,
  unconditionalUpdate: false,
  createOnUpdate: false,
});
