/**
 * Conversions between versions, compared with recordings of the reference server: the stored object, the object in
 * every version, and validation errors.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import { builtInKinds } from '../../../../src/kinds/index.js';
import type { HookContext } from '../../../../src/kinds/kind.js';
import { removedKinds } from '../../../../src/kinds/releases/index.js';
import { type ServedKind, serveKind } from '../../../../src/kinds/served-kind.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../../src/meta/object.js';
import { decode } from '../../../../src/schema/decode.js';
import { seal } from '../../../../src/server/steps/seal.js';
import { toServed, toStored } from '../../../../src/server/versions.js';

interface Case {
  readonly name: string;
  readonly in: ApiObject;
  readonly stored: ApiObject;
  /** The versions that differ only in their apiVersion. */
  readonly same?: readonly string[];
  /** The other versions by apiVersion. */
  readonly to: Readonly<Record<string, ApiObject>>;
  /** Absent for random objects, which have too many errors. */
  readonly problems?: readonly string[];
}

const cases = readFileSync(new URL('conversions.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);

const kinds = new Map(
  [...builtInKinds, ...removedKinds].map((kind) => {
    const served = serveKind(kind, kubernetesDialect);
    return [`${served.apiVersion} ${kind.kind}`, served] as const;
  }),
);

function servedAs(apiVersion: string, kind: string): ServedKind {
  const served = kinds.get(`${apiVersion} ${kind}`);
  if (served === undefined) throw new Error(`no ${kind} in ${apiVersion}`);
  return served;
}

const context: HookContext = {
  dialect: kubernetesDialect,
  now: '2022-01-02T03:04:05Z',
  features: featureGates({ HPAConfigurableTolerance: true, PreferSameTrafficDistribution: true }),
};

function received({ in: sent }: Case): { readonly served: ServedKind; readonly object: ApiObject } {
  const served = servedAs(sent.apiVersion, sent.kind);
  const draft = decode(served.schema, { value: sent }).value as unknown as DraftObject;
  served.kind.strategy.decode.defaults?.(draft, context);
  return { served, object: seal(served.schema, draft, undefined) };
}

/** As text, because the order of fields matters. */
function print(object: ApiObject): string {
  return JSON.stringify(object, null, 1);
}

describe.each(cases.map((one) => [one.name, one] as const))('the conversion of %s', (_name, one) => {
  const { served, object } = received(one);
  const stored = toStored(served, object);

  test('produces the stored object of the reference server', () => {
    expect(print(stored)).toBe(print(one.stored));
  });

  test.each([...Object.keys(one.to), ...(one.same ?? [])])(
    'produces the object of the reference server in %s',
    (apiVersion) => {
      const expected = one.to[apiVersion] ?? { ...one.stored, apiVersion };
      expect(print(toServed(servedAs(apiVersion, object.kind), stored))).toBe(print(expected));
    },
  );

  const { problems } = one;
  if (problems === undefined) return;
  test('produces the validation errors of the reference server', () => {
    const found = served.kind.strategy.create.validate?.(object, context) ?? [];
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(problems);
  });
});
