/**
 * Compiles the validation rules of a schema into a tree. The tree contains only nodes with rules at or below them, so
 * that objects are walked no further than necessary. Compilation errors are kept in the result: they are reported when
 * the CRD is validated, and for every object if a stored CRD has an invalid rule.
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
  type SizeEstimator,
  STRING,
  storedExpressionsEnvironment,
} from '../../cel/index.js';
import type { ValidationRule } from '../../schema/json-schema.js';
import { getOrInsertComputed } from '../../util/once.js';
import { findField } from '../definition/field-path.js';
import { additionalSchema, memberSchemas, type StructuralSchema } from '../structural-schema.js';
import { type DeclType, declTypeOf, isUndefinedType, selfTypeOf, sizeEstimatesOf } from './decl-type.js';
import { escapeName } from './escape.js';
import type { CelReader } from './json-views.js';
import { celReaderOf } from './read-values.js';

/** A schema node with rules at or below it. */
export interface RuleNode {
  readonly schema: StructuralSchema;
  /** Converts the node's value to `self`. */
  readonly read: CelReader;
  readonly rules: readonly CompiledRule[];
  /** True if a rule of this node is a transition rule. */
  readonly usesOldSelf: boolean;
  readonly properties: readonly (readonly [name: string, node: RuleNode])[];
  readonly additional?: RuleNode;
  readonly items?: RuleNode;
}

/** A compiled validation rule. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent for an empty rule and for a rule with an error. */
  readonly program?: Program;
  readonly error?: string;
  /** True for a transition rule, which is evaluated only if there is an old value or it sets `optionalOldSelf`. */
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
export interface EnvironmentSelector {
  rule(text: string): Environment;
  message(text: string): Environment;
}

/** For expressions of accepted CRDs. */
export const STORED_ENVIRONMENTS: EnvironmentSelector = {
  rule: storedExpressionsEnvironment,
  message: storedExpressionsEnvironment,
};

/** Returns undefined if the schema has no rules. `isRoot` is true for the schema of a whole resource. */
export function compileRules(root: StructuralSchema, isRoot: boolean): RuleNode | undefined {
  return hasRules(root) ? compileNode(root, declTypeOf(root, isRoot), isRoot) : undefined;
}

function hasRules(schema: StructuralSchema): boolean {
  return schema.validations.length > 0 || memberSchemas(schema).some(hasRules);
}

/**
 * The CEL type comes from the parent, because expressions see less of a resource's metadata than its schema may
 * specify.
 */
function compileNode(schema: StructuralSchema, declType: DeclType | undefined, isRoot: boolean): RuleNode | undefined {
  if (declType === undefined) return undefined;
  const inside = (inner: StructuralSchema | undefined, innerType: DeclType | undefined) =>
    inner && compileNode(inner, innerType, inner.embeddedResource);
  const element = declType.kind === 'list' || declType.kind === 'map' ? declType.element : undefined;
  const items = inside(schema.items, element);
  const additional = inside(additionalSchema(schema), element);
  const properties: [string, RuleNode][] = [];
  for (const [name, property] of schema.properties) {
    const node = inside(property, propertyDeclType(declType, name, property));
    if (node !== undefined) properties.push([name, node]);
  }
  const rules = compileNodeRules(schema, declType, STORED_ENVIRONMENTS);
  if (rules.length === 0 && items === undefined && additional === undefined && properties.length === 0)
    return undefined;
  return {
    schema,
    read: celReaderOf(schema, isRoot),
    rules,
    usesOldSelf: rules.some(({ usesOldSelf }) => usesOldSelf),
    properties,
    ...(additional === undefined ? {} : { additional }),
    ...(items === undefined ? {} : { items }),
  };
}

/** A property whose name cannot be used in expressions may still have its own rules. */
function propertyDeclType(declType: DeclType, name: string, property: StructuralSchema): DeclType | undefined {
  const escaped = escapeName(name);
  if (escaped === undefined) return declTypeOf(property, property.embeddedResource);
  return declType.kind === 'object' ? declType.fields.get(escaped) : undefined;
}

/** `declType` is the CEL type of the node. */
export function compileNodeRules(
  schema: StructuralSchema,
  declType: DeclType,
  environments: EnvironmentSelector,
): CompiledRule[] {
  const declarations = new RuleDeclarations(declType);
  return schema.validations.map((rule) => compileRule(schema, rule, { declarations, environments }));
}

