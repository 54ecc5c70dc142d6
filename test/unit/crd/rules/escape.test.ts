/** Escaping of field names in CEL expressions. */
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { declTypeOf, selfTypeOf } from '../../../../src/crd/rules/decl-type.js';
import { escapeName, unescapeName } from '../../../../src/crd/rules/escape.js';
import { structuralSchemaOf } from '../../../../src/crd/structural-schema.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { define, object, version, widget } from '../widgets.js';

describe('escapeName', () => {
  test.each([
    ['size', 'size'],
    ['my-name', 'my__dash__name'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['a_b', 'a_b'],
    ['___', '__underscores___'],
    ['namespace', '__namespace__'],
    ['namespaces', 'namespaces'],
    ['.', '__dot__'],
  ])('escapes %s as %s and unescapes it', (name, escaped) => {
    expect(escapeName(name)).toBe(escaped);
    expect(unescapeName(escaped)).toBe(name);
  });

  test.each(['', '9lives', 'ünï', 'a b', 'a$', '\n'])('rejects the name %j, which cannot be escaped', (name) => {
    expect(escapeName(name)).toBeUndefined();
  });

  test.each(['__nope__', 'a__if__', '__if__b'])('rejects %s, which is not an escaped name', (escaped) => {
    expect(unescapeName(escaped)).toBeUndefined();
  });
});

describe('a reserved word as a field name in a rule', () => {
  const text = { type: 'string', maxLength: 10 } as const;
  const properties = {
    namespace: text,
    if: text,
    package: { type: 'object', properties: { for: text } },
    as: { type: 'array', maxItems: 5, items: { type: 'object', properties: { var: text } } },
  } as const;

  // Recorded from a server of release 1.33.
  test.each([
    { rule: "self.namespace == 'a'", accepts: { namespace: 'a' }, refuses: { namespace: 'b' } },
    { rule: 'self.__namespace__ == self.namespace && has(self.if)', accepts: { namespace: 'a', if: 'x' }, refuses: {} },
    { rule: "self.?namespace.orValue('a') == 'a'", accepts: {}, refuses: { namespace: 'b' } },
    { rule: "self.package.for == 'y'", accepts: { package: { for: 'y' } }, refuses: { package: { for: 'x' } } },
  ])('is accepted in $rule', async ({ rule, accepts, refuses }) => {
    const spec = object(properties, { 'x-orch-validations': [{ rule }] });
    const widgets = await define(testCluster(), { versions: [version({ spec })] });
    await widgets.create(widget('a', accepts));
    await expect(widgets.create(widget('b', refuses))).rejects.toThrow(/failed rule|no such key/);
  });

  test('has no maximum size, so that a loop over it costs too much', async () => {
    const create = (rule: string) =>
      define(testCluster(), {
        versions: [version({ spec: object(properties, { 'x-orch-validations': [{ rule }] }) })],
      });
    await expect(create("self.as.all(x, x.var == 'a')")).rejects.toThrow('estimated rule cost exceeds budget');
    await expect(create("self.__as__.all(x, x.var == 'a')")).resolves.toBeDefined();
  });

  test('is unknown where no field has this name', async () => {
    const shape = declTypeOf(structuralSchemaOf({ type: 'object', properties: { a: text } }, kubernetesDialect), true);
    const { provider } = selfTypeOf(shape ?? raise());
    expect(provider.fieldType('selfType1', 'namespace')).toBeUndefined();
    expect(provider.fieldType('selfType1', 'a')).toBeDefined();
  });
});

function raise(): never {
  throw new Error('the schema has no type');
}
