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
