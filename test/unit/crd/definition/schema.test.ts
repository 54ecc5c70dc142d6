/** Validation and normalization of the schemas in CustomResourceDefinitions. */
import type { DialectName } from 'orchplane';
import { StatusError } from 'orchplane';
import { CustomResourceDefinition } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../../kinds/rejections.js';

const ROOT = 'spec.validation.openAPIV3Schema';
const F = `${ROOT}.properties[spec].properties[f]`;

function create(openAPIV3Schema: object, more: { dialect?: DialectName; version?: object } = {}) {
  const cluster = testCluster(more.dialect === undefined ? {} : { dialect: more.dialect });
  cluster.install(CustomResourceDefinition);
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...more.version };
  const names = { plural: 'widgets', kind: 'Widget' };
  return cluster.api(CustomResourceDefinition).create({
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
  } as never);
}

/** A definition whose only field beside its metadata is `spec.f`. */
const inField = (f: object) => ({ type: 'object', properties: { spec: { type: 'object', properties: { f } } } });
const stored = async (f: object) =>
  (await create(inField(f))).spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['f'];

const text = { type: 'string' };
const object = (more: object = {}) => ({ type: 'object', ...more });
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more });
const keyed = (property: object, more: object = {}) =>
  list(object({ properties: { a: property }, ...more }), { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['a'] });

