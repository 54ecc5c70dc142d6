/**
 * Values as the reference server prints them in messages: `goSyntax…` prints as Go's `%#v`, `goString…` as the `String()`
 * method of the Go type.
 */

import type { LabelSelectorObject, Labels } from '../../meta/labels.js';
import type { DraftMeta, ManagedFieldsEntry, OwnerReference } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { asSent, asSentMap } from '../../schema/empty-values.js';
import { quote, stringSlice, type Verbatim, verbatim } from '../../text/go/go-text.js';
import { sortedEntries } from '../../util/order.js';

/** Prints a LabelSelector as Go's `%#v`. */
export function goSyntaxLabelSelector(selector: LabelSelectorObject): Verbatim {
  const expressions = asSent(selector, 'matchExpressions')?.map((requirement) => {
    const { key, operator } = requirement;
    const values = stringSlice(asSent(requirement, 'values')).verbatim;
    return `v1.LabelSelectorRequirement{Key:${quote(key)}, Operator:${quote(operator)}, Values:${values}}`;
  });
  const list = expressions === undefined ? '(nil)' : `{${expressions.join(', ')}}`;
  return verbatim(
    `v1.LabelSelector{MatchLabels:${goSyntaxStringMap(asSentMap(selector, 'matchLabels'))}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`,
  );
}

/** Prints the labels of metadata as Go's `%#v`. Absent labels print as a nil map. */
export function goSyntaxLabels(metadata: { readonly labels?: Labels | undefined }): Verbatim {
  return verbatim(goSyntaxStringMap(asSentMap(metadata, 'labels')));
}

/** Prints a LabelSelector as its Go `String()` method, for events. */
export function goStringLabelSelector(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return 'nil';
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}

/** Prints metadata as Go's `%#v`. */
export function goSyntaxObjectMeta(metadata: DraftMeta): Verbatim {
  const { name = '', generateName = '', namespace = '', selfLink = '', uid = '' } = metadata;
  const { resourceVersion = '', generation = 0 } = metadata;
  const fields = [
    ['Name', quote(name)],
    ['GenerateName', quote(generateName)],
    ['Namespace', quote(namespace)],
    ['SelfLink', quote(selfLink)],
    ['UID', quote(uid)],
    ['ResourceVersion', quote(resourceVersion)],
    ['Generation', String(generation)],
    [
      'CreationTimestamp',
      goSyntaxTime(metadata.creationTimestamp) ?? 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)',
    ],
    ['DeletionTimestamp', goSyntaxTime(metadata.deletionTimestamp) ?? '<nil>'],
    ['DeletionGracePeriodSeconds', goSyntaxPointer('int64', metadata.deletionGracePeriodSeconds)],
    ['Labels', goSyntaxStringMap(asSentMap(metadata, 'labels'))],
    ['Annotations', goSyntaxStringMap(asSentMap(metadata, 'annotations'))],
    ['OwnerReferences', goSyntaxOwners(asSent(metadata, 'ownerReferences'))],
    ['Finalizers', stringSlice(asSent(metadata, 'finalizers')).verbatim],
    ['ManagedFields', goSyntaxManagers(asSent(metadata, 'managedFields'))],
  ];
  return verbatim(`v1.ObjectMeta{${fields.map(([field, value]) => `${field}:${value}`).join(', ')}}`);
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** A time that a client sent; the reference server converts it to its own time zone. */
function goSyntaxTime(time: string | null | undefined): string | undefined {
  if (time === null || time === undefined) return undefined;
  const date = new Date(time);
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].join(', ');
  const month = MONTHS[date.getUTCMonth()];
  return `time.Date(${date.getUTCFullYear()}, time.${month}, ${date.getUTCDate()}, ${clock}, 0, time.Local)`;
}

/** Pointer addresses differ from run to run; this one is a placeholder. */
function goSyntaxPointer(type: string, value: unknown): string {
  return `(*${type})(${(value ?? null) === null ? 'nil' : '0xc000000000'})`;
}

function goSyntaxOwners(owners: readonly OwnerReference[] | undefined): string {
  const printed = owners?.map(
    ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }) =>
      `v1.OwnerReference{APIVersion:${quote(apiVersion)}, Kind:${quote(kind)}, Name:${quote(name)}, UID:${quote(uid)}, ` +
      `Controller:${goSyntaxPointer('bool', controller)}, BlockOwnerDeletion:${goSyntaxPointer('bool', blockOwnerDeletion)}}`,
  );
  return `[]v1.OwnerReference${printed === undefined ? '(nil)' : `{${printed.join(', ')}}`}`;
}

