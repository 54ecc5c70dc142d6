/**
 * `cluster.applyYaml`: all objects of a text, applied in an order that works.
 */
import type { ClientDefaults } from '../client/options.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { AppliedManifest, ApplySettings, ManifestTarget } from './apply.js';
import { applyManifests, unreadable } from './apply.js';
import { type Manifest, ManifestError, readManifests } from './read.js';

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

export interface ApplyYamlOptions
  extends Pick<
    ApplySettings,
    'fieldManager' | 'force' | 'namespace' | 'fieldValidation' | 'dryRun' | 'timeoutMs' | 'signal'
  > {
  /**
   * What a refused object does to the others, and to the call:
   * - `continue` (unless said otherwise): the others are applied; then the call rejects with ManifestsError
   * - `stop`: nothing after it is applied, and the call rejects with the same error
   * - `report`: the others are applied, and the call resolves with a report that tells of failures too
   */
  readonly onError?: 'continue' | 'stop' | 'report' | undefined;
}

const OPTIONS = [
  'fieldManager',
  'force',
  'namespace',
  'fieldValidation',
  'dryRun',
  'timeoutMs',
  'signal',
  'onError',
] as const satisfies readonly (keyof ApplyYamlOptions)[];

const ON_ERROR: readonly unknown[] = ['continue', 'stop', 'report'];

/** What of a client's defaults goes for applying too. */
export type ApplyDefaults = Pick<
  ClientDefaults,
  'fieldManager' | 'namespace' | 'dryRun' | 'fieldValidation' | 'as' | 'onWarning'
>;

/**
 * Applies all objects of a text (YAML with any number of documents, or JSON; lists are taken apart) and tells what
 * became of each, in the order of the text.
 *
 * Definitions are applied first and waited for until their kinds are served, then namespaces and what admission asks
 * for (classes, limits, quotas, service accounts), then the rest in order of appearance. When a document cannot be read,
 * nothing is applied at all. Rejects with ManifestsError when something failed (see `onError`), with TypeError on misuse,
 * with the signal's reason on abort. What the options leave open is taken from `defaults`.
 */
export async function applyYaml(
  target: ManifestTarget,
  text: string,
  options: ApplyYamlOptions = {},
  defaults: ApplyDefaults = {},
): Promise<readonly AppliedManifest[]> {
  refuseUnknownOptions('applyYaml', options, OPTIONS);
  options.signal?.throwIfAborted();
  const { onError = 'continue', ...settings } = options;
  if (!ON_ERROR.includes(onError)) {
    throw new TypeError(`orchplane: onError of applyYaml is ${ON_ERROR.join(', ')}; got ${JSON.stringify(onError)}`);
  }
  const { manifests, unreadable } = readText('applyYaml', text);
  const stopAtFailure = onError === 'stop';
  const applied =
    unreadable.length > 0
      ? unreadable
      : await applyManifests(target, manifests, { ...defaults, ...given(settings), stopAtFailure });
  const report = applied.toSorted((a, b) => a.document - b.document || (a.item ?? 0) - (b.item ?? 0));
  const untried = unreadable.length > 0 ? manifests.length : 0;
  return onError === 'report' ? report : allApplied('applyYaml', report, untried);
}

/** Without those that are there and say nothing, which would hide the defaults. */
function given<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}

interface ReadText {
  readonly manifests: readonly Manifest[];
  readonly unreadable: readonly AppliedManifest[];
}

/** Throws TypeError when it is no text at all; `call` is what was given it. */
export function readText(call: string, text: unknown): ReadText {
  if (typeof text !== 'string') {
    throw new TypeError(`orchplane: ${call} takes the text of a manifest, got ${text === null ? 'null' : typeof text}`);
  }
  const read = readManifests({ text });
  return {
    manifests: read.filter((each): each is Manifest => !(each instanceof ManifestError)),
    unreadable: read.filter((each) => each instanceof ManifestError).map(unreadable),
  };
}

/** The report, if nothing in it failed. */
export function allApplied(call: string, report: readonly AppliedManifest[], untried = 0): readonly AppliedManifest[] {
  if (report.some(({ outcome }) => outcome === 'failed')) throw new ManifestsError(call, report, untried);
  return report;
}