/** Declares `self` and `oldSelf` of one node. */
class RuleDeclarations {
  readonly sizes: SizeEstimator;
  readonly #self: ReturnType<typeof selfTypeOf>;
  readonly #withOldSelf = new Map<Environment, Environment>();
  readonly #withOptionalOldSelf = new Map<Environment, Environment>();

  constructor(declType: DeclType) {
    this.#self = selfTypeOf(declType);
    this.sizes = sizeEstimatesOf(declType);
  }

  environment(base: Environment, oldSelfIsOptional: boolean): Environment {
    const extended = oldSelfIsOptional ? this.#withOptionalOldSelf : this.#withOldSelf;
    const { type, provider } = this.#self;
    const oldSelf: CelType = oldSelfIsOptional ? optionalOf(type) : type;
    return getOrInsertComputed(extended, base, () => base.extend({ variables: { self: type, oldSelf }, provider }));
  }
}

interface RuleContext {
  readonly declarations: RuleDeclarations;
  readonly environments: EnvironmentSelector;
}

function compileRule(
  schema: StructuralSchema,
  rule: ValidationRule,
  { declarations, environments }: RuleContext,
): CompiledRule {
  const base = { rule, usesOldSelf: false, maxCost: 0, messageMaxCost: 0, fieldPath: '' };
  if (rule.rule.trim() === '') return base;
  const optional = rule.optionalOldSelf === true;
  const environment = (given: Environment) => declarations.environment(given, optional);
  const expression = compileExpression(rule.rule, environment(environments.rule(rule.rule)), declarations, RULE);
  if (typeof expression === 'string') return { ...base, error: expression };
  const { program, usesOldSelf, maxCost } = expression;
  const compiled = { ...base, program, usesOldSelf, maxCost };
  const text = rule.messageExpression ?? '';
  const message =
    text === ''
      ? undefined
      : compileExpression(text, environment(environments.message(text)), declarations, MESSAGE_EXPRESSION);
  if (typeof message === 'string') return { ...compiled, messageError: message };
  return {
    ...compiled,
    ...(message === undefined ? {} : { message: message.program, messageMaxCost: message.maxCost }),
    fieldPath: printFieldPath(schema, rule.fieldPath ?? ''),
  };
}

/** The result type of a kind of expressions, and the errors of expressions that cannot be used. */
interface ExpressionKind {
  readonly type: CelType;
  readonly wrongType: string;
  readonly compilation: string;
  readonly instantiation: string;
}

const RULE: ExpressionKind = {
  type: BOOL,
  wrongType: 'cel expression must evaluate to a bool',
  compilation: 'compilation failed',
  instantiation: 'program instantiation failed',
};
const MESSAGE_EXPRESSION: ExpressionKind = {
  type: STRING,
  wrongType: 'messageExpression must evaluate to a string',
  compilation: 'messageExpression compilation failed',
  instantiation: 'messageExpression instantiation failed',
};

/** Returns the error if the expression cannot be used. */
function compileExpression(
  source: string,
  environment: Environment,
  { sizes }: RuleDeclarations,
  { type, wrongType, compilation, instantiation }: ExpressionKind,
): (Required<Pick<CompiledRule, 'program'>> & Pick<CompiledRule, 'maxCost' | 'usesOldSelf'>) | string {
  const compiled = compile(source, environment);
  if (compiled.checked === undefined) return `${compilation}: ${compiled.text}`;
  const { checked } = compiled;
  if (checked.resultType.kind !== type.kind) return wrongType;
  let usesOldSelf = false;
  for (const reference of checked.references.values()) {
    if (reference.type !== 'variable' || reference.value !== undefined) continue;
    if (reference.name === 'oldSelf') usesOldSelf = true;
    if (isUndefinedType(reference.name)) return `${instantiation}: reference to undefined type: ${reference.name}`;
  }
  const program = planExpression(checked, environment);
  if (typeof program === 'string') return `${instantiation}: ${program}`;
  return { program, maxCost: estimateCost(checked, environment, sizes).max, usesOldSelf };
}

/** Some expressions type-check but cannot be planned; they are rejected here. */
function planExpression(checked: CheckedExpression, environment: Environment): Program | string {
  try {
    return plan(checked, environment);
  } catch (error) {
    if (error instanceof CelError) return error.message;
    throw error;
  }
}

/** Prints a path as in errors: fields by name, map keys in brackets. Returns an empty string for an invalid path. */
function printFieldPath(schema: StructuralSchema, path: string): string {
  const found = path === '' ? '' : findField(schema, path, { brackets: true });
  if (typeof found === 'string') return '';
  let at: StructuralSchema = schema;
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
