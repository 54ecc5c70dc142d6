/**
 * Evaluates validation rules on an object: first the rules of a node, then those of the nodes inside it. All
 * evaluations share one cost budget; when it is used up, that error is added to those found so far and the evaluation stops.
 */

import {
  CelCostLimitError,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  type CelValue,
  jsonValue,
  type Outcome,
  type Program,
  type Variables,
} from '../../cel/index.js';
import type { FieldError } from '../../meta/field-error.js';
import {
  childPath,
  duplicate,
  forbidden,
  invalid,
  keyPath,
  printFieldError,
  required,
} from '../../meta/field-error.js';
import { byteLength } from '../../meta/names.js';
import type { ValidationRule } from '../../schema/json-schema.js';
import { quote } from '../../text/go/go-text.js';
import { isRecord } from '../../util/json.js';
import type { CompiledRule, RuleNode } from './compile.js';
import { jsonOf } from './json-values.js';
import type { OldValueContext } from './old-value-context.js';

/** The cost budget of all rules on one object. upstream: apiserver/pkg/apis/cel/config.go RuntimeCELCostBudget */
export const RUNTIME_CEL_COST_BUDGET = 10_000_000;

/** The cost limit of one evaluation. upstream: apiserver/pkg/apis/cel/config.go PerCallLimit */
const PER_CALL_LIMIT = 1_000_000;

/** The remaining budget of a stopped evaluation. */
const STOPPED = -1;

const MAX_MESSAGE_BYTES = 5 * 1024;

/** Options of one evaluation. */
export interface RuleOptions {
  /** The path of the value; empty for a whole object. */
  readonly path?: string;
  /** The remaining budget. Default: the budget of a request. */
  readonly budget?: number;
}

/** The result of the evaluation of all rules of an object. */
export interface RuleResult {
  readonly errors: readonly FieldError[];
  /** Violations that are not errors because the value is unchanged (ratcheting). */
  readonly warnings: readonly string[];
  /** {@link STOPPED} if an evaluation exceeded its own limit or the budget; the remaining rules were then skipped. */
  readonly remainingBudget: number;
}

/** Evaluates all rules at and below `root` on a value. Never throws for an error of a rule. */
export function evaluateRules(
  root: RuleNode,
  value: unknown,
  oldValues: OldValueContext,
  options: RuleOptions = {},
): RuleResult {
  const evaluation = new RuleEvaluation(options.budget ?? RUNTIME_CEL_COST_BUDGET);
  evaluation.node(root, value, { path: options.path ?? '', oldValues });
  return { errors: evaluation.errors, warnings: evaluation.warnings, remainingBudget: evaluation.remainingBudget };
}

interface ValuePosition {
  readonly path: string;
  readonly oldValues: OldValueContext;
}

class RuleEvaluation {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];

  constructor(public remainingBudget: number) {}

  get isStopped(): boolean {
    return this.remainingBudget < 0;
  }

  /** Rules are not evaluated for null. */
  node(node: RuleNode, value: unknown, at: ValuePosition): void {
    if (value === null || value === undefined) return;
    if (node.rules.length > 0) this.#rules(node, value, at);
    if (this.isStopped) return;
    if (Array.isArray(value)) this.#items(node, value, at);
    else if (isRecord(value)) this.#members(node, value, at);
  }

  #items({ items }: RuleNode, list: readonly unknown[], { path, oldValues }: ValuePosition): void {
    if (items === undefined) return;
    for (const [index, item] of list.entries()) {
      this.node(items, item, { path: keyPath(path, index), oldValues: oldValues.item(index) });
      if (this.isStopped) return;
    }
  }

  #members(
    { additional, properties }: RuleNode,
    object: Record<string, unknown>,
    { path, oldValues }: ValuePosition,
  ): void {
    for (const name of additional === undefined ? [] : Object.keys(object)) {
      this.node(additional as RuleNode, object[name], {
        path: keyPath(path, name),
        oldValues: oldValues.field(name),
      });
      if (this.isStopped) return;
    }
    for (const [name, property] of properties) {
      if (!Object.hasOwn(object, name)) continue;
      this.node(property, object[name], { path: childPath(path, name), oldValues: oldValues.field(name) });
      if (this.isStopped) return;
    }
  }

  #rules(node: RuleNode, value: unknown, at: ValuePosition): void {
    if (this.remainingBudget <= 0) {
      this.#abort(node, at, OUT_OF_BUDGET);
      return;
    }
    const position = {
      path: at.path,
      oldValues: at.oldValues,
      variables: new RuleVariables(node, value, at.oldValues.oldValue),
    };
    for (const rule of node.rules) {
      this.#rule(node, rule, position);
      if (this.isStopped) return;
    }
  }

  #rule(node: RuleNode, compiled: CompiledRule, at: ValuePosition & { readonly variables: RuleVariables }): void {
    const { rule, program, usesOldSelf } = compiled;
    if (compiled.error !== undefined) this.#report(node, at, `rule compile error: ${compiled.error}`);
    const optional = rule.optionalOldSelf === true;
    if (program === undefined || (usesOldSelf && !optional && !at.variables.hasOldSelf)) return;
    const outcome = evaluateProgram(program, optional ? at.variables.withOptionalOldSelf : at.variables.withOldSelf);
    if (outcome.cost > this.remainingBudget) {
      this.#abort(node, at, OUT_OF_BUDGET);
      return;
    }
    this.remainingBudget -= outcome.cost;
    if (outcome.error instanceof CelCostLimitError) {
      const why = `'${outcome.error.message}': no further validation rules will be run due to call cost exceeds limit for rule`;
      this.#abort(node, at, `${why}: ${printRule(rule)}`);
    } else if (outcome.error !== undefined) {
      this.#report(node, at, evaluationFailure(outcome.error, rule));
    } else if (outcome.value !== true) {
      this.#reportViolation(node, compiled, at);
    }
  }

  /** Reports a rule that evaluates to false. */
  #reportViolation(
    node: RuleNode,
    compiled: CompiledRule,
    { path, oldValues, variables }: ValuePosition & { readonly variables: RuleVariables },
  ): void {
    const { rule, message, usesOldSelf, fieldPath } = compiled;
    const field = fieldPath === '' ? path : childPath(path, fieldPath);
    const add = (error: FieldError) => {
      if (usesOldSelf || !oldValues.isRatcheted) this.errors.push(error);
      else this.warnings.push(printFieldError(error));
    };
    // A messageExpression always sees the old value itself, even if its rule uses an optional oldSelf.
    const outcome = message && evaluateProgram(message, variables.withOldSelf);
    const stop = outcome && messageStop(outcome, { budget: this.remainingBudget, text: rule.messageExpression ?? '' });
    if (stop !== undefined) {
      add(invalid(printPath(field), node.schema.type, stop));
      this.remainingBudget = STOPPED;
      return;
    }
    this.remainingBudget -= outcome?.cost ?? 0;
    const detail = messageText(outcome) ?? (rule.message ? rule.message.trim() : `failed rule: ${printRule(rule)}`);
    add(errorOf(rule, { field: printPath(field), value: node.schema.type, detail }));
  }

  #report(node: RuleNode, { path }: ValuePosition, detail: string): void {
    this.errors.push(invalid(printPath(path), node.schema.type, detail));
  }

  #abort(node: RuleNode, at: ValuePosition, detail: string): void {
    this.#report(node, at, detail);
    this.remainingBudget = STOPPED;
  }
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** The variables of the rules of one node. */
class RuleVariables {
  readonly hasOldSelf: boolean;
  readonly withOldSelf: Variables;
  readonly #self: CelValue | (() => CelValue);
  readonly #old: CelValue | (() => CelValue) | undefined;
  readonly #usesOld: boolean;
  #withOptionalOldSelf: Variables | undefined;

