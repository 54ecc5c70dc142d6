/**
 * Validation of volume sources that expose API objects as files: ConfigMaps, Secrets, pod fields (downward API), tokens,
 * trust bundles, and projected volumes. Each function takes the path of the source.
 */

import { childPath, type FieldError, forbidden, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../../meta/labels.js';
import { quote, type Verbatim, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import type {
  ClusterTrustBundleProjection,
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../generated/core-v1.js';
import { goSyntaxLabelSelector } from '../../../shared/go-syntax.js';
import { signerNameProblems, trustBundleNameProblems } from '../../../shared/signer-name.js';
import { fieldRefProblems, resourceFieldRefProblems, VOLUME_FIELDS } from './field-refs.js';
import { localPathProblems, modeProblems, requiredProblems } from './volume-paths.js';

export function secretProblems(path: string, source: SecretVolumeSource): FieldError[] {
  const { secretName, defaultMode, items } = source;
  return [
    ...requiredProblems(path, { secretName }),
    ...modeProblems(childPath(path, 'defaultMode'), defaultMode),
    ...itemsProblems(path, items),
  ];
}

export function configMapProblems(path: string, { name, defaultMode, items }: ConfigMapVolumeSource): FieldError[] {
  return [
    ...requiredProblems(path, { name }),
    ...modeProblems(childPath(path, 'defaultMode'), defaultMode),
    ...itemsProblems(path, items),
  ];
}

/** `onItem` is called with the path of each item after its validation, and may return further errors. */
function itemsProblems(
  path: string,
  items: readonly KeyToPath[] = [],
  onItem: (target: string) => readonly FieldError[] = () => [],
): FieldError[] {
  return items.flatMap(({ key, path: target, mode }, index) => {
    const at = keyPath(childPath(path, 'items'), index);
    return [
      ...requiredProblems(at, { key, path: target }),
      ...localPathProblems(childPath(at, 'path'), target),
      ...modeProblems(childPath(at, 'mode'), mode),
      ...onItem(target),
    ];
  });
}

export function downwardAPIProblems(path: string, { defaultMode, items = [] }: DownwardAPIVolumeSource): FieldError[] {
  return [
    ...modeProblems(childPath(path, 'defaultMode'), defaultMode),
    ...items.flatMap((file) => fileProblems(path, file)),
  ];
}

/** As in the reference server, the error paths contain no item index. */
function fileProblems(path: string, file: DownwardAPIVolumeFile): FieldError[] {
  const { path: target, fieldRef, resourceFieldRef, mode } = file;
  const found = [...requiredProblems(path, { path: target }), ...localPathProblems(childPath(path, 'path'), target)];
  if (fieldRef !== undefined) {
    append(found, fieldRefProblems(childPath(path, 'fieldRef'), fieldRef, VOLUME_FIELDS));
    if (resourceFieldRef !== undefined) {
      found.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
    }
  } else if (resourceFieldRef !== undefined) {
    const at = childPath(path, 'resourceFieldRef');
    append(found, resourceFieldRefProblems(at, resourceFieldRef, { inVolume: true }));
  } else {
    found.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  }
  return [...found, ...modeProblems(childPath(path, 'mode'), mode)];
}

export function projectedProblems(path: string, { defaultMode, sources }: ProjectedVolumeSource): FieldError[] {
  const taken = new Set<string>();
  // Absent sources are null.
  const all: readonly VolumeProjection[] = sources ?? [];
  return [
    ...modeProblems(childPath(path, 'defaultMode'), defaultMode),
    ...all.flatMap((source, index) =>
      projectionProblems(keyPath(childPath(path, 'sources'), index), source, { path, taken }),
    ),
  ];
}

/** The projected volume: its path, and the file paths of the sources validated so far. */
interface ProjectedVolume {
  readonly path: string;
  readonly taken: Set<string>;
}

function projectionProblems(at: string, source: VolumeProjection, volume: ProjectedVolume): FieldError[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle } = source;
  const found: FieldError[] = [];
  // The reported value is the name of the object, or the path for sources without a name.
  const clash = (target: string, reported: string) => {
    if (!volume.taken.has(target)) {
      volume.taken.add(target);
      return [];
    }
    return [invalid(volume.path, reported, 'conflicting duplicate paths')];
  };
  const named = (kind: string, { name = '', items }: { name?: string; items?: readonly KeyToPath[] }) => [
    ...requiredProblems(childPath(at, kind), { name }),
    ...itemsProblems(childPath(at, kind), items, (target) => (target === '' ? [] : clash(target, name))),
  ];
  if (secret !== undefined) append(found, named('secret', secret));
  if (configMap !== undefined) append(found, named('configMap', configMap));
  for (const file of downwardAPI?.items ?? []) {
    append(found, fileProblems(childPath(at, 'downwardAPI'), file));
    if (file.path !== '') append(found, clash(file.path, file.path));
  }
  if (serviceAccountToken !== undefined) append(found, tokenProblems(at, serviceAccountToken, volume));
  if (clusterTrustBundle !== undefined) {
    append(found, trustBundleProblems(childPath(at, 'clusterTrustBundle'), clusterTrustBundle));
    append(found, clash(clusterTrustBundle.path, clusterTrustBundle.path));
  }
  const given = [secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle];
  if (given.filter((projection) => projection !== undefined).length > 1) {
    found.push(forbidden(at, 'may not specify more than 1 volume type per source'));
  }
  return found;
}

const TEN_MINUTES = 600;
const MAX_SECONDS = 2 ** 32;

function tokenProblems(at: string, token: ServiceAccountTokenProjection, volume: ProjectedVolume): FieldError[] {
  const { expirationSeconds, path: target } = token;
  const secondsPath = childPath(at, 'serviceAccountToken.expirationSeconds');
  const found: FieldError[] = [];
  if (expirationSeconds < TEN_MINUTES) {
    found.push(invalid(secondsPath, expirationSeconds, 'may not specify a duration less than 10 minutes'));
  }
  if (expirationSeconds > MAX_SECONDS) {
    found.push(invalid(secondsPath, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  // As in the reference server, the path is reported at the volume, and duplicate paths are not checked.
  const targetPath = childPath(volume.path, 'path');
  return [...found, ...(target === '' ? [required(targetPath)] : localPathProblems(targetPath, target))];
}

/** Pods without a service account cannot have token projections. `path` is the path of the volumes. */
export function tokenVolumesProblems(
  path: string,
  volumes: readonly { readonly projected?: ProjectedVolumeSource }[] | undefined,
): FieldError[] {
  return (volumes ?? []).flatMap(({ projected }, index) =>
    ((projected?.sources ?? []) as readonly VolumeProjection[]).flatMap(({ serviceAccountToken }, source) => {
      if (serviceAccountToken === undefined) return [];
      const at = childPath(
        keyPath(childPath(keyPath(path, index), 'projected.sources'), source),
        'serviceAccountToken',
      );
      return [forbidden(at, 'must not be specified when serviceAccountName is not set')];
    }),
  );
}

/** Validates a trust bundle projection, which selects one bundle by name or all bundles of a signer. */
function trustBundleProblems(path: string, bundle: ClusterTrustBundleProjection): FieldError[] {
  return [
    ...choiceProblems(path, bundle),
    ...requiredProblems(path, { path: bundle.path }),
    ...localPathProblems(childPath(path, 'path'), bundle.path),
  ];
}

function choiceProblems(path: string, bundle: ClusterTrustBundleProjection): FieldError[] {
  const { name, signerName, labelSelector } = bundle;
  if (name !== undefined && signerName !== undefined) {
    return [invalid(path, goSyntaxBundle(bundle), 'only one of name and signerName may be used')];
  }
  const selectorPath = childPath(path, 'labelSelector');
  if (name !== undefined) {
    const found = nameProblems(childPath(path, 'name'), name);
    if (labelSelector !== undefined) {
      found.push(
        invalid(selectorPath, goSyntaxLabelSelector(labelSelector), 'labelSelector must be unset if name is specified'),
      );
    }
    return found;
  }
  if (signerName === undefined) return [required(path, 'either name or signerName must be specified')];
  const at = childPath(path, 'signerName');
  return [
    ...(signerName === '' ? [required(at, 'must be a valid signer name')] : []),
    ...signerNameProblems(at, signerName),
    ...(labelSelector === undefined ? [] : labelSelectorObjectErrors(labelSelector, selectorPath)),
  ];
}

/** A name with colons has the form `signer:bundle`, in which the slashes of the signer name are colons. */
function nameProblems(path: string, name: string): FieldError[] {
  const end = name.lastIndexOf(':');
  const signerName = end < 0 ? '' : name.slice(0, end).replaceAll(':', '/');
  return [
    ...(name === '' ? [required(path, 'must be a valid object name')] : []),
    ...trustBundleNameProblems(name, signerName).map((problem) =>
      invalid(path, name, `not a valid clustertrustbundlename: ${problem}`),
    ),
  ];
}

/** Prints a bundle as Go's `%#v`. Pointer addresses are placeholders. */
function goSyntaxBundle({ labelSelector, optional, path }: ClusterTrustBundleProjection): Verbatim {
  const pointer = (type: string, isSet: boolean) => `(*${type})(${isSet ? '0xc000000000' : 'nil'})`;
  const fields = [
    `Name:${pointer('string', true)}`,
    `SignerName:${pointer('string', true)}`,
    `LabelSelector:${pointer('v1.LabelSelector', labelSelector !== undefined)}`,
    `Optional:${pointer('bool', optional !== undefined)}`,
    `Path:${quote(path)}`,
  ];
  return verbatim(`core.ClusterTrustBundleProjection{${fields.join(', ')}}`);
}
