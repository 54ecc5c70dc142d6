/**
 * Validation of PersistentVolumes, of their updates, and of inline specs in VolumeAttachments.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { labelValueProblems } from '../../../../meta/names.js';
import { asSentMap } from '../../../../schema/empty-values.js';
import { printedQuantityText } from '../../../../schema/quantity-texts.js';
import { quote, type Verbatim, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { deepEqual } from '../../../../util/json.js';
import { sortedEntries } from '../../../../util/order.js';
import type {
  InlineVolumeSpec,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  VolumeNodeAffinity,
} from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';
import { deprecatedNodeLabels } from '../../../shared/deprecated-node-labels.js';
import { valueErrors } from '../../../shared/field-rules.js';
import { goSyntaxQuantity } from '../../../shared/go-syntax.js';
import { validateNodeSelector } from '../../../shared/node-selector.js';
import { validateBasicQuantity, validatePositiveQuantity } from '../../../shared/resources.js';
import { accessModeProblems, classNameProblems, volumeModeProblems } from '../claim-spec-rules.js';
import { diffText } from '../pod/diff/diff.js';
import { volumeSourceProblems } from './source-rules.js';
import { mountOptionsAnnotation } from './warnings.js';

/** The parts of a volume that are validated. */
interface Volume {
  readonly name: string;
  readonly spec: PersistentVolumeSpec;
  /** The live spec on updates. */
  readonly live?: PersistentVolumeSpec;
}

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

