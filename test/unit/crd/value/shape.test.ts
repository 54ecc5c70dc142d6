/**
 * Pruning, nulls, defaulting, embedded metadata and list types. Most cases are random and contain the reference
 * server's result.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { defaultErrors } from '../../../../src/crd/definition/validate-schema.js';
import { scaleSpecErrors, scaleStatusErrors } from '../../../../src/crd/scale.js';
import { structuralSchemaOf } from '../../../../src/crd/structural-schema.js';
import { applyDefaults, dropNulls, withDefaults } from '../../../../src/crd/value/defaults.js';
import { coerceEmbeddedResources, embeddedResourceErrors } from '../../../../src/crd/value/embedded-resources.js';
import { listTypeErrors } from '../../../../src/crd/value/list-types.js';
import { hasUnknown, pruneUnknown } from '../../../../src/crd/value/prune.js';
import { inWireOrder } from '../../../../src/crd/value/wire-order.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { type FieldError, printFieldError } from '../../../../src/meta/field-error.js';
import type { JSONSchemaProps } from '../../../../src/schema/json-schema.js';
import { copyJson, deepEqual, deepFreeze } from '../../../../src/util/json.js';

interface Case {
  readonly schema: JSONSchemaProps;
  readonly value: unknown;
  readonly isResource?: boolean;
  readonly dropMalformed?: boolean;
  readonly want: unknown;
}
type Operation = 'prune' | 'nulls' | 'defaults' | 'lists' | 'embedded' | 'coerce' | 'validateDefaults';

const cases: Readonly<Record<Operation, readonly Case[]>> = JSON.parse(
  readFileSync(new URL('./cases/shape.json', import.meta.url), 'utf8'),
);

const view = (schema: JSONSchemaProps) => structuralSchemaOf(deepFreeze(copyJson(schema)), kubernetesDialect);
const sortedErrors = (errors: readonly FieldError[]) =>
  errors
    .map(({ type, field, message }) => [type, field, message])
    .sort((left, right) => (String(left) < String(right) ? -1 : 1));

/** The result of this library for a case, in the format of the fixture. */
const COMPUTE: Readonly<Record<Operation, (one: Case) => unknown>> = {
  prune({ schema, value: given, isResource = false }) {
    const value = copyJson(given);
    const finds = hasUnknown(view(schema), deepFreeze(copyJson(given)), { isResource });
    const paths = pruneUnknown(view(schema), value, { isResource });
    expect(finds).toBe(!deepEqual(value, given));
    return { paths: paths.length === 0 ? null : paths, value };
  },
  nulls({ schema, value: given }) {
    const value = copyJson(given);
    dropNulls(view(schema), value);
    return value;
  },
  defaults: ({ schema, value }) => withDefaults(view(schema), deepFreeze(copyJson(value))),
  lists: ({ schema, value }) => sortedErrors(listTypeErrors(view(schema), value)),
  embedded: ({ schema, value, isResource = false }) =>
    sortedErrors(embeddedResourceErrors(view(schema), value, { isResource })),
  coerce({ schema, value: given, isResource = false, dropMalformed = false }) {
    const value = copyJson(given);
    const { unknown, error } = coerceEmbeddedResources(view(schema), value, { isResource, dropMalformed });
    if (error !== undefined) return { error: sortedErrors([error]) };
    return { paths: unknown.length === 0 ? null : unknown, value };
  },
  validateDefaults: ({ schema }) => sortedErrors(defaultErrors(view(schema), 'x', () => [])),
};

describe('shape operations', () => {
  test.each(Object.keys(COMPUTE) as Operation[])('returns the results of the reference server for %s', (operation) => {
    expect(cases[operation].length).toBeGreaterThan(30);
    for (const one of cases[operation]) {
      const want = Array.isArray(one.want)
        ? [...one.want].sort((left, right) => (String(left) < String(right) ? -1 : 1))
        : one.want;
      expect(COMPUTE[operation](one), JSON.stringify(one.schema)).toEqual(want);
    }
  });
});

