/**
 * The rules of persistent volumes, and of those that an attachment holds inline, which say less about themselves.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { labelValueProblems } from '../../../../meta/names.js';
import { originalQuantityText } from '../../../../schema/quantity-texts.js';
import type { Verbatim } from '../../../../text/go/go-text.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { deepEqual } from '../../../../util/json.js';
import { sortedEntries } from '../../../../util/order.js';
import type { WriteContext } from '../../../kind.js';
import { deprecatedNodeLabels } from '../../../shared/deprecated-node-labels.js';
import { validateNodeSelector } from '../../../shared/node-selector.js';
import { goSyntaxQuantity, validateBasicQuantity, validatePositiveQuantity } from '../../../shared/resources.js';
import { accessModeProblems, classNameProblems, volumeModeProblems } from '../claim-spec-rules.js';
import { volumeSourceProblems } from './source-rules.js';
import type { InlineVolumeSpec, PersistentVolumeSource, PersistentVolumeSpec, VolumeNodeAffinity } from './spec.js';
import { mountOptionsAnnotation } from './warnings.js';

/** A volume, as far as its rules look at it. */
interface Volume {
  readonly name: string;
  readonly spec: PersistentVolumeSpec;
  /** What was before, on an update. */
  readonly live?: PersistentVolumeSpec;
}

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

