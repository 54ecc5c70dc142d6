/**
 * `cluster.installYaml`: applies CustomResourceDefinitions from a text and returns their kinds as values for
 * `cluster.api`.
 */
import type { Kind, Scope } from '../kinds/kind.js';
import { compareVersions } from '../meta/gvk.js';
import type { InputBase, ObjectBase } from '../meta/object.js';
import { isRecord } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';
import {
  type AppliedManifest,
  type ApplySettings,
  applyManifests,
  failedReport,
  isCrd,
  type ManifestTarget,
} from './apply.js';
import { type ApplyDefaults, ManifestsError, parseText, requireAllApplied } from './apply-yaml.js';
import type { Manifest } from './read.js';

/** An object of a kind that is known only by its CRD: only the common fields are typed. */
export interface DynamicObject extends ObjectBase {
  [field: string]: unknown;
}

/** The input of a {@link DynamicKind}. */
export interface DynamicInput extends InputBase {
  [field: string]: unknown;
}

/** A kind from a CRD. Its scope and subresources are known only at run time. */
export type DynamicKind = Kind<DynamicObject, DynamicInput, Scope>;

/** The options of `installYaml`. */
export interface InstallYamlOptions extends Pick<ApplySettings, 'fieldManager' | 'force' | 'timeoutMs' | 'signal'> {}

const OPTIONS = [
  'fieldManager',
  'force',
  'timeoutMs',
  'signal',
] as const satisfies readonly (keyof InstallYamlOptions)[];

/**
 * Applies the CRDs of a text, waits until their kinds are served, and returns one kind for each, in the order of the
 * text. Of several served versions it returns the preferred one (`v1` before `v1beta1`); the others are in
 * `cluster.kinds()`. A text that contains anything else is rejected as a whole.
 */
export async function installYaml(
  target: ManifestTarget,
  text: string,
  options: InstallYamlOptions = {},
  defaults: ApplyDefaults = {},
): Promise<readonly DynamicKind[]> {
  refuseUnknownOptions('installYaml', options, OPTIONS);
  options.signal?.throwIfAborted();
  const { manifests, unreadable } = parseText('installYaml', text);
  if (unreadable.length > 0) throw new ManifestsError('installYaml', unreadable, manifests.length);
  const others = manifests.filter((manifest) => !isCrd(manifest));
  if (others.length > 0) {
    throw new ManifestsError('installYaml', others.map(notACrdReport), manifests.length - others.length);
  }
  const fieldManager = options.fieldManager ?? defaults.fieldManager;
  const applied = await applyManifests(target, manifests, { ...defaults, ...options, fieldManager });
  const kinds = requireAllApplied('installYaml', applied).map((each) => preferredKind(target, each));
  const unserved = manifests.filter((_, index) => kinds[index] === undefined);
  if (unserved.length > 0) throw new ManifestsError('installYaml', unserved.map(unservedReport));
  return kinds.filter((kind) => kind !== undefined);
}

function notACrdReport(manifest: Manifest): AppliedManifest {
  return failedReport(
    manifest,
    `installYaml takes CustomResourceDefinitions only; apply ${manifest.kind} ${manifest.name} with applyYaml`,
  );
}

function unservedReport(manifest: Manifest): AppliedManifest {
  return failedReport(
    manifest,
    `${manifest.kind} ${manifest.name} serves no kind: it was a dry run, or no version is served`,
  );
}

/** The preferred version of the kind that a CRD defines. */
function preferredKind(target: ManifestTarget, applied: AppliedManifest): DynamicKind | undefined {
  const spec = applied.outcome === 'failed' ? undefined : applied.object['spec'];
  if (!isRecord(spec) || !isRecord(spec['names'])) return undefined;
  const { group, names } = spec as { readonly group?: unknown; readonly names: Readonly<Record<string, unknown>> };
  const [preferred] = target
    .kinds()
    .filter(({ gvk }) => gvk.group === group && gvk.kind === names['kind'])
    .sort((a, b) => compareVersions(a.gvk.version, b.gvk.version));
  return preferred?.kind as DynamicKind | undefined;
}
