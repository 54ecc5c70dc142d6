/**
 * A kind and its CRD agree: what one cluster accepts as an object of the kind, another accepts as an object of the CRD,
 * with the same result.
 */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createCluster } from '../../../../src/cluster/full-cluster.js';
import type { SchemaLoss } from '../../../../src/crd/zod/context.js';
import { toCRD } from '../../../../src/crd/zod/to-crd.js';
import { defineKind } from '../../../../src/kinds/define-kind.js';
import { CustomResourceDefinition } from '../../../../src/kinds/index.js';
import { installYaml } from '../../../../src/manifests/install-yaml.js';
import type { DialectName } from '../../../../src/meta/dialect.js';
import { StatusError } from '../../../../src/meta/errors.js';
import fc from '../../../property/seeded.js';
import { bodies, weaker } from './to-crd-bodies.js';
import { valuesFor } from './to-crd-values.js';

const kindOf = (value: z.ZodType) =>
  defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    scope: 'Namespaced',
    body: { spec: z.object({ value }) },
  });

/** Two clusters, one with the kind and one with its CRD. */
async function pair(schema: z.ZodType, dialect: DialectName = 'kubernetes') {
  const kind = kindOf(schema);
  const own = createCluster({ dialect, kinds: [] });
  own.install(kind);
  const other = createCluster({ dialect, kinds: [CustomResourceDefinition] });
  const losses: SchemaLoss[] = [];
  const [defined] = await installYaml(
    other,
    JSON.stringify(toCRD(kind, { dialect, onLoss: (loss) => losses.push(loss) })),
  );
  if (defined === undefined) throw new Error('the definition serves no kind');
  const outcome = async (create: () => Promise<unknown>): Promise<unknown> => {
    try {
      return ((await create()) as { spec?: unknown }).spec;
    } catch (error) {
      if (!StatusError.is(error, 'Invalid')) throw error;
      return REJECTED;
    }
  };
  const input = (value: unknown) => ({ metadata: { name: 'w' }, spec: value === undefined ? {} : { value } });
  return {
    losses,
    byKind: (value: unknown) =>
      outcome(() =>
        own
          .with({ dryRun: true })
          .api(kind)
          .create(input(value) as never),
      ),
    byDefinition: (value: unknown) => outcome(() => other.with({ dryRun: true }).api(defined).create(input(value))),
  };
}

const REJECTED = 'refused';
const RUNS = { numRuns: Number(process.env['RUNS'] ?? 60) };

/**
 * One cluster drops a null in place of another value and the other does not; both must accept values that zod
 * accepts.
 */
const hasNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(hasNull));

/** The schema validator does not check the type of a list in place of a string with a format. */
const isListForText = (schema: z.ZodType, value: unknown) => Array.isArray(value) && 'format' in schema._zod.def;

describe('a CRD with all rules of its kind', () => {
  test.each(Object.keys(bodies))('accepts the same values as the kind: %s', async (name) => {
    const schema = bodies[name] as z.ZodType;
    const { losses, byKind, byDefinition } = await pair(schema);
    // In a union, a kind keeps all fields and a CRD only the specified ones.
    const isWhole = schema.type === 'union' || schema.type === 'intersection';
    const seen = (outcome: unknown) => (isWhole ? outcome === REJECTED : outcome);
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(valuesFor(schema), async (value) => {
        if (isListForText(schema, value)) return;
        const got = await byDefinition(value);
        if (got !== REJECTED) accepted++;
        if (!hasNull(value)) expect([value, seen(got)]).toEqual([value, seen(await byKind(value))]);
        else if (schema.safeParse(value).success) expect([value, got]).toEqual([value, { value }]);
      }),
      RUNS,
    );
    expect(losses.filter(({ what }) => !what.includes('rejection of unknown fields'))).toEqual([]);
    expect(accepted).toBeGreaterThan(0);
  });
});

describe('a CRD with fewer rules than its kind', () => {
  test.each(Object.keys(weaker))('accepts the values of the kind and reports its losses: %s', async (name) => {
    const schema = weaker[name] as z.ZodType;
    const { losses, byKind, byDefinition } = await pair(schema);
    await fc.assert(
      fc.asyncProperty(valuesFor(schema), async (value) => {
        if (hasNull(value) || (await byKind(value)) === REJECTED) return;
        expect([value, await byDefinition(value)]).toEqual([value, expect.anything()]);
        expect([value, await byDefinition(value)]).not.toEqual([value, REJECTED]);
      }),
      RUNS,
    );
    expect(losses.length).toBeGreaterThan(0);
    expect(losses).toEqual(losses.map(({ path, what }) => ({ path, what, effect: 'weaker' })));
    for (const { path } of losses) expect(path).toMatch(/^spec\.value/);
  });
});

test('gives a CRD the same meaning in both dialects', async () => {
  const schema = z.union([z.int().min(1), z.literal('auto')]);
  const { byDefinition } = await pair(schema, 'orch');
  expect(await byDefinition('auto')).toEqual({ value: 'auto' });
  expect(await byDefinition(3)).toEqual({ value: 3 });
  expect([await byDefinition('other'), await byDefinition(0), await byDefinition(1.5)]).toEqual(
    Array.from({ length: 3 }, () => REJECTED),
  );
});
