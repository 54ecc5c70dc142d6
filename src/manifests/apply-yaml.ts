/**
 * `cluster.applyYaml`: all objects of a text, applied in an order that works.
 */
import type { ClientDefaults } from '../client/options.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { AppliedManifest, ApplySettings, ManifestTarget } from './apply.js';
import { applyManifests } from './apply.js';
import { allApplied } from './manifests-error.js';
import { readText } from './read-text.js';

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
