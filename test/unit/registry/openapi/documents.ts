/** OpenAPI documents of clusters with all built-in kinds, for the tests of this folder. */
import { builtInKinds } from '../../../../src/kinds/index.js';
import type { Kind } from '../../../../src/kinds/kind.js';
import { type ServedKind, serveKind } from '../../../../src/kinds/served-kind.js';
import type { Dialect } from '../../../../src/meta/dialect.js';
import { openApiV2 } from '../../../../src/registry/openapi/v2.js';
import { openApiV3, openApiV3Paths } from '../../../../src/registry/openapi/v3.js';

export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly [extension: `x-${string}`]: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, unknown>> }>>;
  readonly [extension: `x-${string}`]: unknown;
}

export type PathItem = Readonly<Record<string, Operation>> & {
  readonly parameters?: readonly { readonly name: string }[];
};

export interface DocumentV3 {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface DocumentV2 {
  readonly swagger: string;
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly definitions: Readonly<Record<string, Schema>>;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly [part: string]: unknown;
}

const SERVER_VERSION = 'v1.33.1';

export function servedIn(dialect: Dialect, kinds: readonly Kind[] = builtInKinds): readonly ServedKind[] {
  return kinds.map((kind) => serveKind(kind, dialect));
}

/** The result of a computation in steps. */
export function allSteps<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export function documentAt(place: string, served: readonly ServedKind[], dialect: Dialect): DocumentV3 {
  const document = allSteps(openApiV3(place, served, { dialect, serverVersion: SERVER_VERSION }));
  if (document === undefined) throw new Error(`no document at ${place}`);
  return document as unknown as DocumentV3;
}

export function allDocuments(dialect: Dialect): ReadonlyMap<string, DocumentV3> {
  const served = servedIn(dialect);
  return new Map([...openApiV3Paths(served).keys()].map((place) => [place, documentAt(place, served, dialect)]));
}

export function wholeDocument(served: readonly ServedKind[], dialect: Dialect): DocumentV2 {
  return allSteps(openApiV2(served, { dialect, serverVersion: SERVER_VERSION })) as unknown as DocumentV2;
}

/** All types of all OpenAPI 3 documents by name. */
export function allSchemas(dialect: Dialect): ReadonlyMap<string, Schema> {
  const schemas = new Map<string, Schema>();
  for (const { components } of allDocuments(dialect).values()) {
    for (const [name, schema] of Object.entries(components.schemas)) schemas.set(name, schema);
  }
  return schemas;
}

/** The operations of a path by method. */
export function operationsOf(item: PathItem | undefined): [method: string, operation: Operation][] {
  const { parameters: _, ...operations } = item ?? {};
  return Object.entries(operations) as [string, Operation][];
}
