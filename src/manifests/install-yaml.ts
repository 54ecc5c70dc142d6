/**
 * `cluster.installYaml`: definitions from a text, and the kinds they make as values for `cluster.api`.
 */
import type { InputBase, ObjectBase } from '../kinds/define-kind.js';
import type { Kind, Scope } from '../kinds/kind.js';
import { compareVersions } from '../meta/api-version.js';
import { isRecord } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { AppliedManifest, ApplySettings, ManifestTarget } from './apply.js';
import { applyManifests, failed, isDefinition } from './apply.js';
import type { ApplyDefaults } from './apply-yaml.js';
import { allApplied, ManifestsError, readText } from './apply-yaml.js';
import type { Manifest } from './read.js';

/** An object of a kind about which only a definition is known: nothing is promised beyond what every object has. */
export interface DynamicObject extends ObjectBase {
  [field: string]: unknown;
}

export interface DynamicInput extends InputBase {
  [field: string]: unknown;
}

/** A kind from a definition. Whether it is namespaced, and which subresources it has, shows when it is used. */
export type DynamicKind = Kind<DynamicObject, DynamicInput, Scope>;

export interface InstallYamlOptions extends Pick<ApplySettings, 'fieldManager' | 'force' | 'timeoutMs' | 'signal'> {}

const OPTIONS = [
  'fieldManager',
  'force',
  'timeoutMs',
  'signal',
] as const satisfies readonly (keyof InstallYamlOptions)[];

/**
 * Applies the definitions of a text, waits until their kinds are served, and returns one kind for each, in the order of
 * the text. Where a definition serves several versions it is the preferred one (`v1` before `v1beta1`); the others are
 * among `cluster.kinds()`. A text with anything but definitions is refused as a whole.
 */
export async function installYaml(
  target: ManifestTarget,
  text: string,
  options: InstallYamlOptions = {},
  defaults: ApplyDefaults = {},
): Promise<readonly DynamicKind[]> {
  refuseUnknownOptions('installYaml', options, OPTIONS);
  options.signal?.throwIfAborted();
  const { manifests, unreadable } = readText('installYaml', text);
  if (unreadable.length > 0) throw new ManifestsError('installYaml', unreadable, manifests.length);
  const others = manifests.filter((manifest) => !isDefinition(manifest));
  if (others.length > 0) {
    throw new ManifestsError('installYaml', others.map(refuse), manifests.length - others.length);
  }
  const fieldManager = options.fieldManager ?? defaults.fieldManager;
  const applied = await applyManifests(target, manifests, { ...defaults, ...options, fieldManager });
  const kinds = allApplied('installYaml', applied).map((each) => kindOf(target, each));
  const unserved = manifests.filter((_, index) => kinds[index] === undefined);
  if (unserved.length > 0) throw new ManifestsError('installYaml', unserved.map(tellUnserved));
  return kinds.filter((kind) => kind !== undefined);
}

function refuse(manifest: Manifest): AppliedManifest {
  return failed(manifest, `installYaml takes definitions only; ${manifest.kind} ${manifest.name} is for applyYaml`);
}

function tellUnserved(manifest: Manifest): AppliedManifest {
  return failed(
    manifest,
    `${manifest.kind} ${manifest.name} serves no kind: it was a dry run, or no version is served`,
  );
}

/** The preferred version of what a definition defines. */
function kindOf(target: ManifestTarget, applied: AppliedManifest): DynamicKind | undefined {
  const spec = applied.outcome === 'failed' ? undefined : applied.object['spec'];
  if (!isRecord(spec) || !isRecord(spec['names'])) return undefined;
  const { group, names } = spec as { readonly group?: unknown; readonly names: Readonly<Record<string, unknown>> };
  const [preferred] = target
    .kinds()
    .filter(({ gvk }) => gvk.group === group && gvk.kind === names['kind'])
    .sort((a, b) => compareVersions(a.gvk.version, b.gvk.version));
  return preferred?.kind as DynamicKind | undefined;
}
