/**
 * A type provider for a schema. In addition to its objects, a schema has the simple types by name, as if they were
 * objects without fields: `timestamp` and `duration` are valid names only with a schema.
 */
import type { CelType, TypeProvider } from '../../../src/cel/types.js';
import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  TIMESTAMP,
  UINT,
} from '../../../src/cel/types.js';

const NAMED: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['bool', BOOL],
  ['bytes', BYTES],
  ['double', DOUBLE],
  ['duration', DURATION],
  ['int', INT],
  ['list', listOf(ANY)],
  ['map', mapOf(ANY, ANY)],
  ['null_type', NULL],
  ['string', STRING],
  ['timestamp', TIMESTAMP],
  ['uint', UINT],
]);

/** Creates a type provider for values with a schema. `objects` provides the objects of that schema. */
export function schemaProvider(objects: TypeProvider): TypeProvider {
  return {
    hasType: (name) => objects.hasType(name),
    fieldType: (typeName, field) => {
      if (objects.hasType(typeName)) return objects.fieldType(typeName, field);
      return typeName === 'map' ? ANY : undefined;
    },
    fieldNames: (typeName) => objects.fieldNames(typeName),
    namedType: (name) => NAMED.get(name),
    ...(objects.construct && { construct: objects.construct.bind(objects) }),
  };
}
