/**
 * The types of a document, collected as they are referred to: whoever needs a type asks for a reference, and what it
 * refers to in turn is defined along with it.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { GroupVersion, GroupVersionKind } from '../../meta/gvk.js';
import type { ObjectNode } from '../../schema/structural.js';
import {
  type NamedType,
  namedSchema,
  type OpenApiSchema,
  objectSchema,
  type SchemaContext,
} from '../../schema/to-openapi.js';
import { sortedRecord } from '../../util/order.js';
import { type CommonField, customSchema } from './custom.js';
import { type MetaType, metaTypeNode } from './meta-types.js';
import {
  definitionName,
  unionTypeOf,
  kindName,
  metaPackage,
  type Package,
  packageOf,
  packageOfKind,
  fieldWithoutDialect,
  versionPackage,
} from './names.js';
import { userDefinedKindSchema } from './custom.js';
import { descriptions } from './descriptions/index.js';

const COMMON_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata'];

const known = new Map<string, Notes>();

/** Meta types that are spoken in every group, and say so. */
const IN_EVERY_GROUP: readonly string[] = ['DeleteOptions', 'WatchEvent'];
const KINDS_OF_CORE: readonly string[] = ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'];

export class Definitions {
  readonly #version: 2 | 3;
  readonly #dialect: Dialect;
  readonly #groupVersions: readonly GroupVersion[];
  readonly #made = new Map<string, OpenApiSchema>();

  /** `groupVersions` are those the document speaks of. */
  constructor(version: 2 | 3, dialect: Dialect, groupVersions: readonly GroupVersion[]) {
    this.#version = version;
    this.#dialect = dialect;
    this.#groupVersions = groupVersions;
  }

