/**
 * Encodes the version 2 document as the protobuf message that kubectl requests. Fields that `openApiV2` never sets are not
 * implemented.
 */
import type { OpenApiDocument } from './document.js';
import { type JsonObject, listOf, MessageWriter, scalarFields } from './message-writer.js';

/** Encodes a document that `openApiV2` built, in steps. */
export function* openApiV2Protobuf(document: OpenApiDocument): Generator<undefined, Uint8Array> {
  const out = new MessageWriter();
  const { info, paths, definitions, parameters, security, securityDefinitions } = document as JsonObject;
  out.text(1, document['swagger']);
  out.message(2, info, (inner, value) => inner.fields(INFO, value));
  yield* out.map(8, 2, paths, pathItem);
  yield* out.map(9, 1, definitions, schema);
  out.message(10, parameters, (inner, value) => inner.entries(1, value, parameter));
  for (const requirement of listOf(security)) {
    out.message(12, requirement, (inner, value) =>
      inner.entries(1, value, (one, scopes: unknown) => one.texts(1, scopes)),
    );
  }
  out.message(13, securityDefinitions, (inner, value) => inner.entries(1, value, securityDefinition));
  return out.finish();
}

const INFO = scalarFields('title=1 version=2');
const OPERATION = scalarFields('tags=1:texts description=3 operationId=5 produces=6:texts consumes=7:texts');
const BODY_PARAMETER = scalarFields('name=2 in=3 required=4:flag');
const QUERY_PARAMETER = scalarFields('in=2 description=3 name=4 type=6 uniqueItems=20:flag');
const PATH_PARAMETER = scalarFields('required=1:flag in=2 description=3 name=4 type=5 uniqueItems=19:flag');
const SCHEMA = scalarFields(
  '$ref=1 format=2 title=3 description=4 multipleOf=6:double maximum=7:double exclusiveMaximum=8:flag ' +
    'minimum=9:double exclusiveMinimum=10:flag maxLength=11:integer minLength=12:integer pattern=13 maxItems=14:integer ' +
    'minItems=15:integer uniqueItems=16:flag maxProperties=17:integer minProperties=18:integer required=19:texts',
);
const SECURITY = scalarFields('type=1 name=2 in=3 description=4');

const METHODS = { get: 2, put: 3, post: 4, delete: 5, patch: 8 } as const;

function pathItem(out: MessageWriter, value: JsonObject): void {
  for (const [method, number] of Object.entries(METHODS)) out.message(number, value[method], operation);
  for (const item of listOf(value['parameters'])) out.message(9, item, parameterOrReference);
}

function operation(out: MessageWriter, value: JsonObject): void {
  out.fields(OPERATION, value);
  for (const item of listOf(value['parameters'])) out.message(8, item, parameterOrReference);
  out.message(9, value['responses'], (inner, responses) => inner.entries(1, responses, responseOrReference));
  out.texts(10, value['schemes']);
  out.extensions(13, value);
}

function parameterOrReference(out: MessageWriter, value: JsonObject): void {
  if (value['$ref'] === undefined) out.message(1, value, parameter);
  else out.message(2, value, (inner) => inner.text(1, value['$ref']));
}

function parameter(out: MessageWriter, value: JsonObject): void {
  if (value['in'] === 'body') out.message(1, value, bodyParameter);
  else {
    const [number, fields] = value['in'] === 'query' ? [3, QUERY_PARAMETER] : [4, PATH_PARAMETER];
    out.message(2, value, (inner) => inner.message(number, value, (held) => held.fields(fields, value)));
  }
}

function bodyParameter(out: MessageWriter, value: JsonObject): void {
  out.fields(BODY_PARAMETER, value);
  out.message(5, value['schema'], schema);
}

function responseOrReference(out: MessageWriter, value: JsonObject): void {
  out.message(1, value, (inner, { description, schema: held }) => {
    inner.text(1, description);
    inner.message(2, held, (item) => item.message(1, held, schema));
  });
}

function schema(out: MessageWriter, value: JsonObject): void {
  const { type, items, properties, additionalProperties } = value;
  out.fields(SCHEMA, value);
  for (const one of listOf(value['enum'])) out.value(20, one);
  out.message(21, additionalProperties, (inner) => {
    if (typeof additionalProperties === 'boolean') inner.flag(2, additionalProperties);
    else inner.message(1, additionalProperties, schema);
  });
  if (type !== undefined) out.message(22, {}, (inner) => inner.text(1, type));
  out.message(23, items, (inner) => inner.message(1, items, schema));
  out.message(25, properties, (inner) => inner.entries(1, properties, schema));
  out.extensions(31, value);
}

function securityDefinition(out: MessageWriter, value: JsonObject): void {
  out.message(2, value, (inner) => inner.fields(SECURITY, value));
}
