/**
 * Runs the rules of a schema on an object: the rules of a node, then those of what is inside it. Everything is counted
 * against one budget; when it is spent, nothing more is said than that.
 */

import type { Outcome, Program, Variables } from '../../cel/engine.js';
import { jsonValue } from '../../cel/index.js';
import { CelBudgetError, CelError, CelList, CelMap, CelOptional, type CelValue } from '../../cel/values.js';
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
import type { Before } from './before.js';
import type { RuleNode } from './compile.js';
import type { CompiledRule } from './compile-rule.js';
import { plainOf } from './native.js';

/** What all rules on one object may cost together. */
export const REQUEST_BUDGET = 10_000_000;

/** What one evaluation may cost. */
const EVALUATION_LIMIT = 1_000_000;

const MAX_MESSAGE_BYTES = 5 * 1024;

export interface RuleOptions {
  /** Where the value stands; empty for a whole object. */
  readonly path?: string;
  /** What is left to spend; the budget of a request unless said otherwise. */
  readonly budget?: number;
}

export interface RuleResult {
  readonly errors: readonly FieldError[];
  /** Failures that are let through because nothing has changed there. */
  readonly warnings: readonly string[];
  /** Below zero when it was spent and rules were left out. */
  readonly budgetLeft: number;
}

/** Runs all rules of `root` and below on a value. Never throws for what a rule does. */
export function ruleErrors(root: RuleNode, value: unknown, before: Before, options: RuleOptions = {}): RuleResult {
  const walk = new Walk(options.budget ?? REQUEST_BUDGET);
  walk.node(root, value, { path: options.path ?? '', before });
  return { errors: walk.errors, warnings: walk.warnings, budgetLeft: walk.budget };
}

interface At {
  readonly path: string;
  readonly before: Before;
}

class Walk {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  budget: number;

  constructor(budget: number) {
    this.budget = budget;
  }

  /** Null has no rules: what it may stand for is said by what holds it. */
  node(node: RuleNode, value: unknown, at: At): void {
    if (value === null || value === undefined) return;
    if (node.rules.length > 0) this.#rules(node, value, at);
    if (this.budget < 0) return;
    if (Array.isArray(value)) this.#items(node, value, at);
    else if (isRecord(value)) this.#members(node, value, at);
  }

  #items({ items }: RuleNode, list: readonly unknown[], { path, before }: At): void {
    if (items === undefined) return;
    for (const [index, item] of list.entries()) {
      this.node(items, item, { path: keyPath(path, index), before: before.item(index) });
      if (this.budget < 0) return;
    }
  }

  #members({ additional, properties }: RuleNode, object: Record<string, unknown>, { path, before }: At): void {
    for (const name of additional === undefined ? [] : Object.keys(object)) {
      this.node(additional as RuleNode, object[name], { path: keyPath(path, name), before: before.field(name) });
      if (this.budget < 0) return;
    }
    for (const [name, property] of properties) {
      if (!Object.hasOwn(object, name)) continue;
      this.node(property, object[name], { path: childPath(path, name), before: before.field(name) });
      if (this.budget < 0) return;
    }
  }

  #rules(node: RuleNode, value: unknown, at: At): void {
    if (this.budget <= 0) {
      this.#giveUp(node, at, OUT_OF_BUDGET);
      return;
    }
    const inScope = { path: at.path, before: at.before, scope: new RuleScope(node, value, at.before.value) };
    for (const rule of node.rules) {
      this.#rule(node, rule, inScope);
      if (this.budget < 0) return;
    }
  }

  #rule(node: RuleNode, compiled: CompiledRule, at: At & { readonly scope: RuleScope }): void {
    const { rule, program, usesOldSelf } = compiled;
    if (compiled.error !== undefined) this.#report(node, at, `rule compile error: ${compiled.error}`);
    const optional = rule.optionalOldSelf === true;
    if (program === undefined || (usesOldSelf && !optional && !at.scope.hasOld)) return;
    const outcome = run(program, optional ? at.scope.optional : at.scope.plain);
    if (outcome.cost > this.budget) {
      this.#giveUp(node, at, OUT_OF_BUDGET);
      return;
    }
    this.budget -= outcome.cost;
    if (outcome.error instanceof CelBudgetError) {
      const why = `'${outcome.error.message}': no further validation rules will be run due to call cost exceeds limit for rule`;
      this.#giveUp(node, at, `${why}: ${shownRule(rule)}`);
    } else if (outcome.error !== undefined) {
      this.#report(node, at, failure(outcome.error, rule));
    } else if (outcome.value !== true) {
      this.#broken(node, compiled, at);
    }
  }

  /** A rule that does not hold. */
  #broken(node: RuleNode, compiled: CompiledRule, { path, before, scope }: At & { readonly scope: RuleScope }): void {
    const { rule, message, usesOldSelf, fieldPath } = compiled;
    const field = fieldPath === '' ? path : childPath(path, fieldPath);
    const add = (error: FieldError) => {
      if (usesOldSelf || !before.isUnchanged) this.errors.push(error);
      else this.warnings.push(printFieldError(error));
    };
    // A message looks at the plain old value also where its rule looks at an optional one.
    const outcome = message && run(message, scope.plain);
    const stop = outcome && messageStop(outcome, { budget: this.budget, text: rule.messageExpression ?? '' });
    if (stop !== undefined) {
      add(invalid(shownPath(field), node.schema.type, stop));
      this.budget = -1;
      return;
    }
    this.budget -= outcome?.cost ?? 0;
    const detail = messageText(outcome) ?? (rule.message ? rule.message.trim() : `failed rule: ${shownRule(rule)}`);
    add(errorOf(rule, { field: shownPath(field), value: node.schema.type, detail }));
  }

  #report(node: RuleNode, { path }: At, detail: string): void {
    this.errors.push(invalid(shownPath(path), node.schema.type, detail));
  }

  #giveUp(node: RuleNode, at: At, detail: string): void {
    this.#report(node, at, detail);
    this.budget = -1;
  }
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** What the rules of one node see. */
class RuleScope {
  readonly hasOld: boolean;
  readonly plain: Variables;
  readonly #self: CelValue | (() => CelValue);
  readonly #old: CelValue | (() => CelValue) | undefined;
  readonly #usesOld: boolean;
  #optional: Variables | undefined;

