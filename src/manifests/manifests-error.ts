/**
 * What is thrown when some objects of a text were refused: one error that names them all.
 */
import type { AppliedManifest } from './apply.js';
import type { ManifestError } from './read.js';

/**
 * Some objects of a text were not applied. The message has a line for each; `errors` are those lines as errors, each with
 * the server's StatusError as its cause if it was the server that refused.
 */
export class ManifestsError extends AggregateError {
  override readonly name = 'ManifestsError';
  declare errors: ManifestError[];
  /** What became of everything that was tried, in the order of the text. */
  readonly report: readonly AppliedManifest[];

  /** `untried`: how many objects were not even tried, because others of the text cannot be. */
  constructor(call: string, report: readonly AppliedManifest[], untried = 0) {
    const errors = report.flatMap((each) => (each.outcome === 'failed' ? [each.error] : []));
    const lines = errors.map(({ message }) => `\n  ${message}`);
    const count = `${errors.length} of ${report.length + untried} failed`;
    super(errors, `${call}: ${count}${untried === 0 ? '' : '; nothing was applied'}${lines.join('')}`);
    this.report = report;
  }
}

/** The report, if nothing in it failed. */
export function allApplied(call: string, report: readonly AppliedManifest[], untried = 0): readonly AppliedManifest[] {
  if (report.some(({ outcome }) => outcome === 'failed')) throw new ManifestsError(call, report, untried);
  return report;
}
