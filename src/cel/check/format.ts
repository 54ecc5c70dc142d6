/** Types as texts. */
import type { CelType } from '../types.js';

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
