/**
 * The types of a schema as expressions see them. Beside its objects, a schema knows the simple types by name, as if they
 * were objects without fields: `timestamp` and `duration` can be written where a schema is, and nowhere else.
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

/** For environments of expressions about values with a schema. `objects` knows the objects of that schema. */
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
