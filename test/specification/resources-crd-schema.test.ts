/** docs/specification.md, R24.21 on: the schemas of a CustomResourceDefinition. */
import { describe, expect, test } from 'vitest';
import { definition, THINGS, things, version, withSchema } from './custom-resources.js';
import { fieldsOf, type Json, openService } from './service.js';

/** Whether an object with the value is accepted under the schema. */
async function accepts(schema: Json, value: Json): Promise<boolean> {
  const { post } = await things(openService(), withSchema(schema));
  return (await post({ value })).code === 201;
}
const define = (schema: Json) => openService().create('CustomResourceDefinition', withSchema(schema));

describe('JSONSchemaProps', () => {
  test('R24.21: has the documented fields', async () => {
    const schemas = '[]JSONSchemaProps atomic';
    expect(await fieldsOf(openService(), 'CustomResourceDefinition', 'JSONSchemaProps')).toEqual({
      $ref: 'string',
      $schema: 'string',
      additionalItems: 'JSONSchemaPropsOrBool',
      additionalProperties: 'JSONSchemaPropsOrBool',
      allOf: schemas,
      anyOf: schemas,
      oneOf: schemas,
      default: 'JSON',
      definitions: 'map[JSONSchemaProps]',
      dependencies: 'map[JSONSchemaPropsOrStringArray]',
      description: 'string',
      enum: '[]JSON atomic',
      example: 'JSON',
      exclusiveMaximum: 'boolean',
      exclusiveMinimum: 'boolean',
      externalDocs: 'ExternalDocumentation',
      format: 'string',
      id: 'string',
      items: 'JSONSchemaPropsOrArray',
      maxItems: 'int64',
      maxLength: 'int64',
      maxProperties: 'int64',
      maximum: 'double',
      minItems: 'int64',
      minLength: 'int64',
      minProperties: 'int64',
      minimum: 'double',
      multipleOf: 'double',
      not: 'JSONSchemaProps',
      nullable: 'boolean',
      pattern: 'string',
      patternProperties: 'map[JSONSchemaProps]',
      properties: 'map[JSONSchemaProps]',
      required: '[]string atomic',
      title: 'string',
      type: 'string',
      uniqueItems: 'boolean',
      'x-orch-embedded-resource': 'boolean',
      'x-orch-int-or-string': 'boolean',
      'x-orch-list-map-keys': '[]string atomic',
      'x-orch-list-type': 'string',
      'x-orch-map-type': 'string',
      'x-orch-preserve-unknown-fields': 'boolean',
      'x-orch-validations': '[]ValidationRule map rule',
    });
  });

  test.each<[Json, Json, Json]>([
    [{ type: 'string', enum: ['a', 'b'] }, 'a', 'c'],
    [{ type: 'string', minLength: 2, maxLength: 3 }, 'ab', 'abcd'],
    [{ type: 'string', pattern: '^a+$' }, 'aa', 'ab'],
    [{ type: 'integer', minimum: 1, maximum: 2 }, 2, 3],
    [{ type: 'integer', minimum: 1, exclusiveMinimum: true }, 2, 1],
    [{ type: 'integer', maximum: 2, exclusiveMaximum: true }, 1, 2],
    [{ type: 'number', multipleOf: 0.5 }, 1.5, 1.2],
    [{ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 }, ['a'], []],
    [{ type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 }, { a: 'x' }, { a: 'x', b: 'y' }],
    [{ type: 'object', additionalProperties: { type: 'string' }, minProperties: 1 }, { a: 'x' }, {}],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { a: 'x' }, {}],
    [{ type: 'string', not: { enum: ['a'] } }, 'b', 'a'],
    [{ type: 'string', allOf: [{ minLength: 1 }, { maxLength: 2 }] }, 'a', 'abc'],
    [{ type: 'string', anyOf: [{ enum: ['a'] }, { enum: ['b'] }] }, 'b', 'c'],
    [{ type: 'string', oneOf: [{ minLength: 2 }, { maxLength: 3 }] }, 'a', 'ab'],
    [{ type: 'integer' }, 1, 'a'],
  ])('R24.22: the schema %j accepts %j and rejects %j', async (schema, good, bad) => {
    expect(await accepts(schema, good)).toBe(true);
    expect(await accepts(schema, bad)).toBe(false);
  });

  test('R24.23: a nullable value may be null, and defaults are applied', async () => {
    const { post } = await things(openService(), withSchema({ type: 'string', nullable: true }));
    expect((await post({ value: null })).body.value).toBeNull();
    const defaulted = await things(openService(), withSchema({ type: 'string', default: 'd' }));
    expect((await defaulted.post({})).body.value).toBe('d');
    const preserving = { ...withSchema({ type: 'string', default: 'd' }) };
    preserving.spec.preserveUnknownFields = true;
    const made = await openService().create('CustomResourceDefinition', preserving);
    expect(made.causes).toContain('spec.preserveUnknownFields: Invalid');
  });

  const CERTAIN = '12345678-1234';
  test.each<[string, string, string]>([
    ['bsonobjectid', '507f1f77bcf86cd799439011', 'x'],
    ['uri', 'https://example.com/a', 'no uri'],
    ['email', 'a@example.com', 'a'],
    ['hostname', 'example.com', 'a b'],
    ['ipv4', '192.0.2.1', '2001:db8::1'],
    ['ipv6', '2001:db8::1', '192.0.2.1'],
    ['cidr', '192.0.2.0/24', '192.0.2.0'],
    ['mac', '00:00:5e:00:53:01', '00:00'],
    ['uuid', `${CERTAIN}-1234-8234-123456789abc`, 'x'],
    ['uuid3', `${CERTAIN}-3234-8234-123456789abc`, `${CERTAIN}-4234-8234-123456789abc`],
    ['uuid4', `${CERTAIN}-4234-8234-123456789abc`, `${CERTAIN}-3234-8234-123456789abc`],
    ['uuid5', `${CERTAIN}-5234-8234-123456789abc`, `${CERTAIN}-4234-8234-123456789abc`],
    ['isbn', '0321751043', '0321751042'],
    ['isbn10', '0321751043', '9780321751041'],
    ['isbn13', '978-0321751041', '0321751043'],
    ['creditcard', '4012888888881881', '4012888888881882'],
    ['ssn', '111-11-1111', '111'],
    ['hexcolor', '#FFF', 'white'],
    ['rgbcolor', 'rgb(255,255,255)', 'white'],
    ['byte', 'YQ==', '*'],
    ['date', '2024-01-02', '02.01.2024'],
    ['duration', '22 ns', 'soon'],
    ['datetime', '2024-01-02T03:04:05Z', '2024'],
  ])('R24.24: the format %s accepts %s and rejects %s', async (format, good, bad) => {
    expect(await accepts({ type: 'string', format }, good)).toBe(true);
    expect(await accepts({ type: 'string', format }, bad)).toBe(false);
  });

  test('R24.24: any text is a password, and unknown formats are ignored', async () => {
    for (const format of ['password', 'unknown']) expect(await accepts({ type: 'string', format }, 'x')).toBe(true);
  });
});

