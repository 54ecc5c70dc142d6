/**
 * Normalizes the schemas of a decoded CRD: decodes nested schemas at positions that also accept other types (a boolean,
 * a list), and sorts the keys of JSON values.
 */
import type { Dialect } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import { decode } from '../../schema/decode.js';
import { DecodeError, jsonType } from '../../schema/decode-scalar.js';
import { jsonSchemaNode } from '../../schema/json-schema.js';
import type { MutableRecord } from '../../util/json.js';
import { isRecord, setOwn, withSortedKeys } from '../../util/json.js';

/** The path of a schema for error messages, and the dialect of its extensions. */
interface SchemaPosition {
  readonly path: string;
  readonly dialect: Dialect;
}

/** Normalizes a schema in place. Throws a 400 error if a nested schema cannot be decoded. */
export function normalizeSchema(schema: MutableRecord, dialect: Dialect): void {
  normalizeNode(schema, { path: 'spec.versions.schema.openAPIV3Schema', dialect });
}

function normalizeNode(schema: MutableRecord, position: SchemaPosition): void {
  for (const key of ['default', 'example'] as const) {
    if (schema[key] !== undefined) schema[key] = withSortedKeys(schema[key]);
  }
  if (Array.isArray(schema['enum'])) schema['enum'] = schema['enum'].map(withSortedKeys);
  normalizeAlternatives(schema, 'items', position);
  for (const key of ['allOf', 'oneOf', 'anyOf']) normalizeEach(schema[key], below(position, key));
  normalizeEach([schema['not']], below(position, 'not'));
  normalizeEach(schema['properties'], below(position, 'properties'));
  normalizeAlternatives(schema, 'additionalProperties', position);
  normalizeEach(schema['patternProperties'], below(position, 'patternProperties'));
  const dependencies = schema['dependencies'];
  for (const name of isRecord(dependencies) ? Object.keys(dependencies) : []) {
    normalizeAlternatives(dependencies as MutableRecord, name, below(position, 'dependencies'));
  }
  normalizeAlternatives(schema, 'additionalItems', position);
  normalizeEach(schema['definitions'], below(position, 'definitions'));
}

function below({ path, dialect }: SchemaPosition, name: string): SchemaPosition {
  return { path: `${path}.${name}`, dialect };
}

/** Normalizes schemas that the decoder has already decoded, in a list or by name. */
function normalizeEach(schemas: unknown, position: SchemaPosition): void {
  for (const schema of isRecord(schemas) ? Object.values(schemas) : Array.isArray(schemas) ? schemas : []) {
    if (isRecord(schema)) normalizeNode(schema as MutableRecord, position);
  }
}

const WITH_BOOLEAN: ReadonlySet<string> = new Set(['additionalProperties', 'additionalItems']);

/** Normalizes a value that is a schema or something else: a boolean, a list of schemas, a list of names. */
function normalizeAlternatives(holder: MutableRecord, key: string, position: SchemaPosition): void {
  const value = holder[key];
  if (value === undefined) return;
  const here = below(position, key);
  if (isRecord(value)) setOwn(holder, key, decodeNestedSchema(value, here));
  else if (WITH_BOOLEAN.has(key)) {
    if (typeof value !== 'boolean') throw decodeFailure('boolean or JSON schema expected');
  } else if (!Array.isArray(value) || value.length === 0) delete holder[key];
  else if (key === 'items') holder[key] = value.map((item: unknown) => decodeNestedSchema(item ?? {}, here));
  else {
    const bad = value.find((item) => typeof item !== 'string');
    if (bad === undefined) return;
    // The names of dependencies are keys and not part of the path.
    const at = `JSONSchemaProps.${position.path}`;
    throw decodeFailure(`json: cannot unmarshal ${jsonType(bad)} into Go struct field ${at} of type string`);
  }
}

function decodeNestedSchema(value: unknown, position: SchemaPosition): MutableRecord {
  try {
    const schema = decode(jsonSchemaNode(position.dialect), { value }).value;
    normalizeNode(schema, position);
    return schema;
  } catch (error) {
    if (error instanceof DecodeError) throw decodeFailure(withPath(error.message, position.path));
    throw error;
  }
}

/** Adds the path to a message of the nested decoder, which does not know where the schema is. */
function withPath(message: string, path: string): string {
  const parts = /^json: cannot unmarshal (.+) into Go (?:struct field \S+|value) of type (\S+)$/.exec(message);
  if (parts === null) return message;
  return `json: cannot unmarshal ${parts[1]} into Go struct field JSONSchemaProps.${path} of type ${parts[2]}`;
}

function decodeFailure(why: string) {
  const kind = 'CustomResourceDefinition';
  return errors.badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);
}
