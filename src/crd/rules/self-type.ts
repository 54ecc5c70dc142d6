/**
 * Names for the types of a shape. `self` has a name of its own, and what is inside it is named by the way to it:
 * `selfType1.spec`, `selfType1.ports.@idx` for the items of a list, `selfType1.rules.@elem` for the values of a map.
 * The names only show in messages; rules are not meant to use them.
 */
import type { CelType, TypeProvider } from '../../cel/types.js';
import { DURATION, listOf, mapOf, objectType, STRING, TIMESTAMP } from '../../cel/types.js';
import type { ObjectShape, Shape } from './shape.js';

export interface SelfType {
  readonly type: CelType;
  readonly provider: TypeProvider;
}

const SELF = 'selfType1';

/**
 * Names under which the reference server finds a type when it checks an expression, although nothing stands behind
 * them when it is evaluated. See {@link undefinedType}.
 */
const HOLLOW_TYPES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
]);

/**
 * The type of `self` for a schema of this shape, and what knows the fields below it. Types get their names on the way to
 * them, since a rule looks at little of a large schema. `name`: of the type, where it is not that of `self`.
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

/** The name of a type that an expression refers to in vain: it may be checked, but no program can be made of it. */
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
