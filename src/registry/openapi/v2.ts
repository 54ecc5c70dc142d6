/**
 * OpenAPI 2 (Swagger): one document for everything a cluster serves. Parameters that many operations take are written
 * once and referred to; a name may stand for several, so a hash of what they say follows it.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { SERVICE_NAME } from '../../meta/dialect.js';
import type { GroupVersion } from '../../meta/gvk.js';
import { encodeBase64 } from '../../util/base64.js';
import { sortedRecord } from '../../util/order.js';
import { Definitions } from './definitions.js';
import {
  ANSWERS,
  kindExtensions,
  type OpenApiDocument,
  type OpenApiOptions,
  referenceTo,
  securityScheme,
} from './document.js';
import { consumedTypes, producedTypes } from './media-types.js';
import { discoveryPath, isBuiltIn, type Operation, type PathItem, pathsOfGroupVersion } from './operations.js';
import type { Parameter } from './parameters.js';

/** The document of all that is served. */
export function openApiV2(served: readonly ServedKind[], options: OpenApiOptions): OpenApiDocument {
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
  const paths = Object.fromEntries(items.map((item) => [item.path, pathObject(item, writer)]));
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
  /** Parameters that are written once, by the name under which they are referred to. */
  readonly shared: Map<string, object>;
  /** What stands for a parameter, once it is known. */
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
  const answers = operation.answers.map(({ code, content }): [string, object] => [
    `${code}`,
    { description: ANSWERS[code] ?? '', schema: { $ref: referenceTo(content, definitions) } },
  ]);
  return {
    description: operation.description,
    consumes: consumedTypes(operation, options),
    produces: producedTypes(operation, options),
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.id,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { ...Object.fromEntries(answers), 401: { description: ANSWERS[401] } },
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
  // The bodies of kinds are each in a few places only; options and patches are everywhere.
  return [body.content.of === 'meta' ? share('body', parameter, writer) : parameter];
}

/** Clients look for these at the operation itself. */
const WRITTEN_OUT: readonly string[] = ['dryRun', 'fieldValidation', 'name'];

function parameterObject(parameter: Parameter, writer: Writer): object {
  let made = writer.written.get(parameter);
  if (made === undefined) {
    const { name, in: place, type, description } = parameter;
    const required = place === 'path' ? { required: true } : {};
    const whole = { uniqueItems: true, type, description, name, in: place, ...required };
    made = WRITTEN_OUT.includes(name) ? whole : share(name, whole, writer);
    writer.written.set(parameter, made);
  }
  return made;
}

function share(name: string, parameter: object, { shared }: Writer): object {
  const key = `${name}-${shortHash(JSON.stringify(parameter))}`;
  shared.set(key, parameter);
  return { $ref: `#/parameters/${key}` };
}

/** FNV-1a of 32 bits, in the alphabet of base64 that is safe in references. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  const bytes = Uint8Array.of(hash >>> 24, hash >>> 16, hash >>> 8, hash);
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
