/**
 * The rules of a whole schema, ready to run. Only the parts of the schema that have rules below them are in the tree, so
 * that an object is walked no further than there is something to check.
 */
import type { SchemaView } from '../schema-view.js';
import { additionalSchema } from '../schema-view.js';
import { type CompiledRule, compileNodeRules, type Environments } from './compile-rule.js';
import { escapeName } from './escape.js';
import type { Reader } from './map-views.js';
import { readerOf } from './read.js';
import { type Shape, shapeOf } from './shape.js';

/** A node of a schema with rules at it or below it. */
export interface RuleNode {
  readonly schema: SchemaView;
  /** Makes `self` of the node's value. */
  readonly read: Reader;
  readonly rules: readonly CompiledRule[];
  /** Whether some rule of this node is about a change. */
  readonly usesOldSelf: boolean;
  readonly properties: readonly (readonly [name: string, node: RuleNode])[];
  readonly additional?: RuleNode;
  readonly items?: RuleNode;
}

/**
 * Undefined when there are no rules in the schema: then there is nothing to run. `isRoot` is true for the schema of a
 * whole resource.
 */
export function compileRules(root: SchemaView, isRoot: boolean, environments: Environments): RuleNode | undefined {
  if (!hasRules(root)) return undefined;
  return compileNode(root, shapeOf(root, isRoot), { isRoot, environments });
}

function hasRules(schema: SchemaView): boolean {
  if (schema.validations.length > 0) return true;
  const inner = [schema.items, additionalSchema(schema), ...schema.properties.values()];
  return inner.some((other) => other !== undefined && hasRules(other));
}

interface Place {
  readonly isRoot: boolean;
  readonly environments: Environments;
}

/** The shape comes from above, because what a resource says about its own metadata is not what expressions see of them. */
function compileNode(schema: SchemaView, shape: Shape | undefined, place: Place): RuleNode | undefined {
  if (shape === undefined) return undefined;
  const inside = (inner: SchemaView | undefined, itsShape: Shape | undefined) =>
    inner && compileNode(inner, itsShape, { ...place, isRoot: inner.embeddedResource });
  const element = shape.kind === 'list' || shape.kind === 'map' ? shape.element : undefined;
  const items = inside(schema.items, element);
  const additional = inside(additionalSchema(schema), element);
  const properties: [string, RuleNode][] = [];
  for (const [name, property] of schema.properties) {
    const node = inside(property, propertyShape(shape, name, property));
    if (node !== undefined) properties.push([name, node]);
  }
  const rules = compileNodeRules(schema, shape, place.environments);
  if (rules.length === 0 && items === undefined && additional === undefined && properties.length === 0)
    return undefined;
  return {
    schema,
    read: readerOf(schema, place.isRoot),
    rules,
    usesOldSelf: rules.some(({ usesOldSelf }) => usesOldSelf),
    properties,
    ...(additional === undefined ? {} : { additional }),
    ...(items === undefined ? {} : { items }),
  };
}

/** A property that no expression can name may still have rules of its own. */
function propertyShape(shape: Shape, name: string, property: SchemaView): Shape | undefined {
  const escaped = escapeName(name);
  if (escaped === undefined) return shapeOf(property, property.embeddedResource);
  return shape.kind === 'object' ? shape.fields.get(escaped) : undefined;
}