describe('defaulting of a frozen value', () => {
  const schema = view({
    type: 'object',
    properties: {
      a: { type: 'object', properties: { b: { type: 'string', default: 'x' }, c: { type: 'string' } } },
      d: {
        type: 'object',
        default: {},
        properties: { e: { type: 'array', default: [{}], items: { type: 'object' } } },
      },
    },
  });

  test('returns a frozen value itself if no default is missing', () => {
    const whole = deepFreeze({ a: { b: 'y' }, d: { e: [] } });
    expect(withDefaults(schema, whole)).toBe(whole);
  });

  test('copies only the path to the added field', () => {
    const object = deepFreeze({ a: { c: '1' }, d: { e: [{ x: 1 }] }, z: {} });
    const filled = withDefaults(schema, object);
    expect(JSON.stringify(filled)).toBe('{"a":{"b":"x","c":"1"},"d":{"e":[{"x":1}]},"z":{}}');
    expect(filled.d).toBe(object.d);
    expect(filled.z).toBe(object.z);
  });

  test('copies the default', () => {
    const first = withDefaults(schema, {} as { d?: { e: unknown[] } });
    first.d?.e.push(1);
    expect(withDefaults(schema, {} as { d?: unknown }).d).toEqual({ e: [{}] });
  });
});

describe('defaulting of a draft', () => {
  test.each(cases.defaults.map((one) => [JSON.stringify(one.schema), one] as const))(
    'returns the result of the reference server for %s',
    (_schema, { schema, value, want }) => {
      const draft = copyJson(value);
      applyDefaults(view(schema), draft);
      expect(draft).toEqual(want);
    },
  );

  test('changes the draft in place and copies nothing', () => {
    const schema = view({
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } },
        map: { type: 'object', additionalProperties: { type: 'string', default: 'y' } },
      },
    });
    const draft = { list: [{}], map: { k: null } };
    const { list, map } = draft;
    const [item] = list;
    applyDefaults(schema, draft);
    expect(draft).toEqual({ list: [{ a: 'x' }], map: { k: 'y' } });
    expect(draft.list).toBe(list);
    expect(draft.list[0]).toBe(item);
    expect(draft.map).toBe(map);
  });
});

describe('unique lists', () => {
  const schema = view({
    type: 'object',
    properties: {
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      map: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
        items: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } } },
      },
    },
  });
  const errors = (value: unknown, old?: unknown) => listTypeErrors(schema, value, old).map(printFieldError);

  test('reports the second occurrence of an item in a unique list', () => {
    expect(errors({ set: ['x', 'y', 'x', 'x'] })).toEqual(['set[2]: Duplicate value: "x"']);
    expect(errors({ map: [{ a: 'x', b: 1 }, { a: 'x' }, { a: 'x', b: 1, c: 2 }] })).toEqual([
      'map[2]: Duplicate value: map[string]interface {}{"a":"x", "b":1}',
    ]);
    expect(errors({ map: ['x'] })).toEqual([
      'map[0]: Invalid value: "x": must be an object for an array of list-type map',
    ]);
  });

  test('does not report duplicates that the old object has too', () => {
    expect(errors({ set: ['x', 'x'] }, { set: ['y', 'y'] })).toEqual([]);
    expect(errors({ set: ['x', 'x'] }, { set: ['y'] })).toEqual(['set[1]: Duplicate value: "x"']);
  });
});

describe('the scale paths', () => {
  const paths = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  };
  const spec = (object: unknown) => scaleSpecErrors(paths, object).map(printFieldError);
  const status = (object: unknown) => scaleStatusErrors(paths, object).map(printFieldError);

  test('requires valid replicas at the scale paths', () => {
    expect(spec({})).toEqual([]);
    expect(spec({ spec: { replicas: 2 } })).toEqual([]);
    expect(spec({ spec: { replicas: -1 } })).toEqual([
      '.spec.replicas: Invalid value: -1: should be a non-negative integer',
    ]);
    expect(spec({ spec: { replicas: 2147483648 } })).toEqual([
      '.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647',
    ]);
    expect(spec({ spec: { replicas: 'x' } })).toEqual([
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected int64',
    ]);
    expect(spec({ spec: 'x' })).toEqual([
      '.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected map[string]interface{}',
    ]);
  });

  test('requires a string at the selector path of the scale', () => {
    expect(status({ status: { replicas: 1, selector: 'a=b' } })).toEqual([]);
    expect(status({ status: { selector: { a: 'b' } } })).toEqual([
      '.status.selector: Invalid value: "": .status.selector accessor error: map[a:b] is of the type map[string]interface {}, expected string',
    ]);
  });
});

test('sorts keys at all levels and returns sorted values unchanged', () => {
  const sorted = { a: [{ b: 1, c: 2 }], d: { e: 1 } };
  expect(inWireOrder(sorted)).toBe(sorted);
  const mixed = { d: { z: 1, e: 1 }, a: [{ c: 2, b: 1 }] };
  expect(JSON.stringify(inWireOrder(mixed))).toBe('{"a":[{"b":1,"c":2}],"d":{"e":1,"z":1}}');
});