function goSyntaxManagers(entries: readonly ManagedFieldsEntry[] | undefined): string {
  const printed = entries?.map(
    ({ manager = '', operation = '', apiVersion = '', time, fieldsType = '', fieldsV1, subresource = '' }) =>
      `v1.ManagedFieldsEntry{Manager:${quote(manager)}, Operation:${quote(operation)}, APIVersion:${quote(apiVersion)}, ` +
      `Time:${goSyntaxTime(time) ?? '<nil>'}, FieldsType:${quote(fieldsType)}, ` +
      `FieldsV1:${goSyntaxPointer('v1.FieldsV1', fieldsV1)}, Subresource:${quote(subresource)}}`,
  );
  return `[]v1.ManagedFieldsEntry${printed === undefined ? '(nil)' : `{${printed.join(', ')}}`}`;
}

function goSyntaxStringMap(map: Readonly<Record<string, string>> | undefined): string {
  if (map === undefined) return 'map[string]string(nil)';
  const entries = sortedEntries(map);
  return `map[string]string{${entries.map(([key, value]) => `${quote(key)}:${quote(value)}`).join(', ')}}`;
}

/**
 * Prints a quantity as Go's `%#v`. The output depends on the text that the client sent (see `originalQuantityText`): a text that was
 * made canonical in between (`0.5` as `500m`) prints the numbers of the canonical text. Quantities of a resource list are
 * rounded to three decimals. `printed` is the canonical text, if the message prints that, too: printing a quantity caches it.
 * An empty text is the quantity that a client sends as null.
 */
export function goSyntaxQuantity(text: string, decimals = 9, printed?: string): Verbatim {
  if (text === '') return goSyntaxQuantityFields({ value: 0n, scale: 0 }, { cachedText: printed ?? '', format: '' });
  // The parser returns early for "0" and keeps the text.
  if (text === '0') return goSyntaxQuantityFields({ value: 0n, scale: 0 }, { cachedText: text, format: 'DecimalSI' });
  const { format } = Quantity.parse(text);
  const amount = int64AmountOf(text, format);
  if (amount !== undefined && amount.scale < -decimals) {
    const value = Quantity.parse(text).scaledValue(-decimals);
    return goSyntaxQuantityFields({ value, scale: -decimals }, { cachedText: printed ?? '', format });
  }
  const cachedText = printed ?? (amount?.isTextCached === true ? text : '');
  return goSyntaxQuantityFields(amount, { cachedText, format });
}

/** Whether the reference server's parser represents a quantity as an arbitrary-precision decimal. */
export function isWideQuantity(text: string): boolean {
  return text !== '' && int64AmountOf(text, Quantity.parse(text).format) === undefined;
}

/** The same for a quantity that was compared with a wide one, which makes it wide, too. */
export function goSyntaxWidenedQuantity(text: string, printed: string): Verbatim {
  const format = text === '' ? '' : Quantity.parse(text).format;
  return goSyntaxQuantityFields(undefined, { cachedText: printed, format });
}

function goSyntaxQuantityFields(
  amount: { readonly value: bigint; readonly scale: number } | undefined,
  { cachedText, format }: { readonly cachedText: string; readonly format: string },
): Verbatim {
  // Numbers that do not fit int64Amount are stored in infDecAmount, which prints as a pointer.
  const { value, scale } = amount ?? { value: 0n, scale: 0 };
  const pointer = amount === undefined ? '0xc000000000' : 'nil';
  return verbatim(
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, ` +
      `d:resource.infDecAmount{Dec:(*inf.Dec)(${pointer})}, s:${quote(cachedText)}, Format:${quote(format)}}`,
  );
}

const QUANTITY_TEXT = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([^0-9.]?.*)$/;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * The `int64Amount` of a quantity text, and whether the Go parser caches that text. Undefined for numbers that do not
 * fit. upstream: apimachinery/pkg/api/resource/quantity.go ParseQuantity
 */
function int64AmountOf(
  text: string,
  format: Quantity['format'],
): { readonly value: bigint; readonly scale: number; readonly isTextCached: boolean } | undefined {
  const [, sign = '', whole = '', fraction = '', suffix = ''] = QUANTITY_TEXT.exec(text) ?? [];
  const digits = whole === '' ? '0' : whole;
  const negate = (value: bigint) => (sign === '-' ? -value : value);
  if (format === 'BinarySI') {
    const exponent = 10 * BINARY_SUFFIXES.indexOf(suffix);
    if (fraction !== '' || digits.length + (exponent * 3) / 10 + 1 > 15) return undefined;
    const count = BigInt(digits);
    return { value: negate(count << BigInt(exponent)), scale: 0, isTextCached: count % 8n !== 0n };
  }
  const exponent = format === 'DecimalSI' ? 3 * DECIMAL_SUFFIXES.indexOf(suffix) - 9 : Number(suffix.slice(1));
  const scale = exponent - fraction.length;
  const all = digits + fraction;
  if (all.length > 18 || scale < -9) return undefined;
  const isTextCached = scale % 3 === 0 && !all.endsWith('000') && !all.startsWith('0');
  return { value: negate(BigInt(all)), scale, isTextCached };
}
