/**
 * `quantity`, `isQuantity`, comparison and arithmetic of quantities.
 */
import { expressionType } from '../../meta/dialect.js';
import { Quantity } from '../../meta/quantity.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, DOUBLE, INT, objectType, STRING } from '../types.js';
import { CelError, CelOpaque, type CelValue } from '../values.js';
import { declare, global, member } from './declare.js';
import { instanceOf, intOf, noSuchOverload, textOf } from './value-arguments.js';

export const QUANTITY_TYPE = objectType(expressionType('Quantity'));

export class CelQuantity extends CelOpaque {
  readonly type = QUANTITY_TYPE;
  /** The result of arithmetic: such a value can stand on the left of `==`, but not on the right. */
  readonly #computed: boolean;
  constructor(
    readonly quantity: Quantity,
    options: { readonly computed?: boolean } = {},
  ) {
    super();
    this.#computed = options.computed === true;
  }
  equals(other: CelValue): boolean {
    const right = instanceOf(CelQuantity, other);
    if (right.#computed) throw noSuchOverload();
    return this.quantity.equals(right.quantity);
  }
}

type Operand = readonly [suffix: string, type: CelType, read: (value: CelValue | undefined) => Quantity];

const OTHER: Operand = ['', QUANTITY_TYPE, quantityOf];
const WHOLE: Operand = ['_int', INT, (value) => Quantity.of(intOf(value), { format: 'DecimalExponent' })];

export const QUANTITIES: Library = {
  name: 'quantity',
  functions: [
    declare(
      'quantity',
      global('string_to_quantity', [STRING], QUANTITY_TYPE, (text) => toQuantity(textOf(text))),
    ),
    declare(
      'isQuantity',
      global('is_quantity_string', [STRING], BOOL, (text) => Quantity.tryParse(textOf(text)).ok),
    ),
    declare(
      'sign', // The one property that is asked for without a dot.
      global('quantity_sign', [QUANTITY_TYPE], INT, (value) => BigInt(quantityOf(value).sign())),
    ),
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

function quantityOf(value: CelValue | undefined): Quantity {
  return instanceOf(CelQuantity, value).quantity;
}

function toQuantity(text: string): CelQuantity {
  const parsed = Quantity.tryParse(text);
  if (!parsed.ok) throw new CelError(parsed.message);
  return new CelQuantity(parsed.quantity);
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
  const call = (value?: CelValue) => read(quantityOf(value));
  return declare(name, member(id, [QUANTITY_TYPE], result, call));
}

function comparison(
  name: string,
  id: string,
  result: CelType,
  judge: (order: number) => CelValue,
): FunctionDeclaration {
  const call = (left?: CelValue, right?: CelValue) => judge(quantityOf(left).cmp(quantityOf(right)));
  return declare(name, member(id, [QUANTITY_TYPE, QUANTITY_TYPE], result, call));
}

function arithmetic(name: string, compute: (left: Quantity, right: Quantity) => Quantity): FunctionDeclaration {
  const overloads = [OTHER, WHOLE].map(([suffix, type, read]) =>
    member(`quantity_${name}${suffix}`, [QUANTITY_TYPE, type], QUANTITY_TYPE, (left, right) => {
      const result = compute(quantityOf(left), read(right));
      return new CelQuantity(result, { computed: true });
    }),
  );
  return declare(name, ...overloads);
}