export function volumeProblems(volume: Volume, context: WriteContext): FieldError[] {
  const { name, spec, live } = volume;
  const path = 'spec';
  const { nodeAffinity, storageClassName, volumeAttributesClassName, csi } = spec;
  const found: FieldError[] = [];
  if ((spec.accessModes ?? []).length === 0) found.push(required(childPath(path, 'accessModes')));
  found.push(...accessModeProblems(childPath(path, 'accessModes'), spec.accessModes ?? []));
  found.push(...capacityProblems(childPath(path, 'capacity'), spec.capacity));
  const policy = spec.persistentVolumeReclaimPolicy;
  const policyPath = childPath(path, 'persistentVolumeReclaimPolicy');
  if (!RECLAIM_POLICIES.includes(policy)) found.push(notSupported(policyPath, policy, RECLAIM_POLICIES));
  if (nodeAffinity !== undefined) {
    const allowInvalidNodeValues = hasInvalidValue(live?.nodeAffinity);
    found.push(...nodeAffinityProblems(childPath(path, 'nodeAffinity'), nodeAffinity, { allowInvalidNodeValues }));
  }
  const about = { dialect: context.dialect, volumeName: name, hasNodeAffinity: nodeAffinity !== undefined };
  found.push(...volumeSourceProblems(path, spec, about));
  if (policy === 'Recycle' && isRoot(spec.hostPath?.path)) {
    found.push(forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  if (storageClassName) found.push(...classNameProblems(childPath(path, 'storageClassName'), storageClassName));
  found.push(...volumeModeProblems(childPath(path, 'volumeMode'), spec.volumeMode));
  if (volumeAttributesClassName !== undefined && checksAttributesClass(live, context)) {
    found.push(...attributesClassProblems(path, volumeAttributesClassName, { hasCsi: csi !== undefined }));
  }
  return found;
}

function checksAttributesClass(live: PersistentVolumeSpec | undefined, { features }: WriteContext): boolean {
  return features.enabled('VolumeAttributesClass') || live?.volumeAttributesClassName !== undefined;
}

/** Storage is all that a volume has, and it must have some. */
function capacityProblems(path: string, capacity: Readonly<Record<string, string>> | undefined): FieldError[] {
  const entries = sortedEntries(capacity ?? {});
  const found = entries.length === 0 ? [required(path)] : [];
  if (entries.length !== 1 || entries[0]?.[0] !== 'storage') {
    found.push(notSupported(path, capacityDump(capacity ?? {}), ['storage']));
  }
  for (const [name, amount] of entries) {
    found.push(...validateBasicQuantity(keyPath(path, name), amount));
    found.push(...validatePositiveQuantity(keyPath(path, name), amount));
  }
  return found;
}

function capacityDump(capacity: Readonly<Record<string, string>>): Verbatim {
  const entries = sortedEntries(capacity);
  if (entries.length === 0) return verbatim('core.ResourceList(nil)');
  const shown = entries.map(
    ([name, amount]) => `${quote(name)}:${goSyntaxQuantity(originalQuantityText(capacity, name) ?? amount).verbatim}`,
  );
  return verbatim(`core.ResourceList{${shown.join(', ')}}`);
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

/** True for `/` however it is written. */
function isRoot(path: string | undefined): boolean {
  if (path === undefined || !path.startsWith('/')) return false;
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth = Math.max(0, depth - 1);
    else if (part !== '' && part !== '.') depth++;
  }
  return depth === 0;
}

const INLINE = 'may not be specified in the context of inline volumes';

/** The rules of a spec that stands for a volume nobody made an object of: a driver's, for one node. */
export function inlineVolumeProblems(path: string, spec: InlineVolumeSpec, context: WriteContext): FieldError[] {
  const { accessModes = [], persistentVolumeReclaimPolicy: policy, volumeMode } = spec;
  const unwanted = (field: keyof InlineVolumeSpec) =>
    spec[field] === undefined ? [] : [forbidden(childPath(path, field), INLINE)];
  const found = [...unwanted('claimRef'), ...unwanted('capacity')];
  if (spec.csi === undefined) {
    found.push(required(childPath(path, 'csi'), 'has to be specified in the context of inline volumes'));
  }
  if (accessModes.length === 0) found.push(required(childPath(path, 'accessModes')));
  found.push(...accessModeProblems(childPath(path, 'accessModes'), accessModes));
  if (policy !== undefined && policy !== 'Retain') {
    const detail = 'may only be Retain in the context of inline volumes';
    found.push(forbidden(childPath(path, 'persistentVolumeReclaimPolicy'), detail));
  }
  found.push(...unwanted('nodeAffinity'));
  const about = { dialect: context.dialect, volumeName: '', hasNodeAffinity: false };
  found.push(...volumeSourceProblems(path, spec, about));
  if (policy === 'Recycle' && isRoot(spec.hostPath?.path)) {
    const at = childPath(path, 'persistentVolumeReclaimPolicy');
    found.push(forbidden(at, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  found.push(...unwanted('storageClassName'));
  if (volumeMode !== undefined && volumeMode !== 'Filesystem') {
    const detail = 'may not specify volumeMode other than Filesystem in the context of inline volumes';
    found.push(forbidden(childPath(path, 'volumeMode'), detail));
  }
  return found;
}

/** What may not change. Differences of sources are shown by the reference server in a form that no client can read. */
export function volumeUpdateProblems(
  spec: PersistentVolumeSpec,
  live: PersistentVolumeSpec,
  context: WriteContext,
): FieldError[] {
  const found: FieldError[] = [];
  if (!deepEqual(sourceOf(spec, live), sourceOf(live, live))) {
    const detail = 'spec.persistentvolumesource is immutable after creation';
    found.push(forbidden('spec.persistentvolumesource', detail));
  }
  if (spec.volumeMode !== live.volumeMode) found.push(invalid('volumeMode', spec.volumeMode, 'field is immutable'));
  if (live.nodeAffinity !== undefined) {
    const { nodeAffinity: now } = spec;
    const before = withRenamedLabels(live.nodeAffinity, now, context.dialect);
    const detail = 'field is immutable, except for updating from beta label to GA';
    if (!deepEqual(now, before)) found.push(invalid('nodeAffinity', affinityDump(now), detail));
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

/** The source alone; a secret for expansion that was not there before does not count. */
function sourceOf(spec: PersistentVolumeSpec, live: PersistentVolumeSpec): PersistentVolumeSource {
  const source = Object.fromEntries(Object.entries(spec).filter(([field]) => !NOT_SOURCE.has(field)));
  const { csi } = spec;
  if (csi === undefined || live.csi === undefined || live.csi.controllerExpandSecretRef !== undefined) return source;
  const { controllerExpandSecretRef: _, ...rest } = csi;
  return { ...source, csi: rest };
}

/** The affinity before, with the labels that `now` has moved from an old name to its successor. */
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

function affinityDump(affinity: VolumeNodeAffinity | undefined): Verbatim | undefined {
  if (affinity === undefined) return undefined;
  const pointed = affinity.required === undefined ? 'nil' : '0xc000000000';
  return verbatim(`core.VolumeNodeAffinity{Required:(*core.NodeSelector)(${pointed})}`);
}

const CLASS_PATH = 'spec.volumeAttributesClassName';

function attributesClassUpdateProblems(
  spec: PersistentVolumeSpec,
  live: PersistentVolumeSpec,
  context: WriteContext,
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

/** Whose drivers take mount options. */
const MOUNTED_WITH_OPTIONS = [
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

/** The annotation of old is for volumes that can be mounted with options; the field is for all. */
export function mountOptionsProblems(
  annotations: Readonly<Record<string, string>> | undefined,
  spec: PersistentVolumeSpec,
  dialect: Dialect,
): FieldError[] {
  const annotation = mountOptionsAnnotation(dialect);
  if (annotations === undefined || !Object.hasOwn(annotations, annotation)) return [];
  if (MOUNTED_WITH_OPTIONS.some((source) => spec[source] !== undefined)) return [];
  const path = childPath('metadata.annotations', annotation);
  return [forbidden(path, 'may not specify mount options for this volume type')];
}
