/**
 * The type checker: resolves every name and call of a parsed expression and derives the type of every node. Types flow
 * from the leaves to the root; type parameters that stay open (`[]` is a list of what?) are unified by `unify.ts`. An
 * erroneous node has type `error`, which matches everything, so that one mistake is reported once.
 */
import {
  type CallExpr,
  type CelIssue,
  type ComprehensionExpr,
  type Expr,
  type IdentExpr,
  type ListExpr,
  type LiteralExpr,
  type MapExpr,
  type ParsedExpression,
  replaceNodes,
  type SelectExpr,
  type StructExpr,
} from '../ast.js';
import type { CheckedExpression, Environment, Reference } from '../engine.js';
import type { FunctionDeclaration } from '../library.js';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  declaredName,
  ERROR,
  formatArguments,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  UINT,
} from '../types.js';
import { CelBytes, CelUint } from '../values.js';
import { messageNameOf } from '../well-known-messages.js';
import { checkLiterals } from './literals.js';
import { candidateNames, fieldType, findName, hasObjectType, qualifiedName, type Scope } from './names.js';
import { isDyn, isDynOrError, mostGeneral, optionalValue } from './relations.js';
import { FreshTypeParams, resolveOverloads, Substitutions } from './unify.js';

/** Type-checks an expression. Returns either the checked expression or issues, never both. */
export function check(
  parsed: ParsedExpression,
  environment: Environment,
): CheckedExpression | { readonly issues: readonly CelIssue[] } {
  const checker = new Checker(environment);
  const root = checker.check(parsed.expr);
  if (checker.issues.length > 0) return { issues: checker.issues };
  const types = new Map<number, CelType>();
  for (const [id, type] of checker.types) types.set(id, checker.substitutions.apply(type, 'dyn'));
  const checked: CheckedExpression = {
    ...parsed,
    expr: replaceNodes(parsed.expr, checker.resolved),
    types,
    references: checker.references,
    resultType: checker.substitutions.apply(root, 'dyn'),
  };
  const issues = checkLiterals(checked, environment);
  return issues.length > 0 ? { issues } : checked;
}

