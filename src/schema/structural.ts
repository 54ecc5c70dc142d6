/**
 * The one structural form that all generic code reads: decoding, defaulting, pruning, field ownership, strategic
 * merge, OpenAPI. It is made once per kind, from zod (`from-zod.ts`) or from a definition, and never changes.
 *
 * Two wire manners exist. Built-in kinds are `struct`s: they come out of the reference server as its typed objects
 * do, so an empty optional string vanishes and a required struct appears as `{}`. Users' own kinds are `document`s:
 * what was sent is what is stored.
 */

export type Structural = ObjectNode | MapNode | ListNode | ScalarNode | AnyNode;

interface NodeBase {
  /** How the reference server's decoder names the type: `string`, `map[string]string`, `v1.SecretType`. */
  readonly goType: string;
  /** Applied when the field is absent. A frozen JSON value. */
  readonly default?: unknown;
  /** Only documents: an explicit null is kept. */
  readonly nullable?: boolean;
  /** True when this node or one below it carries value rules, so that the validator must look. */
  readonly checked: boolean;
}

export interface ObjectNode extends NodeBase {
  readonly type: 'object';
  readonly manner: 'struct' | 'document';
  /** The name in decoding messages: `LeaseSpec`. */
  readonly goName: string;
  /** In wire order. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly preserveUnknown: boolean;
  /** Replaced as a whole by apply. */
  readonly atomic: boolean;
  /** Strategic merge patch: `retainKeys`. */
  readonly patchStrategy?: string;
  /** What was stored once is taken as it is when it comes again; see `reuse.ts`. */
  readonly reusable?: boolean;
}

/**
 * When a struct's field is on the wire:
 * - `always`: even if empty, as its zero value
 * - `omitEmpty`: unless empty (`""`, `0`, `false`, `[]`, `{}`)
 * - `pointer`: whenever it was given
 */
export type Presence = 'always' | 'omitEmpty' | 'pointer';

export interface Field {
  readonly name: string;
  readonly node: Structural;
  readonly presence: Presence;
  /** A client has to give it. */
  readonly required: boolean;
}

export interface MapNode extends NodeBase {
  readonly type: 'map';
  readonly values: Structural;
  readonly atomic: boolean;
}

export interface ListNode extends NodeBase {
  readonly type: 'list';
  readonly items: Structural;
  /** spec: merge annotations. How apply and strategic merge treat the list. */
  readonly listType: 'atomic' | 'set' | 'map';
  readonly mapKeys: readonly string[];
  /** What stands in for a key that an item leaves out, where that is not the default of the field. */
  readonly keyFallbacks?: Readonly<Record<string, unknown>>;
  /** Strategic merge patch: the key, where it merges at all. */
  readonly patchMergeKey?: string;
  readonly patchStrategy?: string;
}

export type ScalarType =
  | 'string'
  | 'int32'
  | 'int64'
  | 'number'
  | 'boolean'
  | 'bytes'
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  | 'duration';

export interface ScalarNode extends NodeBase {
  readonly type: 'scalar';
  readonly scalar: ScalarType;
}

/** Arbitrary JSON: a raw extension, an embedded document. Kept as it is. */
export interface AnyNode extends NodeBase {
  readonly type: 'any';
  /** Replaced as a whole by apply; otherwise its maps are merged, as far down as they go. */
  readonly atomic: boolean;
}

/** A field with what a walk wants to know of it at a glance. */
export interface ListedField extends Field {
  /** Its place in wire order. */
  readonly index: number;
  /** Its node, where that is a single value of a struct: most of these are on the wire just as they were given. */
  readonly scalar: ScalarNode | undefined;
  /** Something is filled in where it is absent. */
  readonly fillsIn: boolean;
}

/** The fields of a node as walks over objects want them, which spend much of their time on iterating. */
export interface FieldListing {
  /** In wire order. */
  readonly all: readonly ListedField[];
  readonly named: ReadonlyMap<string, ListedField>;
  /** Those that are filled in where they are absent, in wire order. */
  readonly fillers: readonly ListedField[];
}

export function listingOf(node: ObjectNode): FieldListing {
  const listed = node as ObjectNode & { listing?: FieldListing | undefined };
  listed.listing ??= listFields(node);
  return listed.listing;
}

/** The fields of a node in wire order. */
export function fieldsOf(node: ObjectNode): readonly ListedField[] {
  return listingOf(node).all;
}

function listFields({ fields, manner }: ObjectNode): FieldListing {
  const isStruct = manner === 'struct';
  const all = Array.from(fields.values(), ({ name, node, presence, required }, index) => ({
    name,
    node,
    presence,
    required,
    index,
    scalar: isStruct && node.type === 'scalar' ? node : undefined,
    fillsIn: node.default !== undefined || (isStruct && presence === 'always'),
  }));
  const named = new Map(all.map((field) => [field.name, field]));
  return { all, named, fillers: all.filter(({ fillsIn }) => fillsIn) };
}

/** Whether an object with these keys, all of them fields, has them in wire order: nearly all have. */
export function areInWireOrder({ named }: FieldListing, keys: readonly string[]): boolean {
  let last = -1;
  for (let at = 0; at < keys.length; at++) {
    const index = named.get(keys[at] as string)?.index ?? -1;
    if (index <= last) return false;
    last = index;
  }
  return true;
}

type AllMembers = { readonly listing?: undefined } & { readonly [Key in KeyOfAny<Structural>]?: unknown };
type KeyOfAny<Node> = Node extends unknown ? keyof Node : never;

/**
 * A node with the members of all types of nodes, in one order: engines then know one form of node, and the walks over
 * schemas, which meet all of them at one place, read members from fixed places.
 */
export function uniform<Node extends Structural>(node: Node): Node {
  const given: AllMembers = node;
  const members: AllMembers = {
    type: given.type,
    goType: given.goType,
    checked: given.checked,
    default: given.default,
    nullable: given.nullable,
    scalar: given.scalar,
    manner: given.manner,
    goName: given.goName,
    fields: given.fields,
    // Made by the first walk; a copy may get other fields.
    listing: undefined,
    preserveUnknown: given.preserveUnknown,
    atomic: given.atomic,
    reusable: given.reusable,
    values: given.values,
    items: given.items,
    listType: given.listType,
    mapKeys: given.mapKeys,
    keyFallbacks: given.keyFallbacks,
    patchMergeKey: given.patchMergeKey,
    patchStrategy: given.patchStrategy,
  };
  return members as Node;
}
