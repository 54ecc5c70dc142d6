/**
 * Field errors whose value is the whole list although one item is invalid. Some rules of the reference server report
 * like this. The number of reports is limited: otherwise the response grows with the square of the request.
 */
import { type FieldError, invalid } from '../../meta/field-error.js';
import type { Verbatim } from '../../text/go/go-text.js';

/** The maximum number of errors that print the list. */
const MAX_REPORTS = 100;

/** Returns an error at the list's path, or nothing once the maximum is reached. */
export type ReportList = (detail: string) => readonly FieldError[];

/** Creates the reporter for one validation of one list. `print` runs at most once, at the first report. */
export function listReporter(path: string, print: () => Verbatim): ReportList {
  let printed: Verbatim | undefined;
  let reported = 0;
  return (detail) => {
    if (reported >= MAX_REPORTS) return [];
    reported++;
    printed ??= print();
    return [invalid(path, printed, detail)];
  };
}
