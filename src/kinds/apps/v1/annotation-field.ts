/**
 * Reads and writes int64 annotations that are fields of the reference server's internal type.
 */
import type { DeepReadonly, DraftObject } from '../../../meta/object.js';
import { quote } from '../../../text/go/go-text.js';
import { sortedRecord } from '../../../util/order.js';

/** The reference server's message for a text that is not an int64; undefined if it is one. */
export function integerProblem(text: string): string | undefined {
  const problem = (why: string) => `strconv.ParseInt: parsing ${quote(text)}: ${why}`;
  const value = integerOf(text);
  if (value === undefined) return problem('invalid syntax');
  return BigInt.asIntN(64, value) === value ? undefined : problem('value out of range');
}

function integerOf(text: string): bigint | undefined {
  return /^[+-]?[0-9]+$/.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined;
}

interface Annotated {
  metadata: { annotations?: Record<string, string> | undefined };
}

/** The value of an annotation. */
export function annotationText(object: DeepReadonly<Annotated>, name: string): string | undefined {
  const { annotations } = object.metadata;
  return annotations !== undefined && Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}

/** The value of an integer annotation; undefined if it is absent. */
export function annotationInteger(object: DeepReadonly<Annotated>, name: string): bigint | undefined {
  return integerOf(annotationText(object, name) ?? '');
}

/** Sets an integer annotation, or deletes it if the value is undefined. */
export function setAnnotationInteger(draft: DraftObject, name: string, value: bigint | undefined): void {
  const text = value === undefined ? undefined : String(value);
  if (annotationText(draft, name) === text) return;
  const kept = Object.entries(draft.metadata.annotations ?? {}).filter(([key]) => key !== name);
  if (text !== undefined) kept.push([name, text]);
  const all = sortedRecord(kept);
  draft.metadata.annotations = kept.length === 0 ? undefined : all;
}