  constructor({ read, usesOldSelf }: RuleNode, value: unknown, old: unknown) {
    this.hasOldSelf = old !== undefined;
    this.#usesOld = usesOldSelf;
    this.#self = valueOrFailure(() => read(value));
    this.#old = usesOldSelf && this.hasOldSelf ? valueOrFailure(() => read(old)) : undefined;
    const variables = new Map([['self', this.#self]]);
    if (this.#old !== undefined) variables.set('oldSelf', this.#old);
    this.withOldSelf = variables;
  }

  get withOptionalOldSelf(): Variables {
    if (!this.#usesOld) return this.withOldSelf;
    this.#withOptionalOldSelf ??= new Map<string, CelValue | (() => CelValue)>([
      ['self', this.#self],
      ['oldSelf', optionalOldSelf(this.#old)],
    ]);
    return this.#withOptionalOldSelf;
  }
}

/** A value that cannot be converted fails only the rules that use it. */
function valueOrFailure(read: () => CelValue): CelValue | (() => CelValue) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return () => {
      throw error;
    };
  }
}

/**
 * Inside of an optional the reference server treats objects and lists as JSON, without their schema.
 * upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go validationActivationWithOldSelf
 */
function optionalOldSelf(old: CelValue | (() => CelValue) | undefined): CelValue | (() => CelValue) {
  if (old === undefined) return CelOptional.NONE;
  if (typeof old === 'function') return old;
  return new CelOptional(old instanceof CelMap || old instanceof CelList ? jsonValue(jsonOf(old)) : old);
}

function evaluateProgram(program: Program, variables: Variables): Outcome {
  return program.evaluate(variables, { costLimit: PER_CALL_LIMIT });
}

function evaluationFailure({ message }: Error, rule: ValidationRule): string {
  if (!message.startsWith('no such overload')) return `${message} evaluating rule: ${printRule(rule)}`;
  return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${printRule(rule)}`;
}

/** Returns why evaluation stops after a messageExpression that is too expensive; undefined otherwise. */
function messageStop(
  outcome: Outcome,
  details: { readonly budget: number; readonly text: string },
): string | undefined {
  if (outcome.cost > details.budget) {
    return 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
  }
  if (!(outcome.error instanceof CelCostLimitError)) return undefined;
  return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(details.text)}`;
}

/** Returns undefined if the message cannot be used; a default message then applies. */
function messageText(outcome: Outcome | undefined): string | undefined {
  if (typeof outcome?.value !== 'string') return undefined;
  const text = outcome.value.trim();
  return text === '' || text.includes('\n') || byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
}

function errorOf(rule: ValidationRule, details: { field: string; value: string; detail: string }): FieldError {
  const { field, value, detail } = details;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return duplicate(field, value);
    default:
      return invalid(field, value, detail);
  }
}

function printRule({ rule, message = '' }: ValidationRule): string {
  return (message === '' ? rule : message).trim();
}

/** The path of a whole object in errors. */
function printPath(path: string): string {
  return path === '' ? '<nil>' : path;
}
