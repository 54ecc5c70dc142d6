/**
 * The schemas of the served kinds: the cluster's OpenAPI documents, fetched on first use.
 */
import type { ServedKind } from 'orchplane';
import type { Session } from '../session/session.js';

/** The part of an OpenAPI schema that the editor reads. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly [extension: `x-${string}`]: unknown;
}

interface OpenApiDocument {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

type KindTag = { readonly group: string; readonly version: string; readonly kind: string };

/** The schema of one kind, with the definitions that it refers to. */
export class KindSchema {
  readonly root: Schema;
  readonly #document: OpenApiDocument;

  constructor(document: OpenApiDocument, root: Schema) {
    this.#document = document;
    this.root = root;
  }

  /** Resolves references. A description or default beside a reference takes precedence over the referenced schema's. */
  resolved(schema: Schema | undefined): Schema | undefined {
    if (schema === undefined) return undefined;
    const { allOf, $ref, ...own } = schema;
    const reference = $ref ?? (allOf?.length === 1 ? allOf[0]?.$ref : undefined);
    if (reference === undefined) return schema;
    const target = this.#document.components?.schemas?.[reference.replace('#/components/schemas/', '')];
    return { ...this.resolved(target), ...own };
  }

  /** The schema of a field (a string step) or of an item (a number). */
  below(schema: Schema | undefined, step: string | number): Schema | undefined {
    const resolvedSchema = this.resolved(schema);
    if (resolvedSchema === undefined) return undefined;
    if (typeof step === 'number') return this.resolved(resolvedSchema.items);
    const field =
      resolvedSchema.properties !== undefined && Object.hasOwn(resolvedSchema.properties, step)
        ? resolvedSchema.properties[step]
        : undefined;
    if (field !== undefined) return this.resolved(field);
    return typeof resolvedSchema.additionalProperties === 'object'
      ? this.resolved(resolvedSchema.additionalProperties)
      : undefined;
  }

  at(path: readonly (string | number)[]): Schema | undefined {
    let schema = this.resolved(this.root);
    for (const step of path) schema = this.below(schema, step);
    return schema;
  }
}

export class Schemas {
  readonly #session: Session;
  #kinds: readonly ServedKind[] = [];
  readonly #documents = new Map<string, Promise<OpenApiDocument>>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Returns undefined if the kind is not served or has no schema. */
  async of(apiVersion: string, kind: string): Promise<KindSchema | undefined> {
    // CRDs come and go: fetch a group's document again when the served kinds change.
    const served = this.#session.cluster.kinds();
    if (served !== this.#kinds) this.#documents.clear();
    this.#kinds = served;
    const found = this.#session.kindOf(apiVersion, kind);
    if (found === undefined) return undefined;
    const document = await this.#document(apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`);
    const tagged = Object.values(document.components?.schemas ?? {}).find((schema) =>
      tagsOf(schema).some(({ group, version, kind: name }) => {
        const { gvk } = found;
        return group === gvk.group && version === gvk.version && name === gvk.kind;
      }),
    );
    return tagged === undefined ? undefined : new KindSchema(document, tagged);
  }

  #document(path: string): Promise<OpenApiDocument> {
    const known = this.#documents.get(path);
    if (known !== undefined) return known;
    // The page fetches schemas with its own identity, not as the selected user.
    const response = this.#session
      .request(`/openapi/v3/${path}`, { as: { user: 'playground', groups: ['system:masters'] } })
      .then(({ ok, body }) => (ok ? (body as OpenApiDocument) : {}));
    this.#documents.set(path, response);
    return response;
  }
}

function tagsOf(schema: Schema): readonly KindTag[] {
  const tags = Object.entries(schema).find(([key]) => key.endsWith('-group-version-kind'))?.[1];
  return Array.isArray(tags) ? (tags as readonly KindTag[]) : [];
}

/** The type of a field as a short text: `string`, `integer`, `[]object`, `map[string]string`. */
export function typeText(known: KindSchema, schema: Schema | undefined): string {
  const resolvedSchema = known.resolved(schema);
  if (resolvedSchema === undefined) return '';
  if (resolvedSchema.format === 'int-or-string' || resolvedSchema.oneOf !== undefined) return 'string or number';
  if (resolvedSchema.type === 'array') return `[]${typeText(known, resolvedSchema.items) || 'any'}`;
  if (resolvedSchema.type === 'object' && typeof resolvedSchema.additionalProperties === 'object') {
    return `map[string]${typeText(known, resolvedSchema.additionalProperties) || 'any'}`;
  }
  return resolvedSchema.type ?? '';
}
