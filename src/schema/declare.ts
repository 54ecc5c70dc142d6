/**
 * Declares the types of built-in kinds. A declaration is a schema node and what the field that has it adds: whether it is
 * required and when it is on the wire. The modules in `kinds/generated` consist of calls of these functions, which are
 * generated from the tables in `kinds/types`. User-defined kinds are written in zod instead; see `from-zod.ts`.
 */
import { deepFreeze } from '../util/json.js';
import {
  type AnyNode,
  type Field,
  GO_TYPES,
  type ObjectNode,
  type Presence,
  presenceOf,
  type ScalarType,
  type SchemaNode,
  uniform,
} from './schema-node.js';

/** A type as a field declares it. */
export interface Declaration {
  readonly node: SchemaNode;
  /** Absent: derived from the type. */
  readonly presence?: Presence | undefined;
  readonly isOptional: boolean;
}

/** The fields of a struct in wire order. */
export type Shape = Readonly<Record<string, Declaration>>;

/** A named type, built on first call so that a cluster only pays for the kinds it uses. */
export type Type = () => Declaration;

/** Properties of a type or a field that the functions below do not set. */
export interface DeclarationHint {
  readonly goType?: string;
  readonly presence?: Presence;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keyFallbacks?: Readonly<Record<string, unknown>>;
  readonly patchMergeKey?: string;
  readonly patchStrategy?: string;
  readonly atomic?: boolean;
  /**
   * On structs: a stored value is reused as it is when it is written again. Kinds with such a struct only default and
   * change parts that are not frozen.
   */
  readonly reusable?: boolean;
}

/**
 * Declares a struct of the API. `goName` may include its package (default `v1`): `v1beta1.DeviceClaim`.
 *
 * @__NO_SIDE_EFFECTS__ Bundlers drop unused types.
 */
export function type(goName: string, shape: () => Shape, more: DeclarationHint = {}): Type {
  let declaration: Declaration | undefined;
  return () => {
    if (declaration === undefined) {
      const fields = new Map<string, Field>();
      // Assigned before the shape is evaluated, because a type may contain itself.
      declaration = hint(required(structNode(goName, fields)), more);
      addFields(fields, shape());
    }
    return declaration;
  };
}

/** A struct without a type of its own. */
export function struct(goName: string, shape: Shape): Declaration {
  return required(objectNode(goName, shape));
}

/** The schema node of a struct. */
export function objectNode(goName: string, shape: Shape): ObjectNode {
  const fields = new Map<string, Field>();
  addFields(fields, shape);
  return structNode(goName, fields);
}

function structNode(goName: string, fields: ReadonlyMap<string, Field>): ObjectNode {
  const dot = goName.indexOf('.');
  return uniform({
    type: 'object',
    representation: 'struct',
    goName: goName.slice(dot + 1),
    goType: dot < 0 ? `v1.${goName}` : goName,
    fields,
    preserveUnknown: false,
    atomic: false,
  });
}

function addFields(fields: Map<string, Field>, shape: Shape): void {
  for (const [name, { node, presence, isOptional }] of Object.entries(shape)) {
    fields.set(name, { name, node, presence: presence ?? presenceOf(node, isOptional), required: !isOptional });
  }
}

function required(node: SchemaNode): Declaration {
  return { node, presence: undefined, isOptional: false };
}

function scalar(scalarType: ScalarType, goType = GO_TYPES[scalarType]): Declaration {
  return required(uniform({ type: 'scalar', scalar: scalarType, goType }));
}

/** Sets further properties. The type itself is not changed. */
export function hint({ node, presence, isOptional }: Declaration, more: DeclarationHint): Declaration {
  const { presence: given = presence, ...ofNode } = more;
  const isSame = Object.keys(ofNode).length === 0;
  return { node: isSame ? node : uniform({ ...node, ...ofNode } as SchemaNode), presence: given, isOptional };
}

export const string = (): Declaration => scalar('string');
export const number = (): Declaration => scalar('number');
export const boolean = (): Declaration => scalar('boolean');
export const int32 = (): Declaration => scalar('int32');
export const int64 = (): Declaration => scalar('int64');
/** Base64 text of arbitrary bytes. */
export const bytes = (): Declaration => scalar('bytes');
/** RFC 3339, stored in whole seconds UTC. */
export const time = (): Declaration => scalar('time');
/** RFC 3339 with exactly six fractional digits. */
export const microTime = (): Declaration => scalar('microTime');
/** `1`, `500m`, `2Gi`, stored in canonical form. A number is accepted too. */
export const quantity = (): Declaration => scalar('quantity');
export const intOrString = (): Declaration => scalar('intOrString');
/** A string with its own Go type name. Validation of the kind decides which values are allowed. */
export const namedString = (goType: string): Declaration => scalar('string', goType);

