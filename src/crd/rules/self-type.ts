/**
 * Names for the types of `self`. Nested types are named by their path: `selfType1.spec`, `selfType1.ports.@idx` for
 * list items, `selfType1.rules.@elem` for map values. The names only occur in messages; rules are not meant to use
 * them.
 */
import {
  type CelType,
  DURATION,
  listOf,
  mapOf,
  objectType,
  STRING,
  TIMESTAMP,
  type TypeProvider,
} from '../../cel/index.js';
import type { ObjectShape, Shape } from './shape.js';

export interface SelfType {
  readonly type: CelType;
  readonly provider: TypeProvider;
}

const SELF = 'selfType1';

/**
 * Type names that the reference server resolves when it checks an expression, although they have no value when it is
 * evaluated. See {@link undefinedType}.
 */
const HOLLOW_TYPES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
]);

/**
 * The type of `self` for a node, and a type provider for the fields below it. Types are named lazily, because a rule
 * uses little of a large schema. `name` is the type name, if it is not that of `self`.
 */
export function selfTypeOf(shape: Shape, name = SELF): SelfType {
  const objects = new Map<string, ObjectShape>();
  return {
    type: typeNamed(shape, name, objects),
    provider: {
      hasType: (name) => objects.has(name),
      namedType: (name) => HOLLOW_TYPES.get(name),
      fieldType(typeName, field) {
        const inner = objects.get(typeName)?.fields.get(field);
        return inner && typeNamed(inner, `${typeName}.${field}`, objects);
      },
      fieldNames: (typeName) => [...(objects.get(typeName)?.fields.keys() ?? [])],
    },
  };
}

/** Returns the name of a type that can be checked but not evaluated: no program can be created for it. */
export function undefinedType(name: string): string | undefined {
  return HOLLOW_TYPES.has(name) || name === SELF || name.startsWith(`${SELF}.`) ? name : undefined;
}

function typeNamed(shape: Shape, name: string, objects: Map<string, ObjectShape>): CelType {
  switch (shape.kind) {
    case 'scalar':
      return shape.type;
    case 'object':
      objects.set(name, shape);
      return objectType(name);
    case 'list':
      return listOf(typeNamed(shape.element, `${name}.@idx`, objects));
    case 'map':
      return mapOf(STRING, typeNamed(shape.element, `${name}.@elem`, objects));
  }
}
