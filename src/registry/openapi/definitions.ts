/**
 * Collects the schema definitions of an OpenAPI document. A caller requests a reference to a type; the type and all types
 * it refers to are then defined. The second half parses the type and field descriptions of `descriptions/`.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { objectMetaNode } from '../../kinds/shared/object-meta.js';
import type { Dialect } from '../../meta/dialect.js';
import type { GroupVersion, GroupVersionKind } from '../../meta/gvk.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import {
  type NamedType,
  namedSchema,
  type OpenApiSchema,
  objectSchema,
  type SchemaContext,
} from '../../schema/to-openapi.js';
import { getOrInsertComputed } from '../../util/once.js';
import { sortedRecord } from '../../util/order.js';
import { type CommonField, customSchema, userDefinedKindSchema } from './custom.js';
import { apiMachineryDescriptions } from './descriptions/api-machinery.js';
import { coreDescriptions, metaDescriptions } from './descriptions/core.js';
import { networkingAndAccessDescriptions } from './descriptions/networking-and-access.js';
import { podDescriptions } from './descriptions/pods.js';
import { storageDescriptions, volumeDescriptions } from './descriptions/storage.js';
import { workloadDescriptions } from './descriptions/workloads.js';
import { type MetaType, metaTypeNode } from './meta-types.js';
import {
  definitionName,
  fieldWithoutDialect,
  kindName,
  metaPackage,
  type Package,
  packageOf,
  packageOfKind,
  unionTypeOf,
  versionPackage,
} from './names.js';

/** Meta types that belong to every group and version; their definitions list all of them. */
const TYPES_OF_EVERY_GROUP: readonly string[] = ['DeleteOptions', 'WatchEvent'];
const CORE_META_KINDS: readonly string[] = ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'];

export class Definitions {
  readonly #version: 2 | 3;
  readonly #dialect: Dialect;
  readonly #groupVersions: readonly GroupVersion[];
  readonly #schemas = new Map<string, OpenApiSchema>();

  /** `groupVersions` are those that the document covers. */
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
        : this.#customObject(served)),
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
            description: `List of ${kind.names.plural}.`,
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

  /** A reference to a type that is neither a kind nor a list of a kind. */
  meta(type: MetaType): string {
    const home = type === 'Info' ? versionPackage : metaPackage;
    return this.#define(definitionName(type, home, this.#dialect), () => ({
      ...this.#object(metaTypeNode(type), home, type),
      ...this.#groupVersionKinds(this.#kindsOf(metaTypeNode(type), home)),
    }));
  }

  /** The definitions of a kind and of its list, once a reference to them was requested. */
  ofKind(served: ServedKind): readonly (OpenApiSchema | undefined)[] {
    const names = [served.kind.kind, served.kind.names.listKind];
    return names.map((name) => this.#schemas.get(kindName(served, this.#dialect, name)));
  }

  /** All definitions, sorted by name. */
  all(): Record<string, OpenApiSchema> {
    return sortedRecord(this.#schemas);
  }

  #define(name: string, make: () => OpenApiSchema): string {
    if (!this.#schemas.has(name)) {
      // The placeholder ends the recursion of types that contain themselves.
      this.#schemas.set(name, {});
      this.#schemas.set(name, make());
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

  /** The schema of a custom resource or of a user-defined kind. */
  #customObject(served: ServedKind): OpenApiSchema {
    const home: Package = { path: '', group: '' };
    const schema =
      served.kind.customResourceHandler?.publishedSchema ??
      userDefinedKindSchema(served, (type) => this.#struct(type, home));
    return customSchema(schema, {
      version: this.#version,
      dialect: this.#dialect,
      common: (field) => this.#commonField(field, served),
    });
  }

  #commonField(field: CommonField, served: ServedKind): OpenApiSchema {
    const description = describeField('', '', field);
    // The schema tree of a custom resource is not built for this: its metadata is that of every object.
    const isCustom = served.kind.customResourceHandler !== undefined;
    const metadata = isCustom ? objectMetaNode() : served.schema.fields.get('metadata')?.node;
    const node = field === 'metadata' ? metadata : undefined;
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
    // Types inside custom resources have no name.
    if (node.representation === 'document' || node.goName === '') return undefined;
    const home = packageOf(node.goName, holder);
    const name = definitionName(node.goName, home, this.#dialect);
    // A type that is atomic in one field is published as atomic, even if another field owns it field by field.
    const existing = this.#schemas.get(name);
    const extension = this.#dialect.extension('map-type');
    if (node.atomic && existing?.type !== undefined && !Object.hasOwn(existing, extension)) {
      this.#schemas.set(name, { ...existing, [extension]: 'atomic' });
    }
    return this.#define(name, () => ({
      ...this.#object(node, home, node.goName),
      ...this.#groupVersionKinds(this.#kindsOf(node, home)),
    }));
  }

  /** The kinds that a type represents although it is not served itself. */
  #kindsOf(node: ObjectNode, home: Package): GroupVersionKind[] {
    const kind = node.goName;
    const isMeta = home === metaPackage;
    if (isMeta && TYPES_OF_EVERY_GROUP.includes(kind)) return this.#groupVersions.map((gv) => ({ ...gv, kind }));
    // An object embedded in another object also has a kind; all such kinds are in the core group.
    const isOfCore = isMeta ? CORE_META_KINDS.includes(kind) : hasTypeAndObjectMeta(node);
    return isOfCore ? [{ group: '', version: 'v1', kind }] : [];
  }

  /** The extension exists only for custom resources; clients know the selectable fields of built-in kinds. */
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

