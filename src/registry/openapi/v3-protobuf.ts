/**
 * Encodes a version 3 document as a protobuf message. It covers the fields that `openApiV3` sets.
 */
import type { OpenApiDocument } from './document.js';
import { type JsonObject, listOf, MessageWriter, scalarFields } from './message-writer.js';

/** Encodes a document that `openApiV3` built. */
export function openApiV3Protobuf(document: OpenApiDocument): Uint8Array {
  const out = new MessageWriter();
  const { info, paths, components } = document as JsonObject;
  out.text(1, document['openapi']);
  out.message(2, info, (inner, value) => inner.fields(INFO, value));
  out.message(4, paths, (inner, value) => inner.entries(1, value, pathItem));
  out.message(5, components, (inner, { schemas, securitySchemes }) => {
    inner.message(1, schemas, (held, value) => held.entries(1, value, schemaOrReference));
    inner.message(7, securitySchemes, (held, value) => held.entries(1, value, securityScheme));
  });
  return out.finish();
}

const INFO = scalarFields('title=1 description=2 version=6');
const OPERATION = scalarFields('tags=1:texts summary=2 description=3 operationId=5');
const PARAMETER = scalarFields('name=1 in=2 description=3 required=4:flag');
const SCHEMA_START = scalarFields(
  'nullable=1:flag title=9 multipleOf=10:double maximum=11:double exclusiveMaximum=12:flag minimum=13:double ' +
    'exclusiveMinimum=14:flag maxLength=15:integer minLength=16:integer pattern=17 maxItems=18:integer ' +
    'minItems=19:integer uniqueItems=20:flag maxProperties=21:integer minProperties=22:integer required=23:texts',
);
const SECURITY = scalarFields('type=1 description=2 name=3 in=4');

/** The fields of a default by type. That of an object or a list is an empty message. */
const DEFAULTS: Readonly<Record<string, number>> = { number: 1, bigint: 1, boolean: 2, string: 3 };

const METHODS = { get: 4, put: 5, post: 6, delete: 7, options: 8, head: 9, patch: 10 } as const;

function pathItem(out: MessageWriter, value: JsonObject): void {
  out.text(3, value['description']);
  for (const [method, number] of Object.entries(METHODS)) out.message(number, value[method], operation);
  for (const item of listOf(value['parameters'])) out.message(13, item, parameter);
}

function operation(out: MessageWriter, value: JsonObject): void {
  out.fields(OPERATION, value);
  for (const item of listOf(value['parameters'])) out.message(6, item, parameter);
  out.message(7, value['requestBody'], requestBody);
  out.message(8, value['responses'], (inner, responses) => inner.entries(2, responses, response));
  out.extensions(13, value);
}

function parameter(out: MessageWriter, value: JsonObject): void {
  out.message(1, value, (inner) => {
    inner.fields(PARAMETER, value);
    inner.message(10, value['schema'], schemaOrReference);
  });
}

function requestBody(out: MessageWriter, value: JsonObject): void {
  out.message(1, value, (inner, { description, content, required }) => {
    inner.text(1, description);
    inner.message(2, content, mediaTypes);
    inner.flag(3, required);
  });
}

function response(out: MessageWriter, value: JsonObject): void {
  out.message(1, value, (inner, { description, content }) => {
    inner.text(1, description);
    inner.message(3, content, mediaTypes);
  });
}

function mediaTypes(out: MessageWriter, value: JsonObject): void {
  out.entries(1, value, (inner, { schema }) => inner.message(1, schema, schemaOrReference));
}

function schemaOrReference(out: MessageWriter, value: JsonObject): void {
  if (value['$ref'] === undefined) out.message(1, value, schemaMessage);
  else out.message(2, value, (inner) => inner.text(1, value['$ref']));
}

function schemaMessage(out: MessageWriter, value: JsonObject): void {
  const { items, properties, additionalProperties } = value;
  out.fields(SCHEMA_START, value);
  for (const one of listOf(value['enum'])) out.value(24, one);
  out.text(25, value['type']);
  for (const one of listOf(value['allOf'])) out.message(26, one, schemaOrReference);
  for (const one of listOf(value['oneOf'])) out.message(27, one, schemaOrReference);
  for (const one of listOf(value['anyOf'])) out.message(28, one, schemaOrReference);
  out.message(29, value['not'], schemaMessage);
  out.message(30, items, (inner) => inner.message(1, items, schemaOrReference));
  out.message(31, properties, (inner) => inner.entries(1, properties, schemaOrReference));
  out.message(32, additionalProperties, (inner) => {
    if (typeof additionalProperties === 'boolean') inner.choice(2, additionalProperties);
    else inner.message(1, additionalProperties, schemaOrReference);
  });
  const { default: initial } = value;
  const choice = DEFAULTS[typeof initial];
  out.message(33, initial, (inner) => {
    if (choice !== undefined) inner.choice(choice, initial);
  });
  out.text(34, value['description']);
  out.text(35, value['format']);
  out.extensions(36, value);
}

function securityScheme(out: MessageWriter, value: JsonObject): void {
  out.message(1, value, (inner) => inner.fields(SECURITY, value));
}
