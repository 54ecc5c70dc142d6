/**
 * Creates the nodes of one expression: assigns ids, expands macros, balances chains of `&&` and `||`.
 *
 * Ids are assigned in visiting order. A call gets its id before its arguments; if a macro replaces the call, the id is
 * released unless another one was assigned since.
 */
import type { CallExpr, ComprehensionExpr, Expr, LiteralExpr, MapEntry, StructField } from '../ast.js';
import type { Macro, MacroContext } from '../library.js';

/** The accumulator variable of the standard macros. Expressions cannot refer to it. */
export const ACCUMULATOR = '@result';

/** The key of a macro in an environment: `map:2:true`, `bind:*:false`. */
export function macroKey(name: string, args: number | 'any', member: boolean): string {
  return `${name}:${args === 'any' ? '*' : args}:${member}`;
}

/** Receives the errors that macros report. */
export type ReportError = (message: string, offset: number, exprId: number) => void;

export class NodeBuilder {
  readonly macroCalls = new Map<number, CallExpr>();
  readonly #macros: ReadonlyMap<string, Macro>;
  readonly #report: ReportError;
  #nextId = 1;

  constructor(macros: ReadonlyMap<string, Macro>, report: ReportError) {
    this.#macros = macros;
    this.#report = report;
  }

  id(): number {
    return this.#nextId++;
  }

  literal(offset: number, value: LiteralExpr['value']): LiteralExpr {
    return { type: 'literal', id: this.#nextId++, offset, value };
  }

  /** A placeholder for erroneous text. Only macros see it, and it matches none of the nodes they accept. */
  placeholder(offset: number): Expr {
    return this.literal(offset, null);
  }

  /** Creates a call with an id that was assigned before the arguments were visited. */
  call(id: number, offset: number, name: string, args: readonly Expr[]): CallExpr {
    return { type: 'call', id, offset, function: name, target: undefined, args };
  }

  callOrMacro(call: CallExpr): Expr {
    const member = call.target !== undefined;
    const macro =
      this.#macros.get(macroKey(call.function, call.args.length, member)) ??
      this.#macros.get(macroKey(call.function, 'any', member));
    return macro === undefined ? call : (this.#expand(macro, call) ?? call);
  }

  /** Expands a macro; undefined if the macro leaves the call unchanged. */
  #expand(macro: Macro, call: CallExpr): Expr | undefined {
    let error: { readonly message: string; readonly offset: number } | undefined;
    const context = this.#macroContext(call.offset, (message, at) => {
      error ??= { message, offset: at?.offset ?? call.offset };
    });
    const expanded = macro.expand(context, call.target, call.args);
    if (error !== undefined) {
      this.#releaseId(call.id);
      const placeholder = this.placeholder(error.offset);
      this.#report(error.message, error.offset, placeholder.id);
      return placeholder;
    }
    if (expanded === undefined) return undefined;
    this.macroCalls.set(expanded.id, this.#asWritten(call));
    this.#releaseId(call.id);
    return expanded;
  }

  #releaseId(id: number): void {
    if (id === this.#nextId - 1) this.#nextId--;
  }

  /** The call as asWritten: with the original macro calls as arguments. */
  #asWritten(call: CallExpr): CallExpr {
    const original = (expr: Expr): Expr => this.macroCalls.get(expr.id) ?? expr;
    return {
      ...call,
      target: call.target === undefined ? undefined : original(call.target),
      args: call.args.map(original),
    };
  }

  #macroContext(offset: number, report: MacroContext['report']): MacroContext {
    const id = () => this.#nextId++;
    return {
      offset,
      accumulator: ACCUMULATOR,
      report,
      literal: (value) => this.literal(offset, value),
      ident: (name) => ({ type: 'ident', id: id(), offset, name }),
      select: (operand, field) => ({ type: 'select', id: id(), offset, operand, field, testOnly: false }),
      presence: (operand, field) => ({ type: 'select', id: id(), offset, operand, field, testOnly: true }),
      call: (name, ...args) => this.call(id(), offset, name, args),
      memberCall: (name, target, ...args) => ({ ...this.call(id(), offset, name, args), target }),
      list: (...elements) => ({ type: 'list', id: id(), offset, elements, optional: [] }),
      map: (...entries) => ({ type: 'map', id: id(), offset, entries }),
      entry: (key, value, optional) => ({ id: id(), offset, key, value, optional }),
      comprehension: (parts) => ({ type: 'comprehension', id: id(), offset, ...parts }),
      copy: (expr) => this.#copy(expr, offset),
    };
  }

  /** Copied nodes keep their offsets; entries of maps and messages get the offset of the macro. */
  #copy(expr: Expr, macroOffset: number): Expr {
    const id = this.#nextId++;
    const copy = (part: Expr): Expr => this.#copy(part, macroOffset);
    switch (expr.type) {
      case 'literal':
      case 'ident':
        return { ...expr, id };
      case 'select':
        return { ...expr, id, operand: copy(expr.operand) };
      case 'call': {
        const args = expr.args.map(copy);
        return { ...expr, id, args, target: expr.target === undefined ? undefined : copy(expr.target) };
      }
      case 'list':
        return { ...expr, id, elements: expr.elements.map(copy) };
      case 'map':
        return { ...expr, id, entries: expr.entries.map((entry) => this.#copyEntry(entry, macroOffset, copy)) };
      case 'struct':
        return { ...expr, id, fields: expr.fields.map((field) => this.#copyField(field, macroOffset, copy)) };
      case 'comprehension':
        return this.#copyFold(expr, id, copy);
    }
  }

  #copyEntry(entry: MapEntry, offset: number, copy: (part: Expr) => Expr): MapEntry {
    return { ...entry, id: this.#nextId++, offset, key: copy(entry.key), value: copy(entry.value) };
  }

  #copyField(field: StructField, offset: number, copy: (part: Expr) => Expr): StructField {
    return { ...field, id: this.#nextId++, offset, value: copy(field.value) };
  }

  #copyFold(fold: ComprehensionExpr, id: number, copy: (part: Expr) => Expr): ComprehensionExpr {
    return {
      ...fold,
      id,
      range: copy(fold.range),
      accuInit: copy(fold.accuInit),
      loopCondition: copy(fold.loopCondition),
      loopStep: copy(fold.loopStep),
      result: copy(fold.result),
    };
  }
}

/** An operator in a chain of equal operators. */
export interface ChainLink {
  readonly id: number;
  readonly offset: number;
}

/**
 * Builds a balanced tree from a chain of `&&` or `||`. `links` are the operators between `terms`: the middle one (the
 * later of two) becomes the root, so `a && b && c` is `(a && b) && c`, and `a && b && c && d` is `(a && b) && (c &&
 * d)`.
 */
export function balanced(name: string, terms: readonly Expr[], links: readonly ChainLink[]): Expr {
  const tree = (first: number, last: number): Expr => {
    const term = terms[first];
    if (first > last && term !== undefined) return term;
    const middle = Math.floor((first + last + 1) / 2);
    const args = [tree(first, middle - 1), tree(middle + 1, last)];
    return { type: 'call', id: -1, offset: -1, ...links[middle], function: name, target: undefined, args };
  };
  return tree(0, links.length - 1);
}
