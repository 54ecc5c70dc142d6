/**
 * OpenAPI 2 (Swagger): one document for everything a cluster serves. Parameters that many operations share are defined
 * once and referenced by name plus a hash of their content, because several parameters may have the same name.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { SERVICE_NAME } from '../../meta/dialect.js';
import type { GroupVersion } from '../../meta/gvk.js';
import { encodeBase64 } from '../../util/base64.js';
import { sortedRecord } from '../../util/order.js';
import { Definitions } from './definitions.js';
import {
  consumedTypes,
  kindExtensions,
  type OpenApiDocument,
  type OpenApiOptions,
  producedTypes,
  RESPONSE_DESCRIPTIONS,
  referenceTo,
  securityScheme,
} from './document.js';
import { discoveryPath, isBuiltIn, type Operation, type PathItem, pathsOfGroupVersion } from './operations.js';
import type { Parameter } from './parameters.js';

/** Builds the document of all served kinds, in steps: one for each path. */
export function* openApiV2(
  served: readonly ServedKind[],
  options: OpenApiOptions,
): Generator<undefined, OpenApiDocument> {
  const byGroupVersion = new Map<string, [ServedKind, ...ServedKind[]]>();
  for (const kind of served) {
    const present = byGroupVersion.get(kind.apiVersion);
    if (present === undefined) byGroupVersion.set(kind.apiVersion, [kind]);
    else present.push(kind);
  }
  const groupVersions = [...byGroupVersion.values()].flatMap((kinds): GroupVersion[] => {
    const first = kinds.find(isBuiltIn);
    return first === undefined ? [] : [{ group: first.gvr.group, version: first.gvr.version }];
  });
  const items = [
    ...(['api', 'apis', 'version'] as const).map(discoveryPath),
    ...groupItems(served),
    ...[...byGroupVersion.values()].flatMap(pathsOfGroupVersion),
  ].sort((left, right) => (left.path < right.path ? -1 : 1));
  const writer: Writer = {
    definitions: new Definitions(2, options.dialect, groupVersions.sort(byGroupThenVersion)),
    options,
    shared: new Map(),
    written: new Map(),
  };
  const paths: Record<string, object> = {};
  for (const item of items) {
    paths[item.path] = pathObject(item, writer);
    yield;
  }
  return {
    swagger: '2.0',
    info: { title: SERVICE_NAME, version: options.serverVersion },
    paths,
    definitions: writer.definitions.all(),
    parameters: sortedRecord(writer.shared),
    securityDefinitions: { BearerToken: securityScheme },
    security: [{ BearerToken: [] }],
  };
}

/** What the document contains because of one custom resource or user-defined kind: its paths and its definitions. */
export function openApiV2PartsOf(served: ServedKind, options: OpenApiOptions): readonly unknown[] {
  const definitions = new Definitions(2, options.dialect, []);
  const writer: Writer = { definitions, options, shared: new Map(), written: new Map() };
  const paths = pathsOfGroupVersion([served]).map((item) => [item.path, pathObject(item, writer)]);
  return [paths, ...definitions.ofKind(served)];
}

function groupItems(served: readonly ServedKind[]): PathItem[] {
  const groups = new Map(served.filter(isBuiltIn).map((kind) => [kind.gvr.group, kind]));
  groups.delete('');
  return [...groups.values()].map((kind) => discoveryPath({ served: kind }));
}

function byGroupThenVersion(left: GroupVersion, right: GroupVersion): number {
  const [one, other] = [`${left.group}/${left.version}`, `${right.group}/${right.version}`];
  return one < other ? -1 : 1;
}

interface Writer {
  readonly definitions: Definitions;
  readonly options: OpenApiOptions;
  /** Shared parameters by their reference name. */
  readonly shared: Map<string, object>;
  /** The object or reference that was built for a parameter. */
  readonly written: Map<Parameter, object>;
}

function pathObject(item: PathItem, writer: Writer): object {
  const operations = item.operations.map((operation) => [operation.method, operationObject(operation, writer)]);
  const parameters = item.parameters.map((parameter) => parameterObject(parameter, writer));
  return {
    ...Object.fromEntries(operations),
    ...(parameters.length === 0 ? {} : { parameters }),
  };
}

function operationObject(operation: Operation, writer: Writer): object {
  const { definitions, options } = writer;
  const parameters = [
    ...bodyParameters(operation, writer),
    ...operation.parameters.map((parameter) => parameterObject(parameter, writer)),
  ];
  const responses = operation.responses.map(({ code, content }): [string, object] => [
    `${code}`,
    { description: RESPONSE_DESCRIPTIONS[code] ?? '', schema: { $ref: referenceTo(content, definitions) } },
  ]);
  return {
    description: operation.description,
    consumes: consumedTypes(operation, options),
    produces: producedTypes(operation, options),
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { ...Object.fromEntries(responses), 401: { description: RESPONSE_DESCRIPTIONS[401] } },
    ...kindExtensions(operation, options.dialect),
  };
}

function bodyParameters({ body }: Operation, writer: Writer): object[] {
  if (body === undefined) return [];
  const parameter = {
    name: 'body',
    in: 'body',
    ...(body.required ? { required: true } : {}),
    schema: { $ref: referenceTo(body.content, writer.definitions) },
  };
  // Only DeleteOptions and Patch bodies occur in many operations.
  return [body.content.of === 'meta' ? share('body', parameter, writer) : parameter];
}

/** Parameters that clients expect at the operation itself, not as references. */
const INLINE_PARAMETERS: readonly string[] = ['dryRun', 'fieldValidation', 'name'];

function parameterObject(parameter: Parameter, writer: Writer): object {
  let made = writer.written.get(parameter);
  if (made === undefined) {
    const { name, in: place, type, description } = parameter;
    const required = place === 'path' ? { required: true } : {};
    const whole = { uniqueItems: true, type, description, name, in: place, ...required };
    made = INLINE_PARAMETERS.includes(name) ? whole : share(name, whole, writer);
    writer.written.set(parameter, made);
  }
  return made;
}

function share(name: string, parameter: object, { shared }: Writer): object {
  const key = `${name}-${shortHash(JSON.stringify(parameter))}`;
  shared.set(key, parameter);
  return { $ref: `#/parameters/${key}` };
}

/** 32-bit FNV-1a in URL-safe base64. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  const bytes = Uint8Array.of(hash >>> 24, hash >>> 16, hash >>> 8, hash);
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
