/** Kinds with keywords of a CRD schema: in a cluster, and as a CRD. */
import { createCluster, defineKind, StatusError, toCRD, withKeywords } from 'orchplane';
import { defineKind as defineCoreKind } from 'orchplane/core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { crdDifferences } from '../../../src/crd/compare.js';
import { kubernetesDialect as dialect } from '../../../src/meta/dialect.js';

const body = {
  spec: withKeywords(
    z.object({
      host: withKeywords(z.string(), { format: 'hostname', pattern: '^[[:lower:].]+$' }).optional(),
      ports: z.array(withKeywords(z.int(), { 'x-kubernetes-validations': [{ rule: 'self != 22' }] })).optional(),
    }),
    {
      minProperties: 1,
      'x-orch-validations': [{ rule: '!has(self.host) || self.host != "aa.bb"', message: 'not aa.bb' }],
    },
  ),
};

const Site = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  scope: 'Cluster',
  body,
  crd: { labels: { of: 'us' }, version: { deprecated: true }, schema: { description: 'A site.' } },
});

async function causes(spec: z.input<typeof body.spec>): Promise<string[]> {
  await using cluster = createCluster({ kinds: [Site] });
  try {
    await cluster.api(Site).create({ metadata: { name: 'a' }, spec });
    return [];
  } catch (error) {
    if (!StatusError.is(error, 'Invalid')) throw error;
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
  }
}

describe('a kind with keywords', () => {
  test('validates objects with the keywords of the whole schema', async () => {
    expect(await causes({ host: 'web.example', ports: [80] })).toEqual([]);
    expect(await causes({})).toEqual(['spec: Invalid value: 0: spec in body should have at least 1 properties']);
    expect(await causes({ host: 'Web' })).toEqual([
      'spec.host: Invalid value: "Web": spec.host in body should match \'^[[:lower:].]+$\'',
    ]);
  });

  test('evaluates rules of fields and items, in any dialect', async () => {
    expect(await causes({ host: 'aa.bb' })).toEqual(['spec: Invalid value: "object": not aa.bb']);
    expect(await causes({ ports: [80, 22] })).toEqual([
      'spec.ports[1]: Invalid value: "integer": failed rule: self != 22',
    ]);
  });

  test('becomes a CRD with the keywords in the requested dialect', () => {
    const [version] = toCRD(Site).spec.versions;
    expect(toCRD(Site).metadata.labels).toEqual({ of: 'us' });
    expect(version).toMatchObject({ deprecated: true, schema: { openAPIV3Schema: { description: 'A site.' } } });
    const { properties } = version?.schema?.openAPIV3Schema ?? {};
    expect(properties?.['spec']).toMatchObject({
      minProperties: 1,
      'x-kubernetes-validations': [{ message: 'not aa.bb' }],
      properties: { host: { format: 'hostname' } },
    });
    const inOrch = toCRD(Site, { dialect: 'orch' }).spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec'];
    expect(inOrch?.properties?.['ports']?.items).toMatchObject({ 'x-orch-validations': [{ rule: 'self != 22' }] });
  });

  test('keeps keywords of inner schemas and replaces them one by one', () => {
    const inner = withKeywords(z.string().min(2), { format: 'uri', minLength: null });
    const Page = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Page',
      scope: 'Cluster',
      body: { url: withKeywords(inner.describe('where').optional(), { maxLength: 9 }) },
    });
    const { properties } = toCRD(Page).spec.versions[0]?.schema?.openAPIV3Schema ?? {};
    expect(properties).toEqual({ url: { description: 'where', type: 'string', format: 'uri', maxLength: 9 } });
  });

  test('needs the expression engine', () => {
    const define = () => defineCoreKind({ apiVersion: 'example.com/v1', kind: 'Site', scope: 'Cluster', body });
    expect(define).toThrow(/rules and keywords need the expression engine/);
  });
});

describe('toCRD with several kinds', () => {
  const version = (name: string, scope: 'Cluster' | 'Namespaced' = 'Cluster') =>
    defineKind({ apiVersion: `example.com/${name}`, kind: 'Site', scope, body: {} });

  test('returns a CRD with their versions, the first of which is stored', () => {
    const { versions } = toCRD([version('v2'), version('v1')]).spec;
    expect(versions.map(({ name, storage }) => [name, storage])).toEqual([
      ['v2', true],
      ['v1', false],
    ]);
  });

  test('rejects kinds that are no versions of each other', () => {
    expect(() => toCRD([version('v2'), version('v1', 'Namespaced')])).toThrow(/is not a version of Site/);
  });
});

describe('crdDifferences', () => {
  const crd = toCRD(Site);

  test('ignores defaults, documentation and the order of sets', () => {
    const { spec } = structuredClone(crd);
    const other = {
      ...crd,
      spec: { ...spec, names: { kind: 'Site', plural: 'sites' }, conversion: { strategy: 'None' as const } },
    };
    expect(crdDifferences(crd, other, { dialect })).toEqual([]);
    const [first] = other.spec.versions;
    if (first?.schema?.openAPIV3Schema === undefined) throw new Error('the CRD has a schema');
    first.schema.openAPIV3Schema.description = 'Another text.';
    expect(crdDifferences(crd, other, { dialect })).toEqual([]);
    expect(crdDifferences(crd, other, { dialect, withDocumentation: true })).toHaveLength(1);
  });

  test('reports a value that only one of them has', () => {
    const other = structuredClone(crd);
    other.spec.names.shortNames = ['s'];
    expect(crdDifferences(crd, other, { dialect })).toEqual([
      { path: 'spec.names.shortNames', left: undefined, right: ['s'] },
    ]);
  });
});
