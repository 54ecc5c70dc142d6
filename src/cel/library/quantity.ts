/** Quantities: `quantity`, `isQuantity`, comparison and arithmetic. */
import { expressionType } from '../../meta/dialect.js';
import { Quantity, type QuantityResult } from '../../meta/quantity.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, DOUBLE, INT, objectType, STRING } from '../types.js';
import { CelError, CelOpaque, type CelValue } from '../values.js';
import { spendWork } from '../work-budget.js';
import { asInstance, declare, globalFunction, member, memberFunction, noSuchOverload } from './declare.js';

export const QUANTITY_TYPE = objectType<CelQuantity>(expressionType('Quantity'));

export class CelQuantity extends CelOpaque {
  readonly type = QUANTITY_TYPE;
  override readonly goTypeName: string;
  /**
   * Results of arithmetic are pointers in the reference server: they may be the left operand of `==`, but not the right
   * one.
   */
  readonly #computed: boolean;
  /** The approximate number of digits if it is large, else 0. */
  readonly weight: number;
  constructor(
    readonly quantity: Quantity,
    options: { readonly computed?: boolean; readonly weight?: number } = {},
  ) {
    super();
    this.weight = options.weight ?? 0;
    this.#computed = options.computed === true;
    this.goTypeName = this.#computed ? '*cel.Quantity' : 'cel.Quantity';
  }
  equals(other: CelValue): boolean {
    const right = asInstance(CelQuantity, other);
    if (right.#computed) throw noSuchOverload();
    spendCombinedWork(this, right);
    return this.quantity.equals(right.quantity);
  }
}

export const QUANTITIES: Library = {
  name: 'quantity',
  functions: [
    globalFunction('quantity', 'string_to_quantity', [STRING], QUANTITY_TYPE, toQuantity),
    globalFunction('isQuantity', 'is_quantity_string', [STRING], BOOL, (text) => readQuantity(text).ok),
    // `sign` is a global function, unlike the other properties.
    globalFunction('sign', 'quantity_sign', [QUANTITY_TYPE], INT, ({ quantity }) => BigInt(quantity.sign())),
    comparison('isGreaterThan', 'quantity_is_greater_than', BOOL, (order) => order > 0),
    comparison('isLessThan', 'quantity_is_less_than', BOOL, (order) => order < 0),
    comparison('compareTo', 'quantity_compare_to', INT, BigInt),
    property('asApproximateFloat', 'quantity_get_float', DOUBLE, (quantity) => quantity.approximateFloat()),
    property('asInteger', 'quantity_get_int', INT, toInteger),
    property('isInteger', 'quantity_is_integer', BOOL, (quantity) => quantity.asInt64() !== undefined),
    arithmetic('add', (left, right) => left.add(right)),
    arithmetic('sub', (left, right) => left.sub(right)),
  ],
};

/** Work to parse one digit of a long number, and to add or compare one. */
const READ = 100;
const ADD = 10;
const MANY_DIGITS = 100;
/** Exponents with at least three digits produce up to MAX_DIGITS digits. */
const LARGE_EXPONENT = /[eE][-+]?0*[0-9]{3}/;
const MAX_DIGITS = 10_000;

function toQuantity(text: string): CelQuantity {
  const weight = text.length > MANY_DIGITS || LARGE_EXPONENT.test(text) ? text.length + MAX_DIGITS : 0;
  const parsed = readQuantity(text);
  if (!parsed.ok) throw new CelError(parsed.message);
  return new CelQuantity(parsed.quantity, { weight });
}

function readQuantity(text: string): QuantityResult {
  if (text.length > MANY_DIGITS) spendWork(READ * text.length);
  return Quantity.tryParse(text);
}

/** Spends the work of combining two numbers, which the cost model does not count. Returns the weight of the result. */
function spendCombinedWork(left: CelQuantity, right: CelQuantity): number {
  const weight = Math.max(left.weight, right.weight);
  spendWork(ADD * weight);
  return weight;
}

function toInteger(quantity: Quantity): bigint {
  const whole = quantity.asInt64();
  if (whole === undefined) throw new CelError('cannot convert value to integer');
  return whole;
}

function property(
  name: string,
  id: string,
  result: CelType,
  read: (quantity: Quantity) => CelValue,
): FunctionDeclaration {
  return memberFunction(name, id, [QUANTITY_TYPE], result, ({ quantity }) => read(quantity));
}

function comparison(
  name: string,
  id: string,
  result: CelType,
  interpret: (order: number) => CelValue,
): FunctionDeclaration {
  return memberFunction(name, id, [QUANTITY_TYPE, QUANTITY_TYPE], result, (left, right) => {
    spendCombinedWork(left, right);
    return interpret(left.quantity.cmp(right.quantity));
  });
}

function arithmetic(name: string, compute: (left: Quantity, right: Quantity) => Quantity): FunctionDeclaration {
  const combined = (left: CelQuantity, right: CelQuantity) => {
    const weight = spendCombinedWork(left, right);
    return new CelQuantity(compute(left.quantity, right.quantity), { computed: true, weight });
  };
  return declare(
    name,
    member(`quantity_${name}`, [QUANTITY_TYPE, QUANTITY_TYPE], QUANTITY_TYPE, combined),
    member(`quantity_${name}_int`, [QUANTITY_TYPE, INT], QUANTITY_TYPE, (left, right) =>
      combined(left, new CelQuantity(Quantity.of(right, { format: 'DecimalExponent' }))),
    ),
  );
}
