/**
 * Compiles the validation rules of a whole schema into a tree. The tree contains only nodes with rules at or below
 * them, so that objects are walked no further than necessary.
 */

import {
  BOOL,
  CelError,
  type CelType,
  type CheckedExpression,
  compile,
  type Environment,
  estimateCost,
  optionalOf,
  type Program,
  plan,
  type Sizes,
  STRING,
} from '../../cel/index.js';
import type { ValidationRule } from '../../schema/json-schema.js';
import { findField } from '../definition/field-path.js';
import type { SchemaView } from '../schema-view.js';
import { additionalSchema } from '../schema-view.js';
import { type Shape, selfTypeOf, shapeOf, sizesOf, undefinedType } from './decl-type.js';
import { escapeName } from './escape.js';
import type { Reader } from './json-views.js';
import { readerOf } from './read-values.js';

/** Declares `self` and `oldSelf` of one node. */
class Scope {
  readonly sizes: Sizes;
  readonly #self: ReturnType<typeof selfTypeOf>;
  readonly #plain = new Map<Environment, Environment>();
  readonly #optional = new Map<Environment, Environment>();

  constructor(shape: Shape) {
    this.#self = selfTypeOf(shape);
    this.sizes = sizesOf(shape);
  }

  environment(base: Environment, oldSelfIsOptional: boolean): Environment {
    const known = oldSelfIsOptional ? this.#optional : this.#plain;
    let environment = known.get(base);
    if (environment === undefined) {
      const { type, provider } = this.#self;
      const oldSelf: CelType = oldSelfIsOptional ? optionalOf(type) : type;
      environment = base.extend({ variables: { self: type, oldSelf }, provider });
      known.set(base, environment);
    }
    return environment;
  }
}

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

/** A compiled validation rule. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent for an empty rule and for a rule with an error. */
  readonly program?: Program;
  readonly error?: string;
  /** True for a transition rule, which is evaluated only if there is an old value. */
  readonly usesOldSelf: boolean;
  /** The estimated maximum cost of one evaluation. */
  readonly maxCost: number;
  readonly message?: Program;
  readonly messageError?: string;
  readonly messageMaxCost: number;
  /** `fieldPath` relative to the node, as printed in errors: `ports`, `labels[app]`; empty for the node itself. */
  readonly fieldPath: string;
}

/**
 * Selects the environment for an expression: new expressions cannot use features that the previous release does not
 * support.
 */
export interface Environments {
  rule(text: string): Environment;
  message(text: string): Environment;
}

/** `declType` is the CEL type of the node. */
export function compileNodeRules(schema: SchemaView, shape: Shape, environments: Environments): CompiledRule[] {
  const scope = new Scope(shape);
  return schema.validations.map((rule) => compileRule(schema, rule, { scope, environments }));
}

interface About {
  readonly scope: Scope;
  readonly environments: Environments;
}

function compileRule(schema: SchemaView, rule: ValidationRule, { scope, environments }: About): CompiledRule {
  const nothing = { rule, usesOldSelf: false, maxCost: 0, messageMaxCost: 0, fieldPath: '' };
  if (rule.rule.trim() === '') return nothing;
  const optional = rule.optionalOldSelf === true;
  const expression = compileExpression(rule.rule, {
    environment: scope.environment(environments.rule(rule.rule), optional),
    sizes: scope.sizes,
    type: BOOL,
  });
  switch (expression.problem) {
    case 'text':
      return { ...nothing, error: `compilation failed: ${expression.text}` };
    case 'type':
      return { ...nothing, error: 'cel expression must evaluate to a bool' };
    case 'program':
      return { ...nothing, error: `program instantiation failed: ${expression.text}` };
  }
  const { program, usesOldSelf, maxCost } = expression;
  const message = compileMessage(rule.messageExpression ?? '', { scope, environments, optional });
  const compiled = { ...nothing, program, usesOldSelf, maxCost, ...message };
  if (compiled.messageError !== undefined) return compiled;
  return { ...compiled, fieldPath: printedPath(schema, rule.fieldPath ?? '') };
}

type Message = Partial<Pick<CompiledRule, 'message' | 'messageError' | 'messageMaxCost'>>;

function compileMessage(text: string, { scope, environments, optional }: About & { optional: boolean }): Message {
  if (text === '') return {};
  const expression = compileExpression(text, {
    environment: scope.environment(environments.message(text), optional),
    sizes: scope.sizes,
    type: STRING,
  });
  switch (expression.problem) {
    case 'text':
      return { messageError: `messageExpression compilation failed: ${expression.text}` };
    case 'type':
      return { messageError: 'messageExpression must evaluate to a string' };
    case 'program':
      return { messageError: `messageExpression instantiation failed: ${expression.text}` };
    default:
      return { message: expression.program, messageMaxCost: expression.maxCost };
  }
}

interface Expected {
  readonly environment: Environment;
  readonly sizes: Sizes;
  readonly type: CelType;
}

type Expression =
  | { readonly problem: 'text' | 'type' | 'program'; readonly text: string }
  | {
      readonly problem?: undefined;
      readonly program: Program;
      readonly maxCost: number;
      readonly usesOldSelf: boolean;
    };

function compileExpression(source: string, { environment, sizes, type }: Expected): Expression {
  const compiled = compile(source, environment);
  if (compiled.checked === undefined) return { problem: 'text', text: compiled.text };
  const { checked } = compiled;
  if (checked.resultType.kind !== type.kind) return { problem: 'type', text: '' };
  let usesOldSelf = false;
  for (const reference of checked.references.values()) {
    if (reference.type !== 'variable' || reference.value !== undefined) continue;
    if (reference.name === 'oldSelf') usesOldSelf = true;
    const missing = undefinedType(reference.name);
    if (missing !== undefined) return { problem: 'program', text: `reference to undefined type: ${missing}` };
  }
  const program = planned(checked, environment);
  if (typeof program === 'string') return { problem: 'program', text: program };
  return { program, maxCost: estimateCost(checked, environment, sizes).max, usesOldSelf };
}

/** Some expressions type-check but cannot be planned; they are rejected here. */
function planned(checked: CheckedExpression, environment: Environment): Program | string {
  try {
    return plan(checked, environment);
  } catch (error) {
    if (error instanceof CelError) return error.message;
    throw error;
  }
}

/** Prints a path as in errors: fields by name, map keys in brackets. Returns an empty string for an invalid path. */
function printedPath(schema: SchemaView, path: string): string {
  const found = path === '' ? '' : findField(schema, path, { brackets: true });
  if (typeof found === 'string') return '';
  let at: SchemaView = schema;
  let printed = '';
  for (const name of found.names) {
    const property = at.properties.get(name);
    printed += property === undefined ? `[${name}]` : `${printed === '' ? '' : '.'}${name}`;
    const inner = property ?? at.additionalProperties;
    if (typeof inner !== 'object') break;
    at = inner;
  }
  return printed;
}