class Checker {
  readonly issues: CelIssue[] = [];
  /** By node id; may contain type parameters that are bound later. */
  readonly types = new Map<number, CelType>();
  readonly references = new Map<number, Reference>();
  /** Replacements for nodes whose names are resolved. */
  readonly resolved = new Map<number, Expr>();
  readonly substitutions = new Substitutions();
  readonly #freshParams = new FreshTypeParams();
  readonly #environment: Environment;
  #scope: Scope | undefined;
  #crossTypeComparisons: boolean;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#crossTypeComparisons = environment.options.crossTypeComparisons;
  }

  /** Derives and records the type of a node. */
  check(expr: Expr): CelType {
    const type = this.#typeOf(expr);
    this.types.set(expr.id, type);
    return type;
  }

  #typeOf(expr: Expr): CelType {
    switch (expr.type) {
      case 'literal':
        return literalType(expr.value);
      case 'ident':
        return this.#checkIdent(expr);
      case 'select':
        return this.#checkSelect(expr);
      case 'call':
        return expr.function === '_?._' ? this.#checkOptionalSelect(expr) : this.#checkCall(expr);
      case 'list':
        return this.#checkList(expr);
      case 'map':
        return this.#checkMap(expr);
      case 'struct':
        return this.#checkStruct(expr);
      case 'comprehension':
        return this.#checkComprehension(expr);
    }
  }

  #checkIdent(expr: IdentExpr): CelType {
    return this.#variable(expr, expr.name) ?? this.#undeclared(expr, expr.name);
  }

  #checkSelect(expr: SelectExpr): CelType {
    const name = qualifiedName(expr);
    const variable = name === undefined ? undefined : this.#variable(expr, name);
    if (variable !== undefined) return variable;
    const { type, optional } = this.#checkField(expr, expr.operand, expr.field);
    if (expr.testOnly) return BOOL;
    return this.substitutions.apply(optional ? optionalOf(type) : type, 'keep');
  }

  /** `operand.?field`, which the parser represents as a call with the field name as a string literal. */
  #checkOptionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args;
    if (operand === undefined || field?.type !== 'literal' || typeof field.value !== 'string') {
      this.#report(field ?? expr, 'unsupported optional field selection');
      return ERROR;
    }
    const { type } = this.#checkField(expr, operand, field.value);
    this.references.set(expr.id, { type: 'function', overloads: ['select_optional_field'] });
    return this.substitutions.apply(optionalOf(type), 'keep');
  }

  /** Resolves a node to a variable with its qualified name; undefined if there is no such variable. */
  #variable(expr: IdentExpr | SelectExpr, name: string): CelType | undefined {
    const found = findName(this.#environment, this.#scope, name);
    if (found === undefined) return undefined;
    const { id, offset } = expr;
    this.references.set(id, { ...found, type: 'variable' });
    if (expr.type === 'select' || expr.name !== found.name) {
      this.resolved.set(id, { type: 'ident', id, offset, name: found.name });
    }
    return found.type;
  }

  /** Selecting from an optional value yields an optional value. */
  #checkField(expr: Expr, operand: Expr, field: string): { readonly type: CelType; readonly optional: boolean } {
    const given = this.substitutions.apply(this.check(operand), 'keep');
    const inner = optionalValue(given);
    return { type: this.#fieldOf(inner ?? given, field, expr), optional: inner !== undefined };
  }

  #fieldOf(type: CelType, field: string, at: Expr): CelType {
    switch (type.kind) {
      case 'map':
        return type.value;
      case 'object':
        return this.#declaredField(type.name, field, at);
      case 'param':
        // Bind it to dyn; otherwise it could be bound later to a type without fields.
        this.substitutions.fit(DYN, type);
        return DYN;
      default:
        if (!isDynOrError(type)) this.#report(at, `type '${formatType(type)}' does not support field selection`);
        return DYN;
    }
  }

  #declaredField(typeName: string, field: string, at: { readonly id: number; readonly offset: number }): CelType {
    const { provider } = this.#environment;
    if (!hasObjectType(provider, typeName)) {
      this.#report(at, `unexpected failed resolution of '${typeName}'`);
      return ERROR;
    }
    const type = fieldType(provider, typeName, field);
    if (type === undefined) this.#report(at, `undefined field '${field}'`);
    return type ?? ERROR;
  }

  #checkCall(expr: CallExpr): CelType {
    const args = expr.args.map((arg) => this.check(arg));
    const { target } = expr;
    if (target === undefined) {
      const declaration = this.#function(expr.function);
      if (declaration === undefined) return this.#undeclared(expr, expr.function);
      return this.#resolveCall(expr, declaration, args);
    }
    // `a.b.c()` calls the function `a.b.c` if it exists, else the member function `c` of `a.b`.
    const prefix = qualifiedName(target);
    const whole = prefix === undefined ? undefined : this.#function(`${prefix}.${expr.function}`);
    if (whole !== undefined) return this.#resolveCall(expr, whole, args);
    const receiver = this.check(target);
    const declaration = this.#function(expr.function);
    if (declaration === undefined) return this.#undeclared(expr, expr.function);
    return this.#resolveCall(expr, declaration, [receiver, ...args], true);
  }

  #resolveCall(expr: CallExpr, declaration: FunctionDeclaration, args: readonly CelType[], member = false): CelType {
    const { name } = declaration;
    if (!member && (expr.target !== undefined || expr.function !== name)) {
      this.resolved.set(expr.id, { ...expr, function: name, target: undefined });
    }
    if (!member && (name === '_&&_' || name === '_||_')) return this.#checkLogic(expr, declaration, args);
    const resolution = resolveOverloads(declaration, {
      substitutions: this.substitutions,
      freshParams: this.#freshParams,
      member,
      args,
      crossTypeComparisons: this.#crossTypeComparisons,
    });
    if (resolution === undefined) {
      const given = args.map((type) => this.substitutions.apply(type, 'dyn'));
      this.#report(expr, `found no matching overload for '${name}' applied to '${formatArguments(given, member)}'`);
      return ERROR;
    }
    this.references.set(expr.id, { type: 'function', overloads: resolution.overloads });
    return resolution.type;
  }

  /** Each argument of `&&` and `||` is reported separately. */
  #checkLogic(expr: CallExpr, declaration: FunctionDeclaration, args: readonly CelType[]): CelType {
    let right = true;
    args.forEach((type, index) => {
      if (this.substitutions.fit(type, BOOL)) return;
      right = false;
      this.#mismatch(expr.args[index] as Expr, BOOL, type);
    });
    if (!right) return ERROR;
    this.references.set(expr.id, {
      type: 'function',
      overloads: declaration.overloads.slice(0, 1).map(({ id }) => id),
    });
    return BOOL;
  }

  #checkList(expr: ListExpr): CelType {
    const optional = new Set(expr.optional);
    let element: CelType | undefined;
    expr.elements.forEach((item, index) => {
      const type = this.check(item);
      element = this.#join(element, optional.has(index) ? this.#unwrap(item, type) : type);
    });
    return listOf(element ?? this.#freshParams.next());
  }

  #checkMap(expr: MapExpr): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      key = this.#join(key, this.check(entry.key));
      const type = this.check(entry.value);
      value = this.#join(value, entry.optional ? this.#unwrap(entry.value, type) : type);
    }
    // The key comes first: messages may contain the numbers of fresh parameters.
    const keyType = key ?? this.#freshParams.next();
    return mapOf(keyType, value ?? this.#freshParams.next());
  }

  #checkStruct(expr: StructExpr): CelType {
    const found = findName(this.#environment, this.#scope, expr.name);
    if (found === undefined) return this.#undeclared(expr, expr.name);
    if (found.name !== expr.name) this.resolved.set(expr.id, { ...expr, name: found.name });
    this.references.set(expr.id, { type: 'variable', name: found.name });
    const type = this.#structType(expr, found.type);
    // Fields are resolved even if the type is not a message, by the name as written.
    const typeName = type.kind === 'object' ? type.name : (messageNameOf(type) ?? found.name);
    for (const field of expr.fields) {
      const type = this.check(field.value);
      const declared = this.#declaredField(typeName, field.name, field);
      const given = field.optional ? this.#unwrap(field.value, type) : type;
      if (this.substitutions.fit(declared, given)) continue;
      const texts = `'${formatType(declared)}' but provided type is '${formatType(given)}'`;
      this.#report(field, `expected type of field '${field.name}' is ${texts}`);
    }
    return type;
  }

  #structType(expr: StructExpr, named: CelType): CelType {
    if (named.kind === 'error') return ERROR;
    if (named.kind !== 'type' || named.of === undefined) {
      this.#report(expr, `'${declaredName(named)}' is not a type`);
      return ERROR;
    }
    if (named.of.kind === 'object' || messageNameOf(named.of) !== undefined) return named.of;
    this.#report(expr, `'${declaredName(named.of)}' is not a message type`);
    return ERROR;
  }

  #checkComprehension(expr: ComprehensionExpr): CelType {
    const given = this.check(expr.range);
    const accumulator = this.check(expr.accuInit);
    const range = this.substitutions.apply(given, 'keep');
    const outer = this.#scope;
    const around: Scope = { outer, variables: new Map([[expr.accuVar, accumulator]]) };
    const [first, second] = this.#iterated(expr, range);
    const variables = new Map([[expr.iterVar, first]]);
    if (expr.iterVar2 !== undefined && !variables.has(expr.iterVar2)) variables.set(expr.iterVar2, second);
    // cel-go allows cross-type comparisons within and after the first comprehension.
    this.#crossTypeComparisons = true;
    this.#scope = { outer: around, variables };
    this.#expect(expr.loopCondition, BOOL);
    this.#expect(expr.loopStep, accumulator);
    this.#scope = around;
    const result = this.check(expr.result);
    this.#scope = outer;
    return this.substitutions.apply(result, 'keep');
  }

  /** The types of the iteration variables; the second applies to two-variable comprehensions. */
  #iterated(expr: ComprehensionExpr, range: CelType): readonly [CelType, CelType] {
    switch (range.kind) {
      case 'list':
        return expr.iterVar2 === undefined ? [range.element, ERROR] : [INT, range.element];
      case 'map':
        return [range.key, range.value];
      case 'dyn':
      case 'error':
      case 'param':
        this.substitutions.fit(DYN, range);
        return [DYN, DYN];
      default: {
        const must = '(must be list, map, or dynamic)';
        this.#report(
          expr.range,
          `expression of type '${formatType(range)}' cannot be range of a comprehension ${must}`,
        );
        return [ERROR, ERROR];
      }
    }
  }

  #expect(expr: Expr, expected: CelType): void {
    const type = this.check(expr);
    if (!this.substitutions.fit(expected, type)) this.#mismatch(expr, expected, type);
  }

  /** The common type of the items so far and one more item. Mixed types are reported later, if at all. */
  #join(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type;
    return this.substitutions.fit(before, type) ? mostGeneral(before, type) : DYN;
  }

  /** The element type of an item written with `?`. */
  #unwrap(at: Expr, type: CelType): CelType {
    const inner = optionalValue(type);
    if (inner === undefined && !isDyn(type)) this.#mismatch(at, optionalOf(type), type);
    return inner ?? type;
  }

  #function(name: string): FunctionDeclaration | undefined {
    const { functions, options } = this.#environment;
    for (const candidate of candidateNames(options.container, name)) {
      const declaration = functions.get(candidate);
      if (declaration !== undefined) return declaration;
    }
    return undefined;
  }

  #undeclared(at: Expr, name: string): CelType {
    this.#report(at, `undeclared reference to '${name}' (in container '${this.#environment.options.container}')`);
    return ERROR;
  }

  #mismatch(at: Expr, expected: CelType, found: CelType): void {
    this.#report(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #report({ id, offset }: { readonly id: number; readonly offset: number }, message: string): void {
    this.issues.push({ message, offset, exprId: id });
  }
}

function literalType(value: LiteralExpr['value']): CelType {
  switch (typeof value) {
    case 'boolean':
      return BOOL;
    case 'bigint':
      return INT;
    case 'number':
      return DOUBLE;
    case 'string':
      return STRING;
    default:
      if (value instanceof CelUint) return UINT;
      return value instanceof CelBytes ? BYTES : NULL;
  }
}