describe('the schema of a field', () => {
  test.each<[string, object, string[]]>([
    ['no type', {}, [`${F}.type: Required value: must not be empty for specified object fields`]],
    [
      'a bad type',
      { type: 'text' },
      [
        `${F}.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      ],
    ],
    [
      'null',
      { type: 'null' },
      [
        `${F}.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"`,
        `${F}.type: Forbidden: type cannot be set to null, use nullable as an alternative`,
      ],
    ],
    ['no items', { type: 'array' }, [`${F}.items: Required value: must be specified`]],
    [
      'items without a type',
      list({}),
      [`${F}.items.type: Required value: must not be empty for specified array items`],
    ],
    [
      'several items',
      { type: 'array', items: [text] },
      [`${F}.items: Forbidden: items must be a schema object and not an array`],
    ],
    [
      'unique items',
      list(text, { uniqueItems: true }),
      [`${F}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`],
    ],
    ...['id', '$ref'].map((name): [string, object, string[]] => [
      name,
      { ...text, [name]: 'x' },
      [`${F}.${name}: Forbidden: ${name} is not supported`],
    ]),
    ...['patternProperties', 'definitions', 'dependencies'].map((name): [string, object, string[]] => [
      name,
      object({ [name]: { a: text } }),
      [`${F}.${name}: Forbidden: ${name} is not supported`],
    ]),
    ...[0, 'x', null, [], ['x', null]].map((given): [string, object, string[]] => [
      `a dependency on ${JSON.stringify(given)}, beside a field without a type`,
      { dependencies: { a: given } },
      [`${F}.dependencies: Forbidden: dependencies is not supported`],
    ]),
    [
      'an invalid schema in a dependency',
      object({ dependencies: { a: { uniqueItems: true } } }),
      [
        `${F}.dependencies: Forbidden: dependencies is not supported`,
        `${F}.dependencies[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      ],
    ],
    [
      'an empty dependency list',
      object({ dependencies: {} }),
      [`${F}.dependencies: Forbidden: dependencies is not supported`],
    ],
    ['items that are no schema', { type: 'array', items: 0 }, [`${F}.items: Required value: must be specified`]],
    ...['required', 'x-orch-list-map-keys', 'x-orch-validations'].map((name): [string, object, string[]] => [
      `an integer or string with an empty list ${name}`,
      { 'x-orch-int-or-string': true, anyOf: [{ type: 'integer', [name]: [] }, { type: 'string' }] },
      [0, 1].map((index) => `${F}.anyOf[${index}].type: Forbidden: must be empty to be structural`),
    ]),
    [
      'items of a map list that are no schema',
      { type: 'array', items: 0, 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['a'] },
      [
        `${F}.items: Required value: must be specified`,
        `${F}.items: Invalid value: apiextensions.JSONSchemaPropsOrArray{Schema:(*apiextensions.JSONSchemaProps)(nil), JSONSchemas:[]apiextensions.JSONSchemaProps(nil)}: must only have a single schema if x-orch-list-type is map`,
      ],
    ],
    [
      'additional items',
      list(text, { additionalItems: true }),
      [`${F}.additionalItems: Forbidden: additionalItems is not supported`],
    ],
    [
      'additional properties of both types',
      { ...text, $schema: 'x' },
      [`${ROOT}: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
    ],
    [
      'properties and additional properties',
      object({ properties: { a: text }, additionalProperties: text }),
      [`${F}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`],
    ],
    [
      'a bad pattern',
      { ...text, pattern: '(' },
      [
        `${F}.pattern: Invalid value: "(": must be a valid regular expression, but isn't: error parsing regexp: missing closing ): \`(\``,
      ],
    ],
    [
      'types inside combinators',
      { ...text, anyOf: [text], not: { default: 'x', nullable: true, title: 't' } },
      [
        `${F}.anyOf[0].type: Forbidden: must be empty to be structural`,
        `${F}.not.default: Forbidden: must be undefined to be structural`,
        `${F}.not.nullable: Forbidden: must be false to be structural`,
        `${F}.not.title: Forbidden: must be empty to be structural`,
      ],
    ],
    [
      'metadata inside combinators',
      object({ allOf: [{ properties: { metadata: {} } }] }),
      [`${F}.allOf[0].properties[metadata]: Forbidden: must not be specified in a nested context`],
    ],
    [
      'an integer or string with other keywords',
      { 'x-orch-int-or-string': true, 'x-orch-preserve-unknown-fields': true },
      [`${F}.x-orch-preserve-unknown-fields: Invalid value: true: must be false if x-orch-int-or-string is true`],
    ],
    [
      'an incomplete embedded resource',
      { ...text, 'x-orch-embedded-resource': true },
      [
        `${F}.properties: Required value: must not be empty if x-orch-embedded-resource is true without x-orch-preserve-unknown-fields`,
        `${F}.type: Invalid value: "string": must be object if x-orch-embedded-resource is true`,
      ],
    ],
    [
      'unknown fields not preserved',
      { ...text, 'x-orch-preserve-unknown-fields': false },
      [`${F}.x-orch-preserve-unknown-fields: Invalid value: false: must be true or undefined`],
    ],
    [
      'a bad map type',
      { ...text, 'x-orch-map-type': 'fancy' },
      [
        `${F}.type: Invalid value: "string": must be object if x-orch-map-type is specified`,
        `${F}.x-orch-map-type: Unsupported value: "fancy": supported values: "atomic", "granular"`,
      ],
    ],
    [
      'a bad list type',
      list(text, { 'x-orch-list-type': 'bag' }),
      [`${F}.x-orch-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"`],
    ],
    [
      'a set of objects',
      list(object(), { 'x-orch-list-type': 'set' }),
      [`${F}.items.x-orch-map-type: Invalid value: "null": must be atomic as item of a list with x-orch-list-type=set`],
    ],
    [
      'a set without items',
      list({ ...text, nullable: true }, { 'x-orch-list-type': 'set' }),
      [`${F}.items.nullable: Forbidden: cannot be nullable when x-orch-list-type is set`],
    ],
    [
      'a map list without keys',
      list(object(), { 'x-orch-list-type': 'map' }),
      [`${F}.x-orch-list-map-keys: Required value: must not be empty if x-orch-list-type is map`],
    ],
    [
      'keys without a map list',
      list(text, { 'x-orch-list-map-keys': ['a'] }),
      [`${F}.x-orch-list-type: Required value: must be map if x-orch-list-map-keys is non-empty`],
    ],
    [
      'a map list of strings',
      list(text, { 'x-orch-list-type': 'map', 'x-orch-list-map-keys': ['a'] }),
      [`${F}.items.type: Invalid value: "string": must be object if parent array's x-orch-list-type is map`],
    ],
    [
      'keys that may be absent',
      keyed({ ...text, nullable: true }),
      [
        `${F}.items.properties[a].default: Required value: this property is in x-orch-list-map-keys, so it must have a default or be a required property`,
        `${F}.items.properties[a].nullable: Forbidden: this property is in x-orch-list-map-keys, so it cannot be nullable`,
      ],
    ],
    [
      'keys that are objects',
      keyed(object(), { required: ['a'] }),
      [
        `${F}.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array's x-orch-list-type is map`,
      ],
    ],
    [
      'bad rules',
      object({
        properties: { a: text },
        'x-orch-validations': [
          { rule: ' ' },
          { rule: 'true', message: ' ', messageExpression: ' ', reason: 'Odd', fieldPath: '.b' },
          { rule: 'a\nb' },
          { rule: 'true', message: 'a\nb', fieldPath: "['a']" },
          { rule: 'true', fieldPath: '.a\n' },
        ],
      }),
      [
        `${F}.x-orch-validations[0].rule: Required value: rule is not specified`,
        `${F}.x-orch-validations[1].message: Invalid value: " ": message must be non-empty if specified`,
        `${F}.x-orch-validations[1].messageExpression: Required value: messageExpression must be non-empty if specified`,
        `${F}.x-orch-validations[1].reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
        `${F}.x-orch-validations[1].fieldPath: Invalid value: ".b": fieldPath must be a valid path`,
        `${F}.x-orch-validations[2].message: Required value: message must be specified if rule contains line breaks`,
        `${F}.x-orch-validations[3].message: Invalid value: "a\\nb": message must not contain line breaks`,
        `${F}.x-orch-validations[4].fieldPath: Invalid value: ".a\\n": fieldPath must not contain line breaks`,
        `${F}.x-orch-validations[4].fieldPath: Invalid value: ".a\\n": fieldPath must be a valid path`,
      ],
    ],
    [
      'a path in a schema that cannot be converted',
      { type: 'object', properties: { a: { $ref: 'A' } }, 'x-orch-validations': [{ rule: ' ', fieldPath: '.b' }] },
      [
        `${F}.properties[a].$ref: Forbidden: $ref is not supported`,
        `${F}.x-orch-validations[0].rule: Required value: rule is not specified`,
      ],
    ],
  ])('rejects a field with %s', async (_, f, causes) => {
    expect(await rejectionCauses(create(inField(f)))).toEqual(causes);
  });
});

describe('a default in a schema', () => {
  const D = `${F}.default`;
  test.each<[string, object, string[]]>([
    [
      'is of another type',
      { ...text, default: 1 },
      [`${D}: Invalid value: "integer":  in body must be of type string: "integer"`],
    ],
    [
      'is not in the enum',
      { ...text, enum: ['x', 1], default: 'y' },
      [`${D}: Unsupported value: "y": supported values: "x", "1"`],
    ],
    [
      'has unknown fields',
      object({ properties: { b: { type: 'integer' } }, default: { c: 2, b: 1 } }),
      [`${D}: Invalid value: map[string]interface {}{"b":1, "c":2}: must not have unknown fields`],
    ],
    [
      'is incomplete',
      object({ properties: { b: { ...text, default: 'x' } }, required: ['b'], default: {} }),
      [`${D}.b: Required value`],
    ],
    [
      'is out of range',
      { type: 'number', minimum: 5.5, maximum: 4, multipleOf: 3, default: 5 },
      [
        `${D}: Invalid value: 5:  in body should be a multiple of 3`,
        `${D}: Invalid value: 5:  in body should be less than or equal to 4`,
      ],
    ],
    ['is too long', { ...text, maxLength: 1, default: 'abc' }, [`${D}: Too long: may not be more than 1 bytes`]],
    [
      'is too short',
      { ...text, minLength: 4, default: 'abc' },
      [`${D}: Invalid value: "abc":  in body should be at least 4 chars long`],
    ],
    [
      'does not match',
      { ...text, pattern: '^[0-9]+$', default: 'abc' },
      [`${D}: Invalid value: "abc":  in body should match '^[0-9]+$'`],
    ],
    [
      'has no such format',
      { ...text, format: 'ipv4', default: 'nope' },
      [`${D}: Invalid value: "nope":  in body must be of type ipv4: "nope"`],
    ],
    [
      'has invalid items',
      list({ type: 'integer', minimum: 3 }, { maxItems: 1, default: [1, 4] }),
      [
        `${D}.[0]: Invalid value: 1: [0] in body should be greater than or equal to 3`,
        `${D}: Too many: 2: must have at most 1 items`,
      ],
    ],
    [
      'has too few items',
      list(text, { minItems: 2, default: [] }),
      [`${D}: Invalid value: 0:  in body should have at least 2 items`],
    ],
    [
      'has invalid values',
      object({ additionalProperties: { type: 'integer' }, maxProperties: 2, default: { a: 'x' } }),
      [`${D}.a: Invalid value: "string": .a in body must be of type integer: "string"`],
    ],
    [
      'has too many fields',
      object({ additionalProperties: text, maxProperties: 1, default: { a: 'x', b: 'y' } }),
      [`${D}: Too many: 2: must have at most 1 items`],
    ],
    [
      'matches no alternative',
      {
        ...text,
        anyOf: [{ minLength: 5 }],
        oneOf: [{ minLength: 1 }, { minLength: 2 }],
        allOf: [{ maxLength: 1 }],
        not: { minLength: 2 },
        default: 'abc',
      },
      [
        `${D}: Invalid value: "": "" must validate at least one schema (anyOf)`,
        `${D}: Invalid value: "abc":  in body should be at least 5 chars long`,
        `${D}: Invalid value: "": "" must validate one and only one schema (oneOf). Found 2 valid alternatives`,
        `${D}: Too long: may not be more than 1 bytes`,
        `${D}: Invalid value: "": "" must validate all the schemas (allOf). None validated`,
        `${D}: Invalid value: "": "" must not validate the schema (not)`,
      ],
    ],
    [
      'is an incomplete embedded resource',
      object({
        'x-orch-embedded-resource': true,
        'x-orch-preserve-unknown-fields': true,
        default: { kind: 'a b', metadata: { labels: { 'a b': 'x' } } },
      }),
      [
        `${D}.apiVersion: Required value: must not be empty`,
        `${D}.kind: Invalid value: "a b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
        `${D}.metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ],
    ],
  ])('rejects a default that %s', async (_, f, causes) => {
    expect(await rejectionCauses(create(inField(f)))).toEqual(causes);
  });

  test('rejects a default in metadata', async () => {
    const metadata = object({ properties: { name: { ...text, default: 'x' } } });
    expect(await rejectionCauses(create(object({ properties: { metadata } })))).toEqual([
      `${ROOT}.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata`,
    ]);
  });
});

describe('the schema of the root', () => {
  test.each<[string, object, string[]]>([
    ['another type', text, [`${ROOT}.type: Invalid value: "string": must be object at the root`]],
    ['no type', {}, [`${ROOT}.type: Required value: must not be empty at the root`]],
    ['null', object({ nullable: true }), [`${ROOT}.nullable: Forbidden: nullable cannot be true at the root`]],
    [
      'any properties',
      object({ additionalProperties: text }),
      [`${ROOT}.additionalProperties: Forbidden: must not be used at the root`],
    ],
    [
      'metadata',
      object({ properties: { metadata: object({ required: ['name'] }) } }),
      [
        `${ROOT}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
      ],
    ],
    [
      'a kind that is not a string',
      object({ properties: { kind: { type: 'integer' } } }),
      [`${ROOT}.properties[kind].type: Invalid value: "integer": must be string`],
    ],
    [
      'combinators about unspecified properties',
      object({ anyOf: [{ properties: { a: { items: {} } } }] }),
      [`${ROOT}.properties[a]: Required value: because it is defined in ${ROOT}.anyOf[0].properties[a]`],
    ],
    [
      'a default that is not a resource',
      object({ default: {} }),
      ['apiVersion', 'kind'].map((field) => `${ROOT}.default.${field}: Required value: must not be empty`),
    ],
  ])('rejects a root with %s', async (_, root, causes) => {
    expect(await rejectionCauses(create(root))).toEqual(causes);
  });

  test('rejects keywords that are not allowed beside a status subresource', async () => {
    const version = { subresources: { status: {} } };
    const [cause] = await rejectionCauses(create(object({ minProperties: 1 }), { version }));
    expect(cause).toMatch(/^spec\.validation\.openAPIV3Schema: Invalid value: apiextensions\.JSONSchemaProps\{ID:"", /);
    expect(cause).toMatch(/MinProperties:\(\*int64\)\(0x[0-9a-f]+\), Required:\[\]string\(nil\)/);
    expect(cause).toMatch(
      /: only \[Description .* XValidations\] fields are allowed at the root of the schema if the status subresource is enabled$/,
    );
    const [empty] = await rejectionCauses(create(object({ allOf: [], items: 0, required: [] }), { version }));
    expect(empty).toMatch(
      /Required:\[\]string\{\}, Items:\(\*apiextensions\.JSONSchemaPropsOrArray\)\(0x[0-9a-f]+\), /,
    );
    expect(empty).toContain('AllOf:[]apiextensions.JSONSchemaProps{}, OneOf:[]apiextensions.JSONSchemaProps(nil), ');
    const [named] = await rejectionCauses(
      create(
        object({
          patternProperties: { x: text },
          dependencies: { a: [], b: 1, c: ['x', null], d: {} },
          'x-orch-validations': [{ rule: 'true' }],
        }),
        { version },
      ),
    );
    expect(named).toContain(
      'PatternProperties:map[string]apiextensions.JSONSchemaProps{"x":apiextensions.JSONSchemaProps{ID:"", ',
    );
    const parts = [
      ['a', 'nil', '[]string{}'],
      ['b', 'nil', '[]string(nil)'],
      ['c', 'nil', '[]string{"x", ""}'],
      ['d', '0xc000000000', '[]string(nil)'],
    ].map(
      ([name, inner, property]) =>
        `"${name}":apiextensions.JSONSchemaPropsOrStringArray{Schema:(*apiextensions.JSONSchemaProps)(${inner}), Property:${property}}`,
    );
    expect(named).toContain(`Dependencies:apiextensions.JSONSchemaDependencies{${parts.join(', ')}}, `);
    expect(named).toContain('XValidations:apiextensions.ValidationRules{apiextensions.ValidationRule{Rule:"true", ');
    const described = object({ description: 'd', 'x-orch-preserve-unknown-fields': true });
    expect((await create(described, { version })).kind).toBe('CustomResourceDefinition');
  });
});

describe('a stored schema', () => {
  test('stores values at positions that accept several types', async () => {
    expect(await stored(list(object({ additionalProperties: { ...text, minLength: 0 } })))).toEqual(
      list(object({ additionalProperties: { type: 'string', minLength: 0 } })),
    );
    expect(await stored(object({ additionalProperties: true }))).toEqual(object({ additionalProperties: true }));
    expect(await stored({ ...text, items: 0 })).toEqual(text);
    expect(await stored({ ...text, items: [], patternProperties: {}, definitions: {} })).toEqual(text);
  });

  test('stores a schema in wire order with sorted keys', async () => {
    const f = await stored({
      default: { b: 1, a: { d: 1, c: 2 } },
      'x-orch-preserve-unknown-fields': true,
      type: 'object',
    });
    expect(JSON.stringify(f)).toBe(
      '{"type":"object","default":{"a":{"c":2,"d":1},"b":1},"x-orch-preserve-unknown-fields":true}',
    );
  });

  test('stores extensions in the dialect of the cluster', async () => {
    const ours = { ...text, 'x-orch-map-type': 'atomic' };
    const both = { ...ours, 'x-kubernetes-list-type': 'set' };
    expect(await rejectionCauses(create(inField(ours)))).toEqual([
      `${F}.type: Invalid value: "string": must be object if x-orch-map-type is specified`,
    ]);
    expect(await rejectionCauses(create(inField(both), { dialect: 'kubernetes' }))).toEqual([
      `${F}.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified`,
    ]);
  });

  test('stores no fields that are named after a prototype', async () => {
    const named = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    );
    expect(JSON.stringify(await stored(named))).toBe(JSON.stringify(named));
  });

  test.each<[string, object, string]>([
    [
      'a number of the wrong type',
      { type: 'integer', minimum: 'x' },
      'json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.minimum of type float64',
    ],
    ['properties of the wrong type', object({ additionalProperties: 'x' }), 'boolean or JSON schema expected'],
    [
      'an item of the wrong type',
      list({ minimum: 'x' }),
      'json: cannot unmarshal string into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.items of type float64',
    ],
    [
      'the path ends at the outermost field of several types',
      list(list(object({ additionalProperties: { type: 0 } }))),
      'json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.items of type string',
    ],
    [
      'a dependency of the wrong type',
      object({ dependencies: { a: [1] } }),
      'json: cannot unmarshal number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.dependencies of type string',
    ],
    [
      'a field of several types is reported before a type error that comes first',
      { type: 0, items: { nullable: 0, additionalProperties: 1 } },
      'boolean or JSON schema expected',
    ],
    [
      'the first of several fields of several types is reported',
      { nullable: 1, additionalProperties: { maxItems: 1.5 }, items: { type: 0 } },
      'json: cannot unmarshal number 1.5 into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.properties.properties.additionalProperties of type int64',
    ],
  ])('rejects a schema that cannot be decoded: %s', async (_, f, why) => {
    const outcome: unknown = await create(inField(f)).catch((error: unknown) => error);
    expect(StatusError.is(outcome, 'BadRequest') && outcome.message).toBe(
      `CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: ${why}`,
    );
  });

  test('rejects a schema that cannot be decoded before an unknown field', async () => {
    const cluster = testCluster();
    cluster.install(CustomResourceDefinition);
    const versions = [{ schema: { openAPIV3Schema: { properties: { a: { items: { type: 0 } } } } }, extra: 1 }];
    const written = cluster
      .api(CustomResourceDefinition)
      .create({ metadata: { name: 'a' }, spec: { versions } } as never, { fieldValidation: 'Strict' });
    await expect(written).rejects.toThrow('cannot unmarshal number into Go struct field JSONSchemaProps.');
  });

  test('decodes a deeply nested schema with an error at every level in linear time', async () => {
    let f: object = { nullable: 0 };
    for (let level = 0; level < 200; level++) f = { nullable: 0, items: f };
    await expect(create(inField(f))).rejects.toThrow('properties.properties.items of type bool');
  });
});
