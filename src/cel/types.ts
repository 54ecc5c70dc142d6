/**
 * Types of expressions. A type is compared by structure; objects are known by name, and a {@link TypeProvider} knows
 * their fields.
 */
export type CelType = SimpleType | ListType | MapType | ObjectType | OpaqueType | TypeParam | TypeOfType | WrapperType;

export interface SimpleType {
  readonly kind:
    | 'bool'
    | 'int'
    | 'uint'
    | 'double'
    | 'string'
    | 'bytes'
    | 'null'
    | 'timestamp'
    | 'duration'
    | 'any'
    | 'dyn'
    | 'error';
}

export interface ListType {
  readonly kind: 'list';
  readonly element: CelType;
}

export interface MapType {
  readonly kind: 'map';
  readonly key: CelType;
  readonly value: CelType;
}

/** Something with fields, such as a node of a schema or a message. */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
}

/** A type of a library: `optional_type(T)`, `net.IP`. */
export interface OpaqueType {
  readonly kind: 'opaque';
  readonly name: string;
  readonly params: readonly CelType[];
}

/** `T` in a declaration. */
export interface TypeParam {
  readonly kind: 'param';
  readonly name: string;
}

/** The type of a type; `of` is absent where it is not known which. */
export interface TypeOfType {
  readonly kind: 'type';
  readonly of?: CelType;
}

/** A primitive that may be null. */
export interface WrapperType {
  readonly kind: 'wrapper';
  readonly of: SimpleType;
}

const simple = (kind: SimpleType['kind']): SimpleType => Object.freeze({ kind });

export const BOOL = simple('bool');
export const INT = simple('int');
export const UINT = simple('uint');
export const DOUBLE = simple('double');
export const STRING = simple('string');
export const BYTES = simple('bytes');
export const NULL = simple('null');
export const TIMESTAMP = simple('timestamp');
export const DURATION = simple('duration');
export const ANY = simple('any');
export const DYN = simple('dyn');
/** Of an expression that is wrong: nothing more is said about what it stands in. */
export const ERROR = simple('error');
export const TYPE: TypeOfType = Object.freeze({ kind: 'type' });

export const listOf = (element: CelType): ListType => ({ kind: 'list', element });
export const mapOf = (key: CelType, value: CelType): MapType => ({ kind: 'map', key, value });
export const objectType = (name: string): ObjectType => ({ kind: 'object', name });
export const opaqueType = (name: string, ...params: CelType[]): OpaqueType => ({ kind: 'opaque', name, params });
export const typeParam = (name: string): TypeParam => ({ kind: 'param', name });
export const typeOf = (of: CelType): TypeOfType => ({ kind: 'type', of });
export const wrapperOf = (of: SimpleType): WrapperType => ({ kind: 'wrapper', of });
export const optionalOf = (value: CelType): OpaqueType => opaqueType('optional_type', value);

/** Knows the object types of an environment. */
export interface TypeProvider {
  /** True for a name under which an object type is known. */
  hasType(name: string): boolean;
  /** Undefined for a field that the type does not have. */
  fieldType(typeName: string, field: string): CelType | undefined;
  fieldNames(typeName: string): readonly string[];
  /** Types that are no objects but may be written by a name, beside those that libraries bring as variables. */
  namedType?(name: string): CelType | undefined;
  /** Makes `name{field: value}`; absent: objects of these types cannot be made. */
  construct?(
    typeName: string,
    fields: ReadonlyMap<string, import('./values.js').CelValue>,
  ): import('./values.js').CelValue;
}

/** As messages of the checker show a type: `map(string, list(int))`, `wrapper(int)`, `timestamp`. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.element)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case 'object':
    case 'param':
      return type.name;
    case 'opaque':
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(', ')})`;
    case 'type':
      return type.of === undefined ? 'type' : `type(${formatType(type.of)})`;
    case 'wrapper':
      return `wrapper(${formatType(type.of)})`;
    case 'error':
      return '!error!';
    default:
      return type.kind;
  }
}

/** The name a type has when an expression runs, which says nothing of what a list, a map or an optional value holds. */
export function typeName(type: CelType): string {
  switch (type.kind) {
    case 'object':
    case 'param':
    case 'opaque':
      return type.name;
    case 'wrapper':
      return typeName(type.of);
    case 'any':
      return 'google.protobuf.Any';
    case 'duration':
      return 'google.protobuf.Duration';
    case 'timestamp':
      return 'google.protobuf.Timestamp';
    case 'null':
      return 'null_type';
    default:
      return type.kind;
  }
}

/** The name of a type with a note when it may be null. */
export function declaredName(type: CelType): string {
  return type.kind === 'wrapper' ? `wrapper(${typeName(type)})` : typeName(type);
}

/** As the reference prints a type outside of the checker: `google.protobuf.Timestamp`, `map(string, null_type)`. */
export function describeType(type: CelType): string {
  const params = typeParams(type);
  const name = declaredName(type);
  return params.length === 0 ? name : `${name}(${params.map(describeType).join(', ')})`;
}

/** What a type is made of. */
export function typeParams(type: CelType): readonly CelType[] {
  switch (type.kind) {
    case 'list':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'opaque':
      return type.params;
    case 'type':
      return type.of === undefined ? [] : [type.of];
    default:
      return [];
  }
}

/** The arguments of a call: `(string, int)`, or `string.(int)` of a call with a receiver. */
export function formatArguments(types: readonly CelType[], member: boolean): string {
  const texts = types.map(formatType);
  return member ? `${texts[0]}.(${texts.slice(1).join(', ')})` : `(${texts.join(', ')})`;
}
