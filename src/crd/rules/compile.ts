/**
 * Compiles the validation rules of a whole schema into a tree. The tree contains only nodes with rules at or below
 * them, so that objects are walked no further than necessary.
 */
import type { SchemaView } from '../schema-view.js';
import { additionalSchema } from '../schema-view.js';
import { type CompiledRule, compileNodeRules, type Environments } from './compile-rule.js';
import { escapeName } from './escape.js';
import type { Reader } from './map-views.js';
import { readerOf } from './read.js';
import { type Shape, shapeOf } from './shape.js';

/** A schema node with rules at or below it. */
export interface RuleNode {
  readonly schema: SchemaView;
  /** Converts the node's value to `self`. */
  readonly read: Reader;
  readonly rules: readonly CompiledRule[];
  /** True if a rule of this node is a transition rule. */
  readonly usesOldSelf: boolean;
  readonly properties: readonly (readonly [name: string, node: RuleNode])[];
  readonly additional?: RuleNode;
  readonly items?: RuleNode;
}

/** Returns undefined if the schema has no rules. `isRoot` is true for the schema of a whole resource. */
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

/**
 * The CEL type comes from the parent, because expressions see less of a resource's metadata than its schema may
 * specify.
 */
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

/** A property whose name cannot be used in expressions may still have its own rules. */
function propertyShape(shape: Shape, name: string, property: SchemaView): Shape | undefined {
  const escaped = escapeName(name);
  if (escaped === undefined) return shapeOf(property, property.embeddedResource);
  return shape.kind === 'object' ? shape.fields.get(escaped) : undefined;
}