  constructor({ read, usesOldSelf }: RuleNode, value: unknown, old: unknown) {
    this.hasOld = old !== undefined;
    this.#usesOld = usesOldSelf;
    this.#self = valueOrFailure(() => read(value));
    this.#old = usesOldSelf && this.hasOld ? valueOrFailure(() => read(old)) : undefined;
    const plain = new Map([['self', this.#self]]);
    if (this.#old !== undefined) plain.set('oldSelf', this.#old);
    this.plain = plain;
  }

  get optional(): Variables {
    if (!this.#usesOld) return this.plain;
    this.#optional ??= new Map<string, CelValue | (() => CelValue)>([
      ['self', this.#self],
      ['oldSelf', optionalOf(this.#old)],
    ]);
    return this.#optional;
  }
}

/** A value that cannot be read fails the rules that look at it, not those that do not. */
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

/** Inside of an optional, objects and lists are plain JSON to the reference server: it forgets their schema there. */
function optionalOf(old: CelValue | (() => CelValue) | undefined): CelValue | (() => CelValue) {
  if (old === undefined) return CelOptional.NONE;
  if (typeof old === 'function') return old;
  return new CelOptional(old instanceof CelMap || old instanceof CelList ? jsonValue(plainOf(old)) : old);
}

function run(program: Program, variables: Variables): Outcome {
  return program.evaluate(variables, { costLimit: EVALUATION_LIMIT });
}

function failure({ message }: Error, rule: ValidationRule): string {
  if (!message.startsWith('no such overload')) return `${message} evaluating rule: ${shownRule(rule)}`;
  return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${shownRule(rule)}`;
}

/** Why nothing more is run after a message was too expensive; undefined when it was not. */
function messageStop(outcome: Outcome, about: { readonly budget: number; readonly text: string }): string | undefined {
  if (outcome.cost > about.budget) {
    return 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
  }
  if (!(outcome.error instanceof CelBudgetError)) return undefined;
  return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(about.text)}`;
}

/** Undefined for a message that cannot be used: then the rule speaks for itself. */
function messageText(outcome: Outcome | undefined): string | undefined {
  if (typeof outcome?.value !== 'string') return undefined;
  const text = outcome.value.trim();
  return text === '' || text.includes('\n') || byteLength(text) > MAX_MESSAGE_BYTES ? undefined : text;
}

function errorOf(rule: ValidationRule, about: { field: string; value: string; detail: string }): FieldError {
  const { field, value, detail } = about;
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

function shownRule({ rule, message = '' }: ValidationRule): string {
  return (message === '' ? rule : message).trim();
}

/** The path of a whole object is no path. */
function shownPath(path: string): string {
  return path === '' ? '<nil>' : path;
}
