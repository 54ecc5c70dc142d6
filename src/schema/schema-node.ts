/**
 * The schema tree that all generic code uses: decoding, defaulting, pruning, field ownership, strategic merge,
 * OpenAPI. It is created once per kind, from the declaration of a built-in kind (`declare.ts`), from zod (`from-zod.ts`)
 * or from a CRD, and is immutable.
 *
 * There are two representations. Built-in kinds are `struct`s: like Go structs of the reference server, they omit empty
 * optional fields and always contain required structs. User-defined kinds are `document`s: they are stored as sent.
 */

/** A node of the schema tree. */
export type SchemaNode = ObjectNode | MapNode | ListNode | ScalarNode | AnyNode;

interface NodeBase {
  /** The Go type in decoding errors: `string`, `map[string]string`, `v1.SecretType`. */
  readonly goType: string;
  /** Applied if the field is absent. A frozen JSON value. */
  readonly default?: unknown;
  /** Only in documents: an explicit null is kept. */
  readonly nullable?: boolean;
}

/** An object with declared fields. */
export interface ObjectNode extends NodeBase {
  readonly type: 'object';
  readonly representation: 'struct' | 'document';
  /** The name in decoding errors: `LeaseSpec`. */
  readonly goName: string;
  /** In wire order. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly preserveUnknown: boolean;
  /** Apply replaces it as a whole. */
  readonly atomic: boolean;
  /** Strategic merge patch: `retainKeys`. */
  readonly patchStrategy?: string;
  /** A stored value is reused when it is written again; see `reuse.ts`. */
  readonly reusable?: boolean;
}

/**
 * When a field of a struct is on the wire:
 * - `always`: even if empty, as its zero value
 * - `omitEmpty`: unless empty (`""`, `0`, `false`, `[]`, `{}`)
 * - `pointer`: whenever it was given
 * - `given`: like `pointer`, but an empty object of the kind has the zero value, like `always`
 */
export type Presence = 'always' | 'omitEmpty' | 'pointer' | 'given';

/** When a field is on the wire unless it declares otherwise. */
export function presenceOf({ type }: SchemaNode, isOptional: boolean): Presence {
  if (!isOptional) return 'always';
  return type === 'object' ? 'pointer' : 'omitEmpty';
}

/** A declared field. */
export interface Field {
  readonly name: string;
  readonly node: SchemaNode;
  readonly presence: Presence;
  /** Required in input. */
  readonly required: boolean;
}

/** An object with arbitrary keys. */
export interface MapNode extends NodeBase {
  readonly type: 'map';
  readonly values: SchemaNode;
  readonly atomic: boolean;
}

/** A list. */
export interface ListNode extends NodeBase {
  readonly type: 'list';
  readonly items: SchemaNode;
  /** docs/specification.md R0.7. How apply and strategic merge treat the list. */
  readonly listType: 'atomic' | 'set' | 'map';
  readonly mapKeys: readonly string[];
  /** Values for keys that an item omits, if they are not the defaults of the fields. */
  readonly keyFallbacks?: Readonly<Record<string, unknown>>;
  /** Strategic merge patch: the merge key, if the list is merged. */
  readonly patchMergeKey?: string;
  readonly patchStrategy?: string;
}

/** The types of scalars. */
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

/** The Go types of scalars. */
export const GO_TYPES: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  number: 'float64',
  boolean: 'bool',
  bytes: '[]uint8',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  duration: 'v1.Duration',
};

/** A scalar. */
export interface ScalarNode extends NodeBase {
  readonly type: 'scalar';
  readonly scalar: ScalarType;
  /** Published for some fields with bytes, which are a list in the reference server. */
  readonly listType?: 'atomic';
}

/** Arbitrary JSON (a raw extension, an embedded document), stored as it is. */
export interface AnyNode extends NodeBase {
  readonly type: 'any';
  /** Apply replaces it as a whole; otherwise nested maps are merged. */
  readonly atomic: boolean;
  /** The decoder of a type that has its own; it returns undefined for a value that is not on the wire. */
  readonly decode?: (value: unknown, depth: number, schema: ObjectNode | undefined) => unknown;
  /** A struct that such a value may be. */
  readonly schema?: ObjectNode;
}

/** A field with precomputed properties for fast walks. */
export interface ListedField extends Field {
  /** The index in wire order. */
  readonly index: number;
  /** The node if it is a scalar of a struct; most scalars are on the wire exactly as given. */
  readonly scalar: ScalarNode | undefined;
  /** An absent field gets a default or a zero value. */
  readonly fillsIn: boolean;
}

/** The fields of a node in the forms that walks over objects need, which spend much of their time iterating. */
export interface FieldListing {
  /** In wire order. */
  readonly all: readonly ListedField[];
  readonly named: ReadonlyMap<string, ListedField>;
  /** The fields that are filled in if absent, in wire order. */
  readonly fillers: readonly ListedField[];
}

/** Returns the listing of a node, created on first use. */
export function listingOf(node: ObjectNode): FieldListing {
  const listed = node as ObjectNode & { listing?: FieldListing | undefined };
  listed.listing ??= listFields(node);
  return listed.listing;
}

/** The fields of a node in wire order. */
export function fieldsOf(node: ObjectNode): readonly ListedField[] {
  return listingOf(node).all;
}

function listFields({ fields, representation }: ObjectNode): FieldListing {
  const isStruct = representation === 'struct';
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

/** Reports whether an object with these keys has only known fields, in wire order; almost all objects do. */
export function areInWireOrder({ named }: FieldListing, keys: readonly string[]): boolean {
  let last = -1;
  for (let at = 0; at < keys.length; at++) {
    const index = named.get(keys[at] as string)?.index ?? -1;
    if (index <= last) return false;
    last = index;
  }
  return true;
}

/** Whether a node or one inside of it matches; the results are kept. */
export function searchIn(matches: (node: SchemaNode) => boolean): (node: SchemaNode) => boolean {
  const known = new WeakMap<SchemaNode, boolean>();
  const find = (node: SchemaNode, seen: Set<SchemaNode>): boolean => {
    // A schema may contain itself.
    if (seen.has(node)) return false;
    seen.add(node);
    return known.get(node) ?? (matches(node) || childrenOf(node).some((child) => find(child, seen)));
  };
  return (node) => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const found = find(node, new Set());
    known.set(node, found);
    return found;
  };
}

function childrenOf(node: SchemaNode): readonly SchemaNode[] {
  if (node.type === 'list') return [node.items];
  if (node.type === 'map') return [node.values];
  return node.type === 'object' ? Array.from(node.fields.values(), (field) => field.node) : [];
}

type AllMembers = { readonly listing?: undefined } & { readonly [Key in KeyOfAny<SchemaNode>]?: unknown };
type KeyOfAny<Node> = Node extends unknown ? keyof Node : never;

/**
 * Creates a node with the members of all node types in one order, so that all nodes have the same hidden class and
 * walks over schemas stay monomorphic.
 */
export function uniform<Node extends SchemaNode>(node: Node): Node {
  const given: AllMembers = node;
  const members: AllMembers = {
    type: given.type,
    goType: given.goType,
    default: given.default,
    nullable: given.nullable,
    scalar: given.scalar,
    representation: given.representation,
    goName: given.goName,
    fields: given.fields,
    // Created by the first walk; reset, because a copy may get other fields.
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
    decode: given.decode,
    schema: given.schema,
  };
  return members as Node;
}
