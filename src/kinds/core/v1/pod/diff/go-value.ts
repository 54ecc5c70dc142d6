/**
 * Converts JSON to values of Go types, in which every field has a value, by default the zero value.
 */
import { Quantity } from '../../../../../meta/quantity.js';
import { wasSentEmpty } from '../../../../../schema/empty-values.js';
import { printedQuantityText } from '../../../../../schema/quantity-texts.js';
import { isRecord, own } from '../../../../../util/json.js';
import { goSyntaxQuantity } from '../../../../shared/go-syntax.js';
import { type GoField, type GoType, goType } from './go-types.js';

/** A value of a Go type. Which property is set depends on the kind of the type. */
export interface GoValue {
  readonly type: GoType;
  /** The field values of a struct or the items of a slice. Null for a nil slice. */
  readonly items?: readonly GoValue[] | null;
  /** The sorted entries of a map. Null for a nil map. */
  readonly entries?: ReadonlyMap<string, GoValue> | null;
  /** The target of a pointer. Null for a nil pointer. */
  readonly target?: GoValue | null;
  /** A string, number or boolean, or the text of a quantity. */
  readonly scalar?: string | number | bigint | boolean;
}

/** Converts a JSON value. `isStored`: it was read from the store, so quantities have their canonical text. */
export function goValue(type: GoType, value: unknown, isStored = false): GoValue {
  const given = value === null ? undefined : value;
  switch (type.kind) {
    case 'struct':
      return structValue(type, given, isStored);
    case 'pointer':
      return { type, target: given === undefined ? null : goValue(type.of, given, isStored) };
    case 'slice':
      return { type, items: Array.isArray(given) ? given.map((item) => goValue(type.of, item, isStored)) : null };
    case 'map': {
      if (!isRecord(given)) return { type, entries: null };
      const sorted = Object.keys(given).sort();
      return {
        type,
        entries: new Map(sorted.map((key) => [key, goValue(type.of, quantityText(given, key, isStored), isStored)])),
      };
    }
    case 'string':
      return { type, scalar: typeof given === 'string' ? given : '' };
    case 'int':
      return { type, scalar: typeof given === 'number' || typeof given === 'bigint' ? given : 0 };
    case 'bool':
      return { type, scalar: given === true };
    case 'quantity':
      return { type, scalar: typeof given === 'string' ? given : '' };
  }
}

function structValue(type: GoType & { readonly kind: 'struct' }, given: unknown, isStored: boolean): GoValue {
  if (type.name === 'intstr.IntOrString') {
    const parts = typeof given === 'string' ? [1, 0, given] : [0, given, ''];
    return { type, items: type.fields.map((field, index) => goValue(field.type, parts[index])) };
  }
  const record = isRecord(given) ? given : {};
  const items = type.fields.map((field) =>
    goValue(field.type, field.wire === '' ? record : sentValue(record, field, isStored), isStored),
  );
  return { type, items };
}

/** The value of a field, or the empty list or map that the client sent. */
function sentValue(record: Readonly<Record<string, unknown>>, { wire, type }: GoField, isStored: boolean): unknown {
  const value = quantityText(record, wire, isStored);
  if (value !== undefined || !wasSentEmpty(record, wire)) return value;
  return type.kind === 'slice' ? [] : {};
}

/** The value of a key. A quantity that was not stored has the client's spelling. */
function quantityText(holder: Readonly<Record<string, unknown>>, key: string, isStored: boolean): unknown {
  return (isStored ? undefined : printedQuantityText(holder, key)) ?? own(holder, key);
}

/** True for the zero value of a type. Empty slices and maps are not zero values, only nil ones. */
export function isZero(value: GoValue): boolean {
  switch (value.type.kind) {
    case 'struct':
      return (value.items ?? []).every(isZero);
    case 'pointer':
      return value.target === null;
    case 'slice':
      return value.items === null;
    case 'map':
      return value.entries === null;
    default:
      return !value.scalar;
  }
}

export function sameQuantity(left: GoValue, right: GoValue): boolean {
  return quantityOf(left).equals(quantityOf(right));
}

function quantityOf({ type, scalar }: GoValue): Quantity {
  const quantity = Quantity.parse(scalar === '' ? '0' : String(scalar));
  return type.kind === 'quantity' ? quantity.roundUp(-type.decimals) : quantity;
}

const AMOUNT_TYPE: GoType = {
  kind: 'struct',
  name: 'resource.int64Amount',
  fields: [
    { name: 'value', wire: 'value', type: goType('int64') },
    { name: 'scale', wire: 'scale', type: goType('int32') },
  ],
};

const QUANTITY_TYPE: GoType = {
  kind: 'struct',
  name: 'resource.Quantity',
  fields: [
    { name: 'i', wire: 'i', type: AMOUNT_TYPE },
    { name: 'd', wire: 'd', type: { kind: 'string', name: 'resource.infDecAmount' } },
    { name: 's', wire: 's', type: goType('string') },
    { name: 'Format', wire: 'format', type: goType('string') },
  ],
};

/** The internal fields of a quantity, printed when its text does not show the difference. */
export function quantityStruct({ type, scalar }: GoValue): GoValue {
  if (scalar === '') return goValue(QUANTITY_TYPE, {});
  const decimals = type.kind === 'quantity' ? type.decimals : 0;
  const { verbatim } = goSyntaxQuantity(String(scalar), decimals);
  const [, value = '0', scale = '0', pointer = 'nil', s = '', format = ''] =
    /value:(-?\d+), scale:(-?\d+).*inf\.Dec\)\((\w+)\).* s:"([^"]*)", Format:"([^"]*)"/.exec(verbatim) ?? [];
  const d = pointer === 'nil' ? '' : Quantity.parse(String(scalar)).toFixed(decimals);
  return goValue(QUANTITY_TYPE, { i: { value: BigInt(value), scale: Number(scale) }, d, s, format });
}
