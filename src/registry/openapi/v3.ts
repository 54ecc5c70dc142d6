/**
 * OpenAPI 3: one document for each group and version, and small ones for the addresses of discovery. Documents are
 * made when they are asked for and share nothing; whoever serves them keeps what is worth keeping.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { SERVICE_NAME } from '../../meta/dialect.js';
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
 * The places below `/openapi/v3` at which there is a document, in their order: `api`, `api/v1`, `apis`, `apis/apps`,
 * `apis/apps/v1`, `version`.
 */
export function openApiV3Places(served: readonly ServedKind[]): readonly string[] {
  const places = new Set(['api', 'apis', 'version']);
  for (const kind of served) {
    const { gvr } = kind;
    if (gvr.group !== '' && isBuiltIn(kind)) places.add(`apis/${gvr.group}`);
    places.add(placeOf(gvr));
  }
  return [...places].sort();
}

/** The document at one of these places; undefined where there is none. */
export function openApiV3(
  place: string,
  served: readonly ServedKind[],
  options: OpenApiOptions,
): OpenApiDocument | undefined {
  if (place === 'api' || place === 'apis' || place === 'version')
    return discoveryDocument(discoveryPath(place), options);
  const within = served.filter(({ gvr }) => placeOf(gvr) === place);
  const [first, ...others] = within;
  if (first !== undefined) {
    const gv = { group: first.gvr.group, version: first.gvr.version };
    const paths = pathsOfGroupVersion([first, ...others]);
    const core = { group: '', version: 'v1' };
    if (!within.some(isBuiltIn)) return usersDocument(paths, new Definitions(3, options.dialect, [core]), options);
    const spoken = gv.group === '' ? [gv] : [core, gv];
    return document(paths, new Definitions(3, options.dialect, spoken), options);
  }
  const member = served.find((kind) => isBuiltIn(kind) && kind.gvr.group !== '' && `apis/${kind.gvr.group}` === place);
  if (member === undefined) return undefined;
  return discoveryDocument(discoveryPath({ served: member }), options);
}

/** `api/v1`, `apis/apps/v1`. */
function placeOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function discoveryDocument(item: PathItem, options: OpenApiOptions): OpenApiDocument {
  return document([item], new Definitions(3, options.dialect, []), options);
}

function document(items: readonly PathItem[], definitions: Definitions, options: OpenApiOptions): OpenApiDocument {
  return {
    openapi: '3.0.0',
    info: { title: SERVICE_NAME, version: options.serverVersion },
    paths: pathsObject(items, { definitions, options }),
    components: {
      schemas: definitions.all(),
      securitySchemes: { BearerToken: securityScheme },
    },
  };
}

/** Where there are users' kinds alone. The reference server has it from elsewhere, which shows in its head. */
function usersDocument(items: readonly PathItem[], definitions: Definitions, options: OpenApiOptions): OpenApiDocument {
  return {
    openapi: '3.0.0',
    info: { title: `${SERVICE_NAME} CRD Swagger`, version: 'v0.1.0' },
    paths: pathsObject(items, { definitions, options }),
    components: { schemas: definitions.all() },
  };
}

interface Writer {
  readonly definitions: Definitions;
  readonly options: OpenApiOptions;
}

function pathsObject(items: readonly PathItem[], writer: Writer): object {
  return Object.fromEntries(items.map((item) => [item.path, pathObject(item, writer)]));
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
  const answers = operation.answers.map((answer): [string, object] => [
    `${answer.code}`,
    { description: ANSWERS[answer.code] ?? '', content: content(answer.content, producedTypes(operation, options)) },
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
    responses: { ...Object.fromEntries(answers), 401: { description: ANSWERS[401] } },
    ...kindExtensions(operation, options.dialect),
  };
}

function parameterObject({ name, in: place, type, description }: Parameter): object {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  };
}