function hasTypeAndObjectMeta({ fields }: ObjectNode): boolean {
  return ['apiVersion', 'kind', 'metadata'].every((name) => fields.has(name));
}

/** The description of a type. */
export function describeType(group: string, type: string): string | undefined {
  return descriptionsOf(group).types.get(type);
}

/**
 * The description of a field: that of its type, else of `*Condition`, else of `*` in its package, else of `*` in `meta`.
 * For custom resources, whose package has no name, only the common fields have a description.
 */
export function describeField(group: string, type: string, field: string): string | undefined {
  if (group === '') return COMMON_FIELDS.includes(field) ? descriptionsOf('meta').fields.get(`* ${field}`) : undefined;
  for (const source of [group, 'meta']) {
    const { fields } = descriptionsOf(source);
    const kinds = source === group ? [type] : [];
    if (type.endsWith('Condition')) kinds.push('*Condition');
    for (const kind of [...kinds, '*']) {
      const text = fields.get(`${kind} ${field}`);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

const COMMON_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata'];

/** The description texts by package. */
export const descriptions: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries({
      ...apiMachineryDescriptions,
      ...networkingAndAccessDescriptions,
      ...storageDescriptions,
      ...workloadDescriptions,
    }).map(([group, text]) => [group, [text]]),
  ),
  core: [coreDescriptions, podDescriptions, volumeDescriptions],
  meta: [metaDescriptions],
};

const parsed = new Map<string, Descriptions>();

interface Descriptions {
  readonly types: ReadonlyMap<string, string>;
  /** The key is the type and the field with a space in between. */
  readonly fields: ReadonlyMap<string, string>;
}

function descriptionsOf(group: string): Descriptions {
  return getOrInsertComputed(parsed, group, () => parseDescriptions(descriptions[group] ?? []));
}

/**
 * Parses the compact notation of the description files. A line that starts in the first column names types, an indented
 * line names fields of these types:
 *
 *     Lease A time-limited lock.
 *      holderIdentity The identity of the holder.
 *     LeaseSpec,LeaseCandidateSpec
 *      strategy,renewTime The same description for several fields of several types.
 *     *
 *      name The description for types that have no line of their own for this field.
 *
 * The first description of a type or field wins. `*Condition` applies to all types whose name ends in `Condition`.
 */
export function parseDescriptions(texts: readonly string[]): Descriptions {
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
      if (isField) for (const field of names.split(',')) setIfAbsent(fields, `${type} ${field}`, text);
      else if (text !== '') setIfAbsent(types, type, text);
    }
  }
  return { types, fields };
}

function setIfAbsent(texts: Map<string, string>, key: string, text: string): void {
  if (!texts.has(key)) texts.set(key, text);
}
