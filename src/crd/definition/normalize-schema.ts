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
import { isRecord, setOwn } from '../../util/json.js';

/** The path of a schema for error messages, and the dialect of its extensions. */
interface Place {
  readonly path: string;
  readonly dialect: Dialect;
}

/** Normalizes a schema in place. Throws a 400 error if a nested schema cannot be decoded. */
export function settleSchema(schema: MutableRecord, dialect: Dialect): void {
  settle(schema, { path: 'spec.versions.schema.openAPIV3Schema', dialect });
}

function settle(schema: MutableRecord, place: Place): void {
  for (const key of ['default', 'example'] as const) {
    if (schema[key] !== undefined) schema[key] = inOrder(schema[key]);
  }
  if (Array.isArray(schema['enum'])) schema['enum'] = schema['enum'].map(inOrder);
  settleEither(schema, 'items', place);
  for (const key of ['allOf', 'oneOf', 'anyOf']) settleEach(schema[key], below(place, key));
  settleEach([schema['not']], below(place, 'not'));
  settleEach(schema['properties'], below(place, 'properties'));
  settleEither(schema, 'additionalProperties', place);
  settleEach(schema['patternProperties'], below(place, 'patternProperties'));
  const dependencies = schema['dependencies'];
  for (const name of isRecord(dependencies) ? Object.keys(dependencies) : []) {
    settleEither(dependencies as MutableRecord, name, below(place, 'dependencies'));
  }
  settleEither(schema, 'additionalItems', place);
  settleEach(schema['definitions'], below(place, 'definitions'));
}

function below({ path, dialect }: Place, name: string): Place {
  return { path: `${path}.${name}`, dialect };
}

/** Normalizes schemas that the decoder has already decoded, in a list or by name. */
function settleEach(schemas: unknown, place: Place): void {
  for (const schema of isRecord(schemas) ? Object.values(schemas) : Array.isArray(schemas) ? schemas : []) {
    if (isRecord(schema)) settle(schema as MutableRecord, place);
  }
}

const WITH_BOOLEAN: ReadonlySet<string> = new Set(['additionalProperties', 'additionalItems']);

/** Normalizes a value that is a schema or something else: a boolean, a list of schemas, a list of names. */
function settleEither(holder: MutableRecord, key: string, place: Place): void {
  const value = holder[key];
  if (value === undefined) return;
  const here = below(place, key);
  if (isRecord(value)) setOwn(holder, key, nested(value, here));
  else if (WITH_BOOLEAN.has(key)) {
    if (typeof value !== 'boolean') throw undecodable('boolean or JSON schema expected');
  } else if (!Array.isArray(value) || value.length === 0) delete holder[key];
  else if (key === 'items') holder[key] = value.map((item: unknown) => nested(item ?? {}, here));
  else {
    const bad = value.find((item) => typeof item !== 'string');
    if (bad === undefined) return;
    // The names of dependencies are keys and not part of the path.
    const at = `JSONSchemaProps.${place.path}`;
    throw undecodable(`json: cannot unmarshal ${jsonType(bad)} into Go struct field ${at} of type string`);
  }
}

function nested(value: unknown, place: Place): MutableRecord {
  try {
    const schema = decode(jsonSchemaNode(place.dialect), { value }).value;
    settle(schema, place);
    return schema;
  } catch (error) {
    if (error instanceof DecodeError) throw undecodable(atPlace(error.message, place.path));
    throw error;
  }
}

/** Adds the path to a message of the nested decoder, which does not know where the schema is. */
function atPlace(message: string, path: string): string {
  const parts = /^json: cannot unmarshal (.+) into Go (?:struct field \S+|value) of type (\S+)$/.exec(message);
  if (parts === null) return message;
  return `json: cannot unmarshal ${parts[1]} into Go struct field JSONSchemaProps.${path} of type ${parts[2]}`;
}

function undecodable(why: string) {
  const kind = 'CustomResourceDefinition';
  return errors.badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${why}`);
}

/** Sorts the keys of all objects in a JSON value, as the reference server writes them. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  const sorted: MutableRecord = {};
  for (const key of Object.keys(value).sort()) setOwn(sorted, key, inOrder(value[key]));
  return sorted;
}
