/**
 * Validates the rules of a CRD schema: whether they compile, whether their estimated cost is within the limits, and
 * whether transition rules are at correlatable nodes. Called for schemas that are otherwise valid.
 */
import type { FieldError } from '../../meta/field-error.js';
import { fieldError, forbidden, invalid, keyPath } from '../../meta/field-error.js';
import { ruleGoSyntax } from '../definition/go-syntax.js';
import { additionalSchema, type StructuralSchema } from '../structural-schema.js';
import { type CompiledRule, compileNodeRules, type EnvironmentSelector } from './compile.js';
import { type DeclType, declTypeOf, maxCardinalityInRequest } from './decl-type.js';
import { escapeName } from './escape.js';

/** Options of the validation of rules. */
export interface RuleValidationOptions {
  readonly environments: EnvironmentSelector;
  /** Returns the name of `validations` in the cluster's dialect. */
  readonly extensionName: (extension: 'validations') => string;
  /** False for nodes with other errors at or below them; their rules are skipped. */
  readonly isValidNode: (node: StructuralSchema) => boolean;
  /** False for an unchanged schema: the cost of each expression is then not limited; the total cost still is. */
  readonly limitsCostPerExpression: boolean;
  /** False where sizes are not bounded by the schema; the total cost is then not limited. */
  readonly limitsTotalCost?: boolean;
}

/**
 * Validates the rules of a schema. Errors are in the order of the reference server: from the innermost node out.
 * upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go ValidateCustomResourceDefinitionOpenAPISchema
 */
export function validateRules(root: StructuralSchema, path: string, options: RuleValidationOptions): FieldError[] {
  const validator = new RuleValidator(options);
  validator.node(new CelSchemaContext({ schema: root, path }), 1);
  const totalErrors =
    options.limitsTotalCost !== false ? validator.total.errors(path, options.extensionName('validations')) : [];
  return [...validator.errors, ...totalErrors];
}

interface Location {
  readonly schema: StructuralSchema;
  readonly path: string;
  readonly parent?: CelSchemaContext;
  /** The property name, if it is a property. */
  readonly name?: string;
  /** The path of the nearest list above that prevents correlation with old values. */
  readonly uncorrelatableAt?: string | undefined;
}

/** A schema node with its ancestors, and its CEL type. upstream: apiextensions/validation/cel_validation.go CELSchemaContext */
class CelSchemaContext {
  /** True if there are rules at or above the node. */
  readonly isWithinRuleScope: boolean;
  #declType: DeclType | undefined;

  constructor(readonly at: Location) {
    this.isWithinRuleScope = at.schema.validations.length > 0 || at.parent?.isWithinRuleScope === true;
  }

  /**
   * The CEL type of the node. Below a node with rules it is the type as seen from there: expressions see less of a
   * resource's metadata than its schema may specify.
   */
  get declType(): DeclType | undefined {
    const { schema, parent } = this.at;
    // A node inside of something that expressions cannot see is not visible either.
    if (parent?.isWithinRuleScope === true && parent.declType === undefined) return undefined;
    this.#declType ??= this.#fromParent() ?? declTypeOf(schema, parent === undefined || schema.embeddedResource);
    return this.#declType;
  }

  #fromParent(): DeclType | undefined {
    const { parent, name } = this.at;
    const above = parent?.isWithinRuleScope === true ? parent.declType : undefined;
    if (above === undefined || above.kind === 'scalar') return undefined;
    if (above.kind !== 'object') return above.element;
    const escaped = name === undefined ? undefined : escapeName(name);
    return escaped === undefined ? undefined : above.fields.get(escaped);
  }
}

class RuleValidator {
  readonly errors: FieldError[] = [];
  readonly total = new TotalCost();

  constructor(readonly options: RuleValidationOptions) {}

  node(position: CelSchemaContext, cardinality: number | undefined): void {
    const { schema, path, uncorrelatableAt } = position.at;
    const within = cardinalityInside(schema, cardinality);
    const inside = (inner: StructuralSchema, at: Omit<Location, 'schema' | 'parent'>) =>
      this.node(new CelSchemaContext({ uncorrelatableAt, ...at, schema: inner, parent: position }), within);
    const values = additionalSchema(schema);
    if (values !== undefined) inside(values, { path: `${path}.additionalProperties` });
    for (const [name, property] of schema.properties) {
      inside(property, { path: keyPath(`${path}.properties`, name), name });
    }
    if (schema.items !== undefined) {
      const uncorrelatable = uncorrelatableAt ?? (schema.listType === 'map' ? undefined : path);
      inside(schema.items, { path: `${path}.items`, uncorrelatableAt: uncorrelatable });
    }
    if (schema.validations.length > 0 && this.options.isValidNode(schema)) this.#rules(position, cardinality);
  }

