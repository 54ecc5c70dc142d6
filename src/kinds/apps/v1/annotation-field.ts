/**
 * Annotations in which this version keeps a field that the reference server's own form has: an integer, written as it
 * writes integers.
 */

import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { quote } from '../../../text/go/go-text.js';
import { sortedRecord } from '../../../util/order.js';

/** Why a text is no integer of 64 bits, in the reference server's words. */
export function integerProblem(text: string): string | undefined {
  const problem = (why: string) => `strconv.ParseInt: parsing ${quote(text)}: ${why}`;
  const value = integerOf(text);
  if (value === undefined) return problem('invalid syntax');
  return BigInt.asIntN(64, value) === value ? undefined : problem('value out of range');
}

function integerOf(text: string): bigint | undefined {
  return /^[+-]?[0-9]+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

export function annotationText(object: ApiObject | DraftObject, name: string): string | undefined {
  const { annotations } = object.metadata;
  return annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}

/** Undefined where there is none. */
export function annotationInteger(object: ApiObject | DraftObject, name: string): bigint | undefined {
  return integerOf(annotationText(object, name) ?? '');
}

/** Undefined takes it away. */
export function setAnnotationInteger(draft: DraftObject, name: string, value: bigint | undefined): void {
  const text = value === undefined ? undefined : String(value);
  if (annotationText(draft, name) === text) return;
  const kept = Object.entries(draft.metadata.annotations ?? {}).filter(([key]) => key !== name);
  if (text !== undefined) kept.push([name, text]);
  const all = sortedRecord(kept);
  draft.metadata.annotations = kept.length === 0 ? undefined : all;
}