/** Arbitrary JSON, stored as it is. */
export function anything(goType = 'interface {}'): Declaration {
  return required(uniform({ type: 'any', goType, atomic: true }));
}

/** JSON of a type with its own decoder, which may contain the struct. */
export function selfDecoding(decode: NonNullable<AnyNode['decode']>, struct?: Declaration): Declaration {
  const schema = struct?.node as ObjectNode | undefined;
  const node: AnyNode = { type: 'any', goType: 'interface {}', atomic: true, decode, ...(schema && { schema }) };
  return required(uniform(node));
}

/** An embedded document of any kind, stored as it is. */
export const rawExtension = (): Declaration => anything('runtime.RawExtension');

/** An object with arbitrary keys. */
export function map({ node: values }: Declaration, goType = `map[string]${values.goType}`): Declaration {
  return required(uniform({ type: 'map', values, goType, atomic: false }));
}

/** Quantities by resource name. */
export const resourceList = (): Declaration => map(quantity(), 'v1.ResourceList');

/** A list that apply replaces as a whole. */
export function list({ node: items }: Declaration): Declaration {
  const goType = `[]${items.goType}`;
  return required(uniform({ type: 'list', items, goType, listType: 'atomic', mapKeys: [] }));
}

/**
 * A list of structs that apply and strategic merge merge item by item: items with the same values of `keys` are the
 * same item. Strategic merge uses the first key.
 */
export function mapList(item: Declaration, keys: string | readonly string[]): Declaration {
  const merged = applyMapList(item, keys);
  const [patchMergeKey = ''] = typeof keys === 'string' ? [keys] : keys;
  return hint(merged, { patchMergeKey, patchStrategy: 'merge' });
}

/** A list that only apply merges, by the values of `keys`; strategic merge replaces it. */
export function applyMapList({ node: items }: Declaration, keys: string | readonly string[]): Declaration {
  const mapKeys = typeof keys === 'string' ? [keys] : keys;
  return required(uniform({ type: 'list', items, goType: `[]${items.goType}`, listType: 'map', mapKeys }));
}

/** A list of unique scalars, each of which has its own owners. */
export const setList = (item: Declaration): Declaration => hint(list(item), { listType: 'set' });

/** A struct or a map that apply replaces as a whole. */
export const atomic = (whole: Declaration): Declaration => hint(whole, { atomic: true });

/** Optional, and omitted from the wire if empty. */
export function optional({ node, presence }: Declaration): Declaration {
  return { node, presence, isOptional: true };
}

/** Optional, and on the wire whenever it was given, empty or not. */
export function pointer({ node }: Declaration): Declaration {
  return { node, presence: 'pointer', isOptional: true };
}

/**
 * A required field that is a pointer in Go: decoding accepts its absence, because validation reports the missing value
 * with its own message.
 */
export function requiredPointer({ node, isOptional }: Declaration): Declaration {
  return { node, presence: 'pointer', isOptional };
}

/** Optional in input; always on the wire, with its zero value if absent. */
export function always({ node }: Declaration): Declaration {
  return { node, presence: 'always', isOptional: true };
}

/** An explicit null is kept. */
export function nullable({ node, presence, isOptional }: Declaration): Declaration {
  return { node: uniform({ ...node, nullable: true }), presence, isOptional };
}

/** A time that is `null` on the wire if it was not given. */
export const timeOrNull = (): Declaration => always(nullable(time()));

/** The default applies if the field is absent or empty. */
export function defaulted({ node }: Declaration, value: unknown): Declaration {
  return { node: withDefault(node, value), presence: 'omitEmpty', isOptional: true };
}

/** The default applies if the field is absent; an empty value that was given is kept. */
export function defaultedPointer({ node }: Declaration, value: unknown): Declaration {
  return { node: withDefault(node, value), presence: 'pointer', isOptional: true };
}

function withDefault(node: SchemaNode, value: unknown): SchemaNode {
  return uniform({ ...node, default: deepFreeze(value) });
}