  /** A reference to a kind. */
  kind(served: ServedKind): string {
    const name = kindName(served, this.#dialect);
    return this.#define(name, () => ({
      ...(served.kind.representation === 'struct'
        ? this.#object(served.schema, packageOfKind(served), served.kind.kind)
        : this.#usersObject(served)),
      ...this.#groupVersionKinds([served.gvk]),
      ...this.#selectableFields(served),
    }));
  }

  /** A reference to the list of a kind. */
  list(served: ServedKind): string {
    const { kind } = served;
    const { listKind } = kind.names;
    const name = kindName(served, this.#dialect, listKind);
    return this.#define(name, () => {
      const item = { $ref: this.kind(served) };
      const hasDefaults = this.#version === 3 && kind.representation === 'struct';
      const metadata = { $ref: this.meta('ListMeta') };
      const describe = (field: string) => ({ description: describeField('meta', 'List', field) });
      return {
        description: `A list of objects of kind ${kind.kind}.`,
        type: 'object',
        required: ['items'],
        properties: {
          apiVersion: { ...describe('apiVersion'), type: 'string' },
          items: {
            ...describe('items'),
            type: 'array',
            items: hasDefaults ? { allOf: [item], default: {} } : item,
          },
          kind: { ...describe('kind'), type: 'string' },
          metadata:
            this.#version === 2
              ? { ...describe('metadata'), ...metadata }
              : { ...describe('metadata'), allOf: [metadata], ...(hasDefaults ? { default: {} } : {}) },
        },
        ...this.#groupVersionKinds([{ ...served.gvk, kind: listKind }]),
        ...this.#selectableFields(served),
      };
    });
  }

  /** A reference to what is neither a kind nor a list of one. */
  meta(type: MetaType): string {
    const home = type === 'Info' ? versionPackage : metaPackage;
    return this.#define(definitionName(type, home, this.#dialect), () => ({
      ...this.#object(metaTypeNode(type), home, type),
      ...this.#groupVersionKinds(this.#kindsOf(metaTypeNode(type), home)),
    }));
  }

  /** All that was referred to, by name. */
  all(): Record<string, OpenApiSchema> {
    return sortedRecord(this.#made);
  }

  #define(name: string, make: () => OpenApiSchema): string {
    if (!this.#made.has(name)) {
      // Noted before it is made: a type may hold itself.
      this.#made.set(name, {});
      this.#made.set(name, make());
    }
    return `${this.#version === 2 ? '#/definitions/' : '#/components/schemas/'}${name}`;
  }

  #object(node: ObjectNode, home: Package, type: string): OpenApiSchema {
    const description = describeType(home.group, type);
    return {
      ...(description === undefined ? {} : { description }),
      ...objectSchema(node, this.#context(home, type)),
    };
  }

  /** Kinds that users have made, whichever way. */
  #usersObject(served: ServedKind): OpenApiSchema {
    const home: Package = { path: '', group: '' };
    const schema = served.kind.custom?.publishedSchema ?? userDefinedKindSchema(served, (type) => this.#struct(type, home));
    return customSchema(schema, {
      version: this.#version,
      dialect: this.#dialect,
      common: (field) => this.#commonField(field, served),
    });
  }

  #commonField(field: CommonField, { schema }: ServedKind): OpenApiSchema {
    const description = describeField('', '', field);
    const node = schema.fields.get(field)?.node;
    if (node?.type !== 'object') return { description, type: 'string' };
    const reference = { $ref: this.#struct(node, metaPackage) };
    return { description, ...(this.#version === 2 ? reference : { allOf: [reference] }) };
  }

  #context(home: Package, type: string): SchemaContext {
    return {
      version: this.#version,
      dialect: this.#dialect,
      reference: (held) => (typeof held === 'string' ? this.#named(held) : this.#struct(held, home)),
      unionType: (field) => unionTypeOf(type, field),
      describe: (field) => describeField(home.group, type, fieldWithoutDialect(field, this.#dialect)),
    };
  }

  #named(type: NamedType): string {
    const home = packageOf(type, metaPackage);
    return this.#define(definitionName(type, home, this.#dialect), () => {
      const description = describeType(home.group, type);
      return { ...(description === undefined ? {} : { description }), ...namedSchema(type, this.#version) };
    });
  }

  #struct(node: ObjectNode, holder: Package): string | undefined {
    // What users' kinds hold has no name.
    if (node.representation === 'document' || node.goName === '') return undefined;
    const home = packageOf(node.goName, holder);
    const name = definitionName(node.goName, home, this.#dialect);
    // A type that is owned as a whole is published so, also where a field that holds it is owned in parts.
    const known = this.#made.get(name);
    const extension = this.#dialect.extension('map-type');
    if (node.atomic && known?.type !== undefined && !Object.hasOwn(known, extension)) {
      this.#made.set(name, { ...known, [extension]: 'atomic' });
    }
    return this.#define(name, () => ({
      ...this.#object(node, home, node.goName),
      ...this.#groupVersionKinds(this.#kindsOf(node, home)),
    }));
  }

  /** The kinds that a type stands for, if any, when it is not served itself. */
  #kindsOf(node: ObjectNode, home: Package): GroupVersionKind[] {
    const kind = node.goName;
    const isMeta = home === metaPackage;
    if (isMeta && IN_EVERY_GROUP.includes(kind)) return this.#groupVersions.map((gv) => ({ ...gv, kind }));
    // A whole object inside another one is of a kind too; the only such kinds are of the core group.
    const isOfCore = isMeta ? KINDS_OF_CORE.includes(kind) : isWhole(node);
    return isOfCore ? [{ group: '', version: 'v1', kind }] : [];
  }

  /** Of users' kinds; what those of the service can be selected by is known. */
  #selectableFields({ kind }: ServedKind): OpenApiSchema {
    const fields = kind.representation === 'struct' ? [] : Object.keys(kind.strategy.read.selectableFields);
    if (fields.length === 0) return {};
    return { [this.#dialect.extension('selectable-fields')]: fields.map((fieldPath) => ({ fieldPath })) };
  }

  #groupVersionKinds(kinds: readonly GroupVersionKind[]): OpenApiSchema {
    if (kinds.length === 0) return {};
    const entries = kinds.map(({ group, kind, version }) => ({ group, kind, version }));
    return { [this.#dialect.extension('group-version-kind')]: entries };
  }
}

function isWhole({ fields }: ObjectNode): boolean {
  return ['apiVersion', 'kind', 'metadata'].every((name) => fields.has(name));
}

/** What a type is for. */
export function describeType(group: string, type: string): string | undefined {
  return notesOf(group).types.get(type);
}

/**
 * What a field is for: said of its type, or else of types like it, of all types of its package, or of all types at all.
 * Of users' kinds, whose package has no name, only what every kind has is known.
 */
export function describeField(group: string, type: string, field: string): string | undefined {
  if (group === '') return COMMON_FIELDS.includes(field) ? notesOf('meta').fields.get(`* ${field}`) : undefined;
  for (const where of [group, 'meta']) {
    const { fields } = notesOf(where);
    const kinds = where === group ? [type] : [];
    if (type.endsWith('Condition')) kinds.push('*Condition');
    for (const kind of [...kinds, '*']) {
      const text = fields.get(`${kind} ${field}`);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

interface Notes {
  readonly types: ReadonlyMap<string, string>;
  /** By type and field, with a space between. */
  readonly fields: ReadonlyMap<string, string>;
}

function notesOf(group: string): Notes {
  let notes = known.get(group);
  if (notes === undefined) {
    notes = parseDescriptions(descriptions[group] ?? []);
    known.set(group, notes);
  }
  return notes;
}

/** Reads the notation above. */
export function parseDescriptions(texts: readonly string[]): Notes {
  const types = new Map<string, string>();
  const fields = new Map<string, string>();
  let current: readonly string[] = [];
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    if (line === '') continue;
    const isField = line.startsWith(' ');
    const [names = '', ...words] = line.trim().split(' ');
    const text = words.join(' ');
    if (!isField) current = names.split(',');
    for (const type of current) {
      if (isField) for (const field of names.split(',')) noteFirst(fields, `${type} ${field}`, text);
      else if (text !== '') noteFirst(types, type, text);
    }
  }
  return { types, fields };
}

function noteFirst(notes: Map<string, string>, key: string, text: string): void {
  if (!notes.has(key)) notes.set(key, text);
}
