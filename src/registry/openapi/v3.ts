/**
 * OpenAPI 3: one document for each group and version, and one for each discovery path. Each call builds a new document;
 * the HTTP layer caches them.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { SERVICE_NAME } from '../../meta/dialect.js';
import { getOrInsertComputed } from '../../util/once.js';
import { byKey } from '../../util/order.js';
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
import {
  type Content,
  discoveryPath,
  isBuiltIn,
  type Operation,
  type PathItem,
  pathsOfGroupVersion,
} from './operations.js';
import type { Parameter } from './parameters.js';

/**
 * The kinds by the path below `/openapi/v3` of the document that describes them, sorted by path: `api`, `api/v1`, `apis`,
 * `apis/apps`, `apis/apps/v1`, `version`. A discovery document (`api`, `apis/apps`) describes no kinds.
 */
export function openApiV3Paths(served: readonly ServedKind[]): ReadonlyMap<string, readonly ServedKind[]> {
  const paths = new Map<string, ServedKind[]>(['api', 'apis', 'version'].map((path) => [path, []]));
  for (const kind of served) {
    const { gvr } = kind;
    getOrInsertComputed(paths, pathOf(gvr), () => []).push(kind);
    if (gvr.group !== '' && isBuiltIn(kind)) paths.set(`apis/${gvr.group}`, []);
  }
  return new Map([...paths].sort(byKey));
}

/**
 * What a document contains because of one kind: its paths and its definitions. The rest of a document is the same for all
 * custom resources and user-defined kinds.
 */
export function openApiV3PartsOf(served: ServedKind, options: OpenApiOptions): readonly unknown[] {
  const definitions = new Definitions(3, options.dialect, []);
  const paths = pathsOfGroupVersion([served]).map((item) => [item.path, pathObject(item, { definitions, options })]);
  return [paths, ...definitions.ofKind(served)];
}

/** Builds the document at a path of {@link openApiV3Paths}, in steps; undefined for any other path. */
export function* openApiV3(
  path: string,
  served: readonly ServedKind[],
  options: OpenApiOptions,
): Generator<undefined, OpenApiDocument | undefined> {
  if (path === 'api' || path === 'apis' || path === 'version')
    return yield* discoveryDocument(discoveryPath(path), options);
  const within = served.filter(({ gvr }) => pathOf(gvr) === path);
  const [first, ...others] = within;
  if (first !== undefined) {
    const gv = { group: first.gvr.group, version: first.gvr.version };
    const paths = pathsOfGroupVersion([first, ...others]);
    const core = { group: '', version: 'v1' };
    if (!within.some(isBuiltIn))
      return yield* customResourceDocument(paths, new Definitions(3, options.dialect, [core]), options);
    const groupVersions = gv.group === '' ? [gv] : [core, gv];
    return yield* document(paths, new Definitions(3, options.dialect, groupVersions), options);
  }
  const member = served.find((kind) => isBuiltIn(kind) && kind.gvr.group !== '' && `apis/${kind.gvr.group}` === path);
  if (member === undefined) return undefined;
  return yield* discoveryDocument(discoveryPath({ served: member }), options);
}

/** `api/v1`, `apis/apps/v1`. */
function pathOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function discoveryDocument(item: PathItem, options: OpenApiOptions): Generator<undefined, OpenApiDocument> {
  return document([item], new Definitions(3, options.dialect, []), options);
}

function* document(
  items: readonly PathItem[],
  definitions: Definitions,
  options: OpenApiOptions,
): Generator<undefined, OpenApiDocument> {
  return {
    openapi: '3.0.0',
    info: { title: SERVICE_NAME, version: options.serverVersion },
    paths: yield* pathsObject(items, { definitions, options }),
    components: {
      schemas: definitions.all(),
      securitySchemes: { BearerToken: securityScheme },
    },
  };
}

/** The document of a group that has custom resources only; the reference server builds it with a different info section. */
function* customResourceDocument(
  items: readonly PathItem[],
  definitions: Definitions,
  options: OpenApiOptions,
): Generator<undefined, OpenApiDocument> {
  return {
    openapi: '3.0.0',
    info: { title: `${SERVICE_NAME} CRD Swagger`, version: 'v0.1.0' },
    paths: yield* pathsObject(items, { definitions, options }),
    components: { schemas: definitions.all() },
  };
}

interface Writer {
  readonly definitions: Definitions;
  readonly options: OpenApiOptions;
}

function* pathsObject(items: readonly PathItem[], writer: Writer): Generator<undefined, object> {
  const paths: Record<string, object> = {};
  for (const item of items) {
    paths[item.path] = pathObject(item, writer);
    yield;
  }
  return paths;
}

function pathObject(item: PathItem, writer: Writer): object {
  const operations = item.operations.map((operation) => [operation.method, operationObject(operation, writer)]);
  return {
    ...Object.fromEntries(operations),
    ...(item.parameters.length === 0 ? {} : { parameters: item.parameters.map(parameterObject) }),
  };
}

function operationObject(operation: Operation, { definitions, options }: Writer): object {
  const { body } = operation;
  const content = (what: Content, types: readonly string[]): object => {
    const schema = { $ref: referenceTo(what, definitions) };
    return Object.fromEntries(types.map((type) => [type, { schema }]));
  };
  const responses = operation.responses.map((response): [string, object] => [
    `${response.code}`,
    {
      description: RESPONSE_DESCRIPTIONS[response.code] ?? '',
      content: content(response.content, producedTypes(operation, options)),
    },
  ]);
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(operation.parameters.length === 0 ? {} : { parameters: operation.parameters.map(parameterObject) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(body.content, consumedTypes(operation, options)),
            ...(body.required ? { required: true } : {}),
          },
        }),
    responses: { ...Object.fromEntries(responses), 401: { description: RESPONSE_DESCRIPTIONS[401] } },
    ...kindExtensions(operation, options.dialect),
  };
}

function parameterObject({ name, in: location, type, description }: Parameter): object {
  return {
    name,
    in: location,
    description,
    ...(location === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}