/** Validates the spec of a PersistentVolume. */
export function volumeProblems(volume: Volume, context: HookContext): FieldError[] {
  const { name, spec, live } = volume;
  const path = 'spec';
  const { nodeAffinity, storageClassName, volumeAttributesClassName, csi } = spec;
  const found: FieldError[] = [];
  if ((spec.accessModes ?? []).length === 0) found.push(required(childPath(path, 'accessModes')));
  append(found, accessModeProblems(childPath(path, 'accessModes'), spec.accessModes ?? []));
  append(found, capacityProblems(childPath(path, 'capacity'), asSentMap(spec, 'capacity')));
  const policy = spec.persistentVolumeReclaimPolicy;
  const policyPath = childPath(path, 'persistentVolumeReclaimPolicy');
  append(found, valueErrors(policyPath, policy, RECLAIM_POLICIES));
  if (nodeAffinity !== undefined) {
    const allowInvalidNodeValues = hasInvalidValue(live?.nodeAffinity);
    append(found, nodeAffinityProblems(childPath(path, 'nodeAffinity'), nodeAffinity, { allowInvalidNodeValues }));
  }
  const sourceContext = { dialect: context.dialect, volumeName: name, hasNodeAffinity: nodeAffinity !== undefined };
  append(found, volumeSourceProblems(path, spec, sourceContext));
  if (policy === 'Recycle' && isRoot(spec.hostPath?.path)) {
    found.push(forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  if (storageClassName) append(found, classNameProblems(childPath(path, 'storageClassName'), storageClassName));
  append(found, volumeModeProblems(childPath(path, 'volumeMode'), spec.volumeMode));
  if (volumeAttributesClassName !== undefined && checksAttributesClass(live, context)) {
    append(found, attributesClassProblems(path, volumeAttributesClassName, { hasCsi: csi !== undefined }));
  }
  return found;
}

function checksAttributesClass(live: PersistentVolumeSpec | undefined, { features }: HookContext): boolean {
  return features.enabled('VolumeAttributesClass') || live?.volumeAttributesClassName !== undefined;
}

/** The capacity must contain `storage` and nothing else. */
function capacityProblems(path: string, capacity: Readonly<Record<string, string>> | undefined): FieldError[] {
  const entries = sortedEntries(capacity ?? {});
  const found = entries.length === 0 ? [required(path)] : [];
  if (entries.length !== 1 || entries[0]?.[0] !== 'storage') {
    found.push(notSupported(path, goSyntaxCapacity(capacity), ['storage']));
  }
  for (const [name, amount] of entries) {
    append(found, validateBasicQuantity(keyPath(path, name), amount));
    append(found, validatePositiveQuantity(keyPath(path, name), amount));
  }
  return found;
}

function goSyntaxCapacity(capacity: Readonly<Record<string, string>> | undefined): Verbatim {
  if (capacity === undefined) return verbatim('core.ResourceList(nil)');
  const printed = sortedEntries(capacity).map(
    ([name, amount]) => `${quote(name)}:${goSyntaxQuantity(printedQuantityText(capacity, name) ?? amount).verbatim}`,
  );
  return verbatim(`core.ResourceList{${printed.join(', ')}}`);
}

function nodeAffinityProblems(
  path: string,
  affinity: VolumeNodeAffinity,
  options: { readonly allowInvalidNodeValues: boolean },
): FieldError[] {
  const at = childPath(path, 'required');
  if (affinity.required === undefined) return [required(at, 'must specify required node constraints')];
  return validateNodeSelector(at, affinity.required, options);
}

function hasInvalidValue(affinity: VolumeNodeAffinity | undefined): boolean {
  const expressions = (affinity?.required?.nodeSelectorTerms ?? []).flatMap((term) => term.matchExpressions ?? []);
  const values = expressions.flatMap((expression) => expression.values ?? []);
  return values.some((value) => labelValueProblems(value).length > 0);
}

function attributesClassProblems(path: string, name: string, { hasCsi }: { readonly hasCsi: boolean }): FieldError[] {
  const at = childPath(path, 'volumeAttributesClassName');
  const found = name === '' ? [required(at, 'an empty string is disallowed')] : classNameProblems(at, name);
  if (hasCsi) return found;
  return [...found, required(childPath(path, 'csi'), 'has to be specified when using volumeAttributesClassName')];
}

/** True for paths that normalize to `/`. */
function isRoot(path: string | undefined): boolean {
  if (path === undefined || !path.startsWith('/')) return false;
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth = Math.max(0, depth - 1);
    else if (part !== '' && part !== '.') depth++;
  }
  return depth === 0;
}

const NOT_IN_INLINE = 'may not be specified in the context of inline volumes';

/** Validates an inline spec, which describes a CSI volume without a PersistentVolume object. */
export function inlineVolumeProblems(path: string, spec: InlineVolumeSpec, context: HookContext): FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy, volumeMode } = spec;
  const forbiddenInline = (field: keyof InlineVolumeSpec) =>
    spec[field] === undefined ? [] : [forbidden(childPath(path, field), NOT_IN_INLINE)];
  const found = [...forbiddenInline('claimRef'), ...forbiddenInline('capacity')];
  if (spec.csi === undefined) {
    found.push(required(childPath(path, 'csi'), 'has to be specified in the context of inline volumes'));
  }
  if (accessModes.length === 0) found.push(required(childPath(path, 'accessModes')));
  append(found, accessModeProblems(childPath(path, 'accessModes'), accessModes));
  if (policy !== undefined && policy !== 'Retain') {
    const detail = 'may only be Retain in the context of inline volumes';
    found.push(forbidden(childPath(path, 'persistentVolumeReclaimPolicy'), detail));
  }
  append(found, forbiddenInline('nodeAffinity'));
  const sourceContext = { dialect: context.dialect, volumeName: '', hasNodeAffinity: false };
  append(found, volumeSourceProblems(path, spec, sourceContext));
  if (policy === 'Recycle' && isRoot(spec.hostPath?.path)) {
    const at = childPath(path, 'persistentVolumeReclaimPolicy');
    found.push(forbidden(at, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  append(found, forbiddenInline('storageClassName'));
  if (volumeMode !== undefined && volumeMode !== 'Filesystem') {
    const detail = 'may not specify volumeMode other than Filesystem in the context of inline volumes';
    found.push(forbidden(childPath(path, 'volumeMode'), detail));
  }
  return found;
}

/** Validates an update: the source, volumeMode and node affinity cannot change. */
export function volumeUpdateProblems(
  spec: PersistentVolumeSpec,
  live: PersistentVolumeSpec,
  context: HookContext,
): FieldError[] {
  const found: FieldError[] = [];
  const [before, after] = [sourceOf(live, live), sourceOf(spec, live)];
  if (!deepEqual(after, before)) {
    const changes = diffText('PersistentVolumeSource', before, after);
    const detail = `spec.persistentvolumesource is immutable after creation\n${changes}`;
    found.push(forbidden('spec.persistentvolumesource', detail));
  }
  if (spec.volumeMode !== live.volumeMode) found.push(invalid('volumeMode', spec.volumeMode, 'field is immutable'));
  if (live.nodeAffinity !== undefined) {
    const { nodeAffinity: now } = spec;
    const before = withRenamedLabels(live.nodeAffinity, now, context.dialect);
    const detail = 'field is immutable, except for updating from beta label to GA';
    if (!deepEqual(now, before)) found.push(invalid('nodeAffinity', goSyntaxAffinity(now), detail));
  }
  return [...found, ...attributesClassUpdateProblems(spec, live, context)];
}

const NOT_SOURCE: ReadonlySet<string> = new Set([
  'capacity',
  'accessModes',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'mountOptions',
  'volumeMode',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

/** The source without a newly added `controllerExpandSecretRef`, which may be set once. */
function sourceOf(spec: PersistentVolumeSpec, live: PersistentVolumeSpec): PersistentVolumeSource {
  const source = Object.fromEntries(Object.entries(spec).filter(([field]) => !NOT_SOURCE.has(field)));
  const { csi } = spec;
  if (csi === undefined || live.csi === undefined || live.csi.controllerExpandSecretRef !== undefined) return source;
  const { controllerExpandSecretRef: _, ...rest } = csi;
  return { ...source, csi: rest };
}

/** The live affinity, with the deprecated labels that `now` replaces by their successors. */
function withRenamedLabels(
  before: VolumeNodeAffinity,
  now: VolumeNodeAffinity | undefined,
  dialect: Dialect,
): VolumeNodeAffinity {
  const terms = before.required?.nodeSelectorTerms;
  if (terms === undefined) return before;
  const successors = deprecatedNodeLabels(dialect);
  const renamed = terms.map((term, index) => {
    if (term.matchExpressions === undefined) return term;
    const others = now?.required?.nodeSelectorTerms?.[index]?.matchExpressions ?? [];
    const matchExpressions = term.matchExpressions.map((expression, place) => {
      const key = others[place]?.key ?? '';
      return successors.get(expression.key)?.successor === key ? { ...expression, key } : expression;
    });
    return { ...term, matchExpressions };
  });
  return { required: { nodeSelectorTerms: renamed } };
}

function goSyntaxAffinity(affinity: VolumeNodeAffinity | undefined): Verbatim | undefined {
  if (affinity === undefined) return undefined;
  const pointed = affinity.required === undefined ? 'nil' : '0xc000000000';
  return verbatim(`core.VolumeNodeAffinity{Required:(*core.NodeSelector)(${pointed})}`);
}

const CLASS_PATH = 'spec.volumeAttributesClassName';

function attributesClassUpdateProblems(
  spec: PersistentVolumeSpec,
  live: PersistentVolumeSpec,
  context: HookContext,
): FieldError[] {
  const { volumeAttributesClassName: now } = spec;
  const { volumeAttributesClassName: before } = live;
  if (now === before) return [];
  const found: FieldError[] = [];
  if (!context.features.enabled('VolumeAttributesClass')) {
    const detail = 'update is forbidden when the VolumeAttributesClass feature gate is disabled';
    found.push(forbidden(CLASS_PATH, detail));
  }
  if (before !== undefined && now === undefined) {
    found.push(forbidden(CLASS_PATH, 'update from non-nil value to nil is forbidden'));
  }
  return found;
}

/** Sources that support mount options. */
const SOURCES_WITH_MOUNT_OPTIONS = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const;

/** The deprecated mount options annotation is valid only for sources that support mount options. */
export function mountOptionsProblems(
  annotations: Readonly<Record<string, string>> | undefined,
  spec: PersistentVolumeSpec,
  dialect: Dialect,
): FieldError[] {
  const annotation = mountOptionsAnnotation(dialect);
  if (annotations === undefined || !Object.hasOwn(annotations, annotation)) return [];
  if (SOURCES_WITH_MOUNT_OPTIONS.some((source) => spec[source] !== undefined)) return [];
  const path = childPath('metadata.annotations', annotation);
  return [forbidden(path, 'may not specify mount options for this volume type')];
}