describe('schema extensions', () => {
  test('R24.25: an embedded resource has a type and metadata', async () => {
    const embedded = { type: 'object', 'x-orch-embedded-resource': true, 'x-orch-preserve-unknown-fields': true };
    expect(await accepts(embedded, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, x: 1 })).toBe(true);
    expect(await accepts(embedded, { x: 1 })).toBe(false);
  });

  test('R24.26: int-or-string accepts both', async () => {
    for (const value of [1, 'a']) expect(await accepts({ 'x-orch-int-or-string': true }, value)).toBe(true);
    expect(await accepts({ 'x-orch-int-or-string': true }, true)).toBe(false);
  });

  const keyed = (change: Json = {}, key: Json = {}) => ({
    type: 'array',
    'x-orch-list-type': 'map',
    'x-orch-list-map-keys': ['name'],
    items: { type: 'object', required: ['name'], properties: { name: { type: 'string', ...key } } },
    ...change,
  });

  test('R24.27: map keys need the list type map, and are scalar and required or defaulted', async () => {
    expect((await define(keyed())).code).toBe(201);
    expect((await define(keyed({ 'x-orch-list-type': 'set' }))).code).toBe(422);
    expect((await define(keyed({ 'x-orch-list-type': undefined }))).code).toBe(422);
    expect((await define(keyed({ 'x-orch-list-map-keys': undefined }))).code).toBe(422);
    expect((await define(keyed({}, { type: 'object' }))).code).toBe(422);
    const properties = (name: Json) => ({ items: { type: 'object', properties: { name } } });
    expect((await define(keyed(properties({ type: 'string' })))).code).toBe(422);
    expect((await define(keyed(properties({ type: 'string', default: 'd' })))).code).toBe(201);
  });

  /** The value after two managers have applied theirs; undefined if they conflict. */
  async function applied(schema: Json, first: Json, second: Json): Promise<Json> {
    const service = openService();
    await things(service, withSchema(schema));
    const apply = (value: Json, manager: string) =>
      service.send(
        'PATCH',
        `${THINGS}/t?fieldManager=${manager}`,
        { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' }, value },
        { 'content-type': 'application/apply-patch+yaml' },
      );
    await apply(first, 'one');
    const { code, body } = await apply(second, 'two');
    return code === 200 ? body.value : undefined;
  }

  test('R24.28: lists are atomic by default, sets or maps', async () => {
    const list = { type: 'array', items: { type: 'string' } };
    expect(await applied(list, ['a'], ['b'])).toBeUndefined();
    expect(await applied({ ...list, 'x-orch-list-type': 'atomic' }, ['a'], ['b'])).toBeUndefined();
    expect(await applied({ ...list, 'x-orch-list-type': 'set' }, ['a'], ['b'])).toEqual(['a', 'b']);
    expect(await applied(keyed(), [{ name: 'a' }], [{ name: 'b' }])).toEqual([{ name: 'a' }, { name: 'b' }]);
    expect(await accepts({ ...list, 'x-orch-list-type': 'set' }, ['a', 'a'])).toBe(false);
    expect((await define({ ...list, 'x-orch-list-type': 'other' })).code).toBe(422);
  });

  test('R24.29: maps are granular by default or atomic, and only objects have a map type', async () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    expect(await applied(map, { a: '1' }, { b: '2' })).toEqual({ a: '1', b: '2' });
    expect(await applied({ ...map, 'x-orch-map-type': 'granular' }, { a: '1' }, { b: '2' })).toEqual({
      a: '1',
      b: '2',
    });
    expect(await applied({ ...map, 'x-orch-map-type': 'atomic' }, { a: '1' }, { b: '2' })).toBeUndefined();
    expect((await define({ type: 'string', 'x-orch-map-type': 'atomic' })).code).toBe(422);
  });

  test('R24.30: unknown fields are pruned unless they are preserved; the marker is never false', async () => {
    const valueUnder = async (schema: Json) => {
      const { post } = await things(openService(), withSchema(schema));
      return (await post({ value: { a: 1 } })).body.value;
    };
    expect(await valueUnder({ type: 'object' })).toEqual({});
    expect(await valueUnder({ type: 'object', 'x-orch-preserve-unknown-fields': true })).toEqual({ a: 1 });
    expect((await define({ type: 'object', 'x-orch-preserve-unknown-fields': false })).code).toBe(422);
  });

  test('R24.31: a validation has a required rule, in which self is the value', async () => {
    const rules = (...validations: Json[]) => ({ type: 'integer', 'x-orch-validations': validations });
    expect(await accepts(rules({ rule: 'self > 1' }, { rule: 'self < 5' }), 2)).toBe(true);
    expect(await accepts(rules({ rule: 'self > 1' }, { rule: 'self < 5' }), 5)).toBe(false);
    expect((await define(rules({}))).code).toBe(422);
    expect((await define(rules({ rule: 'self +' }))).code).toBe(422);
  });

  test('R24.32: properties with other characters are escaped in rules', async () => {
    const names = { a__b: 'a__underscores__b', 'a.b': 'a__dot__b', 'a-b': 'a__dash__b', 'a/b': 'a__slash__b' };
    for (const [name, escaped] of Object.entries({ ...names, namespace: '__namespace__' })) {
      const schema = {
        type: 'object',
        properties: { [name]: { type: 'string' } },
        'x-orch-validations': [{ rule: `self.${escaped} == "x"` }],
      };
      expect([name, await accepts(schema, { [name]: 'x' }), await accepts(schema, { [name]: 'y' })]).toEqual([
        name,
        true,
        false,
      ]);
    }
  });

  test('R24.33: a version needs a schema', async () => {
    const made = await openService().create(
      'CustomResourceDefinition',
      definition({ versions: [version({ schema: undefined })] }),
    );
    expect(made.causes).toEqual(['spec.versions[0].schema.openAPIV3Schema: Required']);
  });
});