  #rules(position: CelSchemaContext, cardinality: number | undefined): void {
    const { declType } = position;
    const { schema, path, uncorrelatableAt } = position.at;
    const extension = this.options.extensionName('validations');
    const list = `${path}.${extension}`;
    if (declType === undefined) {
      const why = 'unable to convert structural schema to CEL declarations';
      const detail = `internal error: failed to construct type information for ${extension} rules: ${why}`;
      this.errors.push(fieldError('internal', list, { detail }));
      return;
    }
    const times = cardinality ?? maxCardinalityInRequest(declType);
    for (const [index, rule] of compileNodeRules(schema, declType, this.options.environments).entries()) {
      this.#rule(rule, { path: keyPath(list, index), times, uncorrelatableAt });
    }
  }

  #rule(compiled: CompiledRule, at: { path: string; times: number; uncorrelatableAt: string | undefined }): void {
    const { rule, usesOldSelf } = compiled;
    const path = `${at.path}.rule`;
    this.#cost(path, 'estimated rule cost', multiplyCost(compiled.maxCost, at.times));
    if (compiled.error !== undefined) this.errors.push(invalid(path, ruleGoSyntax(rule), compiled.error));
    const messagePath = `${at.path}.messageExpression`;
    if (compiled.messageError !== undefined) {
      this.errors.push(invalid(messagePath, ruleGoSyntax(rule), compiled.messageError));
    } else if (compiled.message !== undefined) {
      // The cost of a message is not multiplied by the cardinality, as upstream.
      this.#cost(messagePath, 'estimated messageExpression cost', compiled.messageMaxCost);
    }
    if (usesOldSelf && at.uncorrelatableAt !== undefined) {
      const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${at.uncorrelatableAt}`;
      this.errors.push(invalid(path, rule.rule, detail));
    } else if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
      const detail = 'may not be set if oldSelf is not used in rule';
      this.errors.push(invalid(`${at.path}.optionalOldSelf`, rule.optionalOldSelf, detail));
    }
  }

  #cost(path: string, what: string, cost: number): void {
    const problem = this.options.limitsCostPerExpression ? costProblem(what, cost) : undefined;
    if (problem !== undefined) this.errors.push(forbidden(path, problem));
    this.total.add(path, cost);
  }
}

/** The limit for one rule, all its evaluations included. upstream: apiextensions/validation/validation.go StaticEstimatedCostLimit */
const STATIC_ESTIMATED_COST_LIMIT = 10_000_000;

/** The limit for all rules of a schema. upstream: apiextensions/validation/validation.go StaticEstimatedCRDCostLimit */
const STATIC_ESTIMATED_CRD_COST_LIMIT = 100_000_000;

/** Costs saturate here. */
const MAX_COST = 2 ** 64;

interface RuleCost {
  readonly path: string;
  readonly cost: number;
}

/** Adds up the estimated costs of all expressions of a schema. */
class TotalCost {
  #total = 0;
  /** At most four, the most expensive first. */
  #largest: RuleCost[] = [];

  add(path: string, cost: number): void {
    this.#total = Math.min(MAX_COST, this.#total + cost);
    if (cost < STATIC_ESTIMATED_CRD_COST_LIMIT / 100) return;
    this.#largest = [...this.#largest, { path, cost }].sort((left, right) => right.cost - left.cost).slice(0, 4);
  }

  /** `path` is that of the schema; `extension` is the name of the rules extension in it. */
  errors(path: string, extension: string): FieldError[] {
    const what = `${extension} estimated rule cost total for entire OpenAPIv3 schema`;
    const problem = costProblem(what, this.#total, STATIC_ESTIMATED_CRD_COST_LIMIT);
    if (problem === undefined) return [];
    const share = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    return [...this.#largest.map((rule) => forbidden(rule.path, share)), forbidden(path, problem)];
  }
}

/**
 * The maximum number of values inside a node, given the maximum number of values of the node. Undefined if it is
 * unbounded.
 */
function cardinalityInside(schema: StructuralSchema, cardinality: number | undefined): number | undefined {
  if (cardinality === undefined) return undefined;
  const { maxItems, maxProperties } = schema.raw;
  const isMap = schema.type === 'object' && schema.additionalProperties !== undefined;
  if (!isMap && schema.type !== 'array') return cardinality;
  const limit = isMap ? maxProperties : maxItems;
  return limit === undefined ? undefined : multiplyCost(cardinality, Math.max(0, Number(limit)));
}

function multiplyCost(cost: number, cardinality: number): number {
  return cost === 0 ? 0 : Math.min(MAX_COST, cost * cardinality);
}

/** Returns a message if the cost exceeds the limit. */
function costProblem(what: string, cost: number, limit = STATIC_ESTIMATED_COST_LIMIT): string | undefined {
  if (cost <= limit) return undefined;
  const hint =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${printFactor(cost / limit)} (${hint})`;
}

/** Prints small factors exactly and large ones only as `more than 100x`. */
function printFactor(factor: number): string {
  if (factor > 100) return 'more than 100x';
  return `${toFixedEven(factor, factor < 1.5 ? 6 : 1)}x`;
}

/** Formats like Go's %f: ties round to even. */
function toFixedEven(value: number, digits: number): string {
  const rounded = value.toFixed(digits);
  // 60 digits are all that a double of this size can have.
  const exact = value.toFixed(60);
  const isTie = /^50*$/.test(exact.slice(exact.indexOf('.') + 1 + digits));
  const below = exact.slice(0, exact.indexOf('.') + 1 + digits);
  return isTie && /[02468]$/.test(below) ? below : rounded;
}
