/**
 * `cluster.applyYaml`: applies all objects of a YAML or JSON text in dependency order.
 */
import type { ClientDefaults } from '../client/options.js';
import { refuseUnknownOptions } from '../util/options.js';
import {
  type AppliedManifest,
  type ApplySettings,
  applyManifests,
  type ManifestTarget,
  unreadableReport,
} from './apply.js';
import { type Manifest, ManifestError, readManifests } from './read.js';

/** The options of `applyYaml`. */
export interface ApplyYamlOptions
  extends Pick<
    ApplySettings,
    'fieldManager' | 'force' | 'namespace' | 'fieldValidation' | 'dryRun' | 'timeoutMs' | 'signal'
  > {
  /**
   * What happens when an object is rejected:
   * - `continue` (the default): the others are applied; then the call rejects with ManifestsError
   * - `stop`: nothing after it is applied, and the call rejects with the same error
   * - `report`: the others are applied, and the call resolves with a report that includes the failures
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

/** The client defaults that also apply to manifests. */
export type ApplyDefaults = Pick<
  ClientDefaults,
  'fieldManager' | 'namespace' | 'dryRun' | 'fieldValidation' | 'as' | 'onWarning'
>;

/**
 * Applies all objects of a text (YAML with any number of documents, or JSON; lists are split into items) and reports
 * the outcome of each, in the order of the text.
 *
 * CustomResourceDefinitions are applied first and awaited until their kinds are served, then namespaces and other
 * prerequisites (classes, limits, quotas, service accounts), then the rest in order of appearance. When a document
 * cannot be read, nothing is applied. Rejects with ManifestsError when something failed (see `onError`), with TypeError
 * on misuse, with the signal's reason on abort. `defaults` applies where the options are absent.
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
  const { manifests, unreadable } = parseText('applyYaml', text);
  const stopAtFailure = onError === 'stop';
  const applied =
    unreadable.length > 0
      ? unreadable
      : await applyManifests(target, manifests, { ...defaults, ...withoutUndefined(settings), stopAtFailure });
  const report = applied.toSorted((a, b) => a.document - b.document || (a.item ?? 0) - (b.item ?? 0));
  const untried = unreadable.length > 0 ? manifests.length : 0;
  return onError === 'report' ? report : requireAllApplied('applyYaml', report, untried);
}

/** Removes undefined members, which would hide the defaults. */
function withoutUndefined<Options extends object>(options: Options): Options {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Options;
}

interface ParsedText {
  readonly manifests: readonly Manifest[];
  readonly unreadable: readonly AppliedManifest[];
}

/** Parses a text. Throws TypeError when it is not a string; `call` is the function name in the message. */
export function parseText(call: string, text: unknown): ParsedText {
  if (typeof text !== 'string') {
    throw new TypeError(`orchplane: ${call} takes the text of a manifest, got ${text === null ? 'null' : typeof text}`);
  }
  const read = readManifests({ text });
  return {
    manifests: read.filter((each): each is Manifest => !(each instanceof ManifestError)),
    unreadable: read.filter((each) => each instanceof ManifestError).map(unreadableReport),
  };
}

/**
 * Some objects of a text were not applied. The message has a line for each; `errors` contains them as errors, each with
 * the server's StatusError as its cause if the server rejected the object.
 */
export class ManifestsError extends AggregateError {
  override readonly name = 'ManifestsError';
  declare errors: ManifestError[];
  /** The outcome of every attempted object, in the order of the text. Not printed with the error, which has `errors`. */
  declare readonly report: readonly AppliedManifest[];

  /** `untried`: the number of objects that were not attempted because others are invalid. */
  constructor(call: string, report: readonly AppliedManifest[], untried = 0) {
    const errors = report.flatMap((each) => (each.outcome === 'failed' ? [each.error] : []));
    const lines = errors.map(({ message }) => `\n  ${message}`);
    const count = `${errors.length} of ${report.length + untried} failed`;
    super(errors, `${call}: ${count}${untried === 0 ? '' : '; nothing was applied'}${lines.join('')}`);
    Object.defineProperty(this, 'report', { value: report });
  }
}

/** Returns the report, or throws when it contains a failure. */
export function requireAllApplied(
  call: string,
  report: readonly AppliedManifest[],
  untried = 0,
): readonly AppliedManifest[] {
  if (report.some(({ outcome }) => outcome === 'failed')) throw new ManifestsError(call, report, untried);
  return report;
}
