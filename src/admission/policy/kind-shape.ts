/**
 * What expressions can see of the objects of a kind, as its published schema tells it: built-in kinds by their types,
 * custom kinds by their definitions. Quantities are left out, and with them lists and maps of quantities: their schema
 * allows more than one type.
 */
import { BOOL, BYTES, DOUBLE, DYN, INT, type SimpleType, STRING, TIMESTAMP } from '../../cel/types.js';
import { escapeName } from '../../crd/rules/escape.js';
import { type ObjectShape, type Shape, shapeOf } from '../../crd/rules/shape.js';
import { schemaView } from '../../crd/schema-view.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { ObjectNode, ScalarType, Structural } from '../../schema/structural.js';

const shapes = new WeakMap<ServedKind, ObjectShape>();

export function kindShape(served: ServedKind): ObjectShape {
  let shape = shapes.get(served);
  if (shape === undefined) {
    shape = readKind(served);
    shapes.set(served, shape);
  }
  return shape;
}

function readKind({ kind, schema, dialect }: ServedKind): ObjectShape {
  const whole = objectShape(schema, []);
  const given = kind.custom && shapeOf(schemaView(kind.custom.published, dialect), true);
  if (given?.kind !== 'object') return whole;
  // Definitions say little of metadata, but what is published has all of it.
  const fields = new Map(given.fields);
  for (const name of ['apiVersion', 'kind', 'metadata']) {
    const own = whole.fields.get(name);
    if (own !== undefined) fields.set(name, own);
  }
  return object(fields);
}

/** Estimates of costs go by sizes; nobody asks for them here. */
const UNSIZED = { maxElements: 0, minSize: 0 };

function object(fields: ReadonlyMap<string, Shape>): ObjectShape {
  return { kind: 'object', fields, ...UNSIZED };
}

/** `outer`: the types on the way here. A type inside of itself is an object of which nothing is known. */
function objectShape(node: ObjectNode, outer: readonly ObjectNode[]): ObjectShape {
  const fields = new Map<string, Shape>();
  if (outer.some(({ goName, fields: known }) => goName === node.goName && known === node.fields)) return object(fields);
  const inner = [...outer, node];
  for (const field of node.fields.values()) {
    const shape = nodeShape(field.node, inner);
    const name = escapeName(field.name);
    if (shape !== undefined && name !== undefined) fields.set(name, shape);
  }
  return object(fields);
}

function nodeShape(node: Structural, outer: readonly ObjectNode[]): Shape | undefined {
  switch (node.type) {
    case 'object':
      return objectShape(node, outer);
    case 'map': {
      const element = nodeShape(node.values, outer);
      return element && { kind: 'map', element, ...UNSIZED };
    }
    case 'list': {
      const element = nodeShape(node.items, outer);
      return element && { kind: 'list', element, ...UNSIZED };
    }
    case 'scalar': {
      const type = SCALARS[node.scalar];
      return type && { kind: 'scalar', type, ...UNSIZED };
    }
    case 'any':
      return UNTYPED_OBJECTS.has(node.goType) ? object(new Map()) : undefined;
  }
}

const SCALARS: Readonly<Partial<Record<ScalarType, SimpleType>>> = {
  string: STRING,
  int32: INT,
  int64: INT,
  number: DOUBLE,
  boolean: BOOL,
  bytes: BYTES,
  time: TIMESTAMP,
  microTime: TIMESTAMP,
  intOrString: DYN,
  duration: STRING,
};

const UNTYPED_OBJECTS: ReadonlySet<string> = new Set(['runtime.RawExtension', 'v1.FieldsV1']);
