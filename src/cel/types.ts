/**
 * Types of expressions. Types are compared by structure; object types are identified by name, and a {@link
 * TypeProvider} supplies their fields.
 */
import type { CelBytes, CelDuration, CelList, CelOptional, CelTimestamp, CelUint, CelValue } from './values.js';

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

/** A type with fields, such as a schema node or a protobuf message. */
export interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
}

/** A type that a library declares: `optional_type(T)`, `net.IP`. */
export interface OpaqueType {
  readonly kind: 'opaque';
  readonly name: string;
  readonly params: readonly CelType[];
}

/** A type parameter, such as `T` in a declaration. */
export interface TypeParam {
  readonly kind: 'param';
  readonly name: string;
}

/** The type of a type value; `of` is absent if the type is unknown. */
export interface TypeOfType {
  readonly kind: 'type';
  readonly of?: CelType;
}

/** A nullable primitive. */
export interface WrapperType {
  readonly kind: 'wrapper';
  readonly of: SimpleType;
}

declare const VALUE: unique symbol;

/** Associates a type with the TypeScript type of its values, for the arguments of library functions. */
export interface HasValues<Value> {
  readonly [VALUE]?: Value;
}

const simple = <Value = CelValue>(kind: SimpleType['kind']): SimpleType & HasValues<Value> => Object.freeze({ kind });

export const BOOL = simple<boolean>('bool');
export const INT = simple<bigint>('int');
export const UINT = simple<CelUint>('uint');
export const DOUBLE = simple<number>('double');
export const STRING = simple<string>('string');
export const BYTES = simple<CelBytes>('bytes');
export const NULL = simple<null>('null');
export const TIMESTAMP = simple<CelTimestamp>('timestamp');
export const DURATION = simple<CelDuration>('duration');
export const ANY = simple('any');
export const DYN = simple('dyn');
/** The type of an erroneous expression. It matches everything, so that one mistake is reported once. */
export const ERROR = simple('error');
export const TYPE: TypeOfType = Object.freeze({ kind: 'type' });

export const listOf = (element: CelType): ListType & HasValues<CelList> => ({ kind: 'list', element });
export const mapOf = (key: CelType, value: CelType): MapType => ({ kind: 'map', key, value });
export const objectType = <Value = CelValue>(name: string): ObjectType & HasValues<Value> => ({ kind: 'object', name });
export const opaqueType = <Value = CelValue>(name: string, ...params: CelType[]): OpaqueType & HasValues<Value> => ({
  kind: 'opaque',
  name,
  params,
});
export const typeParam = (name: string): TypeParam => ({ kind: 'param', name });
export const typeOf = (of: CelType): TypeOfType => ({ kind: 'type', of });
export const wrapperOf = (of: SimpleType): WrapperType => ({ kind: 'wrapper', of });
export const optionalOf = (value: CelType) => opaqueType<CelOptional>('optional_type', value);

/** Supplies the object types of an environment. */
export interface TypeProvider {
  /** Whether an object type with this name exists. */
  hasType(name: string): boolean;
  /** The type of a field; undefined if the type does not have it. */
  fieldType(typeName: string, field: string): CelType | undefined;
  fieldNames(typeName: string): readonly string[];
  /** Non-object types that expressions may refer to by name, in addition to type names from libraries. */
  namedType?(name: string): CelType | undefined;
  /** Constructs `name{field: value}`. If absent, expressions cannot construct these objects. */
  construct?(typeName: string, fields: ReadonlyMap<string, CelValue>): CelValue;
}

/** Formats a type as checker messages do: `map(string, list(int))`, `wrapper(int)`, `timestamp`. */
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

/** The runtime name of a type, without type parameters. Types with the same name are equal at run time. */
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

/** The name of a type, marked as `wrapper(…)` if nullable. */
export function declaredName(type: CelType): string {
  return type.kind === 'wrapper' ? `wrapper(${typeName(type)})` : typeName(type);
}

/** Formats a type as cel-go does outside of checker messages: `google.protobuf.Timestamp`, `map(string, null_type)`. */
export function describeType(type: CelType): string {
  const params = typeParams(type);
  const name = declaredName(type);
  return params.length === 0 ? name : `${name}(${params.map(describeType).join(', ')})`;
}

/** The type parameters of a type. */
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

/** Formats argument types: `(string, int)`, or `string.(int)` for a member call. */
export function formatArguments(types: readonly CelType[], member: boolean): string {
  const texts = types.map(formatType);
  return member ? `${texts[0]}.(${texts.slice(1).join(', ')})` : `(${texts.join(', ')})`;
}
