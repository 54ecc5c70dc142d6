/**
 * Reports that print a whole list for what is wrong with one of its items. The reference server does so here and there;
 * with many bad items the answer would grow with the square of the request.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';
import type { Verbatim } from '../../text/go/go-text.js';

/** More than anybody reads. An answer says no more often than this how a list looks. */
const MAX_REPORTS = 100;

/** Says what is wrong with an item, at the list. Gives nothing once enough was said. */
export type ReportList = (detail: string) => readonly FieldError[];

/** One for each list and each judgement of it. The list is printed once, when it is first needed. */
export function listReporter(path: string, print: () => Verbatim): ReportList {
  let printed: Verbatim | undefined;
  let said = 0;
  return (detail) => {
    if (said >= MAX_REPORTS) return [];
    said++;
    printed ??= print();
    return [invalid(path, printed, detail)];
  };
}
