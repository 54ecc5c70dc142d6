/**
 * What a claim's spec gets when it leaves things out, and the rules it must meet: for claims themselves, for the claims
 * of ephemeral volumes, and for the claim templates of a StatefulSet.
 *
 * A data source may be named in two ways, `dataSource` and `dataSourceRef`; claims (not templates) show both, see
 * {@link normalizeDataSources}.
 */

import type { Dialect } from '../../../meta/dialect.js';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../meta/names.js';
import { verbatim } from '../../../text/go/go-text.js';
import { own } from '../../../util/json.js';
import type { FeatureGates } from '../../feature-gates.js';
import { validatePositiveQuantity, validateResourceQuantity } from '../../shared/resources.js';
import { roundResourceList } from '../../shared/round-resource-list.js';
import type { PersistentVolumeClaimSpec } from './pod-spec/claim-spec.js';

type DataSource = NonNullable<PersistentVolumeClaimSpec['dataSource']>;
type DataSourceRef = NonNullable<PersistentVolumeClaimSpec['dataSourceRef']>;

/** What the rules of a claim's spec need to know besides it. */
export interface ClaimSpecContext {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  /** An update may keep selector values that no label can have, if the claim had such before. */
  readonly allowInvalidSelectorValues?: boolean | undefined;
  /** An update of a claim with a data source in some group does not look at the group again. */
  readonly allowInvalidApiGroup?: boolean | undefined;
  /** A class of volume attributes is looked at although the gate is off, because the claim had one before. */
  readonly checkAttributesClass?: boolean | undefined;
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

/** Completes a spec in place. Everything that does not depend on other fields stands in the schema. */
export function claimSpecDefaults(spec: PersistentVolumeClaimSpec): void {
  for (const amounts of [spec.resources?.limits, spec.resources?.requests]) roundResourceList(amounts);
  // No group is written as null, and in its place: first.
  if (spec.dataSource !== undefined) spec.dataSource = { apiGroup: null, ...spec.dataSource };
  if (spec.dataSourceRef !== undefined) spec.dataSourceRef = { apiGroup: null, ...spec.dataSourceRef };
}

/** The rules of a claim's spec at `path`, in the order of the reference server. */
export function claimSpecProblems(
  path: string,
  spec: PersistentVolumeClaimSpec,
  context: ClaimSpecContext,
): FieldError[] {
  const { accessModes = [], selector, storageClassName, volumeMode, dataSource, dataSourceRef } = spec;
  const found: FieldError[] = [];
  if (accessModes.length === 0) {
    found.push(required(childPath(path, 'accessModes'), 'at least 1 access mode is required'));
  }
  if (selector !== undefined) {
    const allowInvalidValues = context.allowInvalidSelectorValues === true;
    found.push(...labelSelectorObjectErrors(selector, childPath(path, 'selector'), { allowInvalidValues }));
  }
  found.push(...accessModeProblems(childPath(path, 'accessModes'), accessModes));
  found.push(...requestProblems(keyPath(childPath(path, 'resources'), 'storage'), spec, context));
  if (storageClassName) found.push(...classNameProblems(childPath(path, 'storageClassName'), storageClassName));
  if (volumeMode !== undefined) found.push(...volumeModeProblems(childPath(path, 'volumeMode'), volumeMode));
  if (dataSource !== undefined) found.push(...dataSourceProblems(childPath(path, 'dataSource'), dataSource, context));
  if (dataSourceRef !== undefined) {
    found.push(...dataSourceRefProblems(childPath(path, 'dataSourceRef'), dataSourceRef, context));
  }
  found.push(...bothSourcesProblems(path, dataSource, dataSourceRef));
  const { volumeAttributesClassName } = spec;
  const classChecked = context.checkAttributesClass ?? context.features.enabled('VolumeAttributesClass');
  if (volumeAttributesClassName && classChecked) {
    found.push(...classNameProblems(childPath(path, 'volumeAttributesClassName'), volumeAttributesClassName));
  }
  return found;
}

/** The rule of every list of access modes; every fault is reported at the list. */
export function accessModeProblems(path: string, modes: readonly string[]): FieldError[] {
  const found = modes
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => notSupported(path, mode, ACCESS_MODES));
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (others && modes.includes('ReadWriteOncePod')) {
    found.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return found;
}

export function volumeModeProblems(path: string, mode: string): FieldError[] {
  return VOLUME_MODES.includes(mode) ? [] : [notSupported(path, mode, VOLUME_MODES)];
}

/** Names of classes of storage and of volume attributes. */
export function classNameProblems(path: string, name: string): FieldError[] {
  return dnsSubdomainProblems(name).map((problem) => invalid(path, name, problem));
}

function requestProblems(path: string, spec: PersistentVolumeClaimSpec, { dialect }: ClaimSpecContext): FieldError[] {
  const amount = own(spec.resources?.requests ?? {}, 'storage');
  if (amount === undefined) return [required(path)];
  const found = validatePositiveQuantity(path, amount);
  return found.length > 0 ? found : validateResourceQuantity(path, amount, { dialect, name: 'storage' });
}

function dataSourceProblems(path: string, source: DataSource, context: ClaimSpecContext): FieldError[] {
  const { name, kind, apiGroup } = source;
  const found: FieldError[] = [];
  if (!name) found.push(required(childPath(path, 'name')));
  if (!kind) found.push(required(childPath(path, 'kind')));
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    found.push(invalid(path, kind, detail));
  }
  if (apiGroup && context.allowInvalidApiGroup !== true) {
    const at = childPath(path, 'apiGroup');
    found.push(...dnsSubdomainProblems(apiGroup).map((problem) => invalid(at, apiGroup, problem)));
  }
  return found;
}

function dataSourceRefProblems(path: string, source: DataSourceRef, context: ClaimSpecContext): FieldError[] {
  const { namespace = '' } = source;
  const found = dataSourceProblems(path, source, context);
  if (namespace === '') return found;
  const at = childPath(path, 'namespace');
  return [...found, ...dnsLabelProblems(namespace).map((problem) => invalid(at, namespace, problem))];
}

function bothSourcesProblems(
  path: string,
  source: DataSource | undefined,
  ref: DataSourceRef | undefined,
): FieldError[] {
  if (source === undefined || ref === undefined) return [];
  if (ref.namespace) {
    return [invalid(path, sourcePathDump(), 'may not be specified when dataSourceRef.namespace is specified')];
  }
  const same = (source.apiGroup ?? null) === (ref.apiGroup ?? null) && source.kind === ref.kind;
  return same && source.name === ref.name ? [] : [invalid(path, sourcePathDump(), 'must match dataSourceRef')];
}

/** The server shows the path as a value here, with an address in its memory. */
function sourcePathDump() {
  return verbatim('field.Path{name:"dataSource", index:"", parent:(*field.Path)(0xc000000000)}');
}

/** Takes away what gates forbid, unless the spec before had it. `live` is absent for new claims. */
export function dropDisabledClaimFields(
  spec: PersistentVolumeClaimSpec,
  live: PersistentVolumeClaimSpec | undefined,
  features: FeatureGates,
): void {
  if (!features.enabled('VolumeAttributesClass') && live?.volumeAttributesClassName === undefined) {
    delete spec.volumeAttributesClassName;
  }
  const crossesNamespaces = Boolean(spec.dataSourceRef?.namespace);
  if (crossesNamespaces && !features.enabled('CrossNamespaceVolumeDataSource') && live?.dataSourceRef === undefined) {
    delete spec.dataSourceRef;
  }
}

/**
 * Makes the two ways to name a data source agree. A `dataSource` that is neither a claim nor a snapshot was always
 * ignored, and still is, when it stands alone and the claim had no source before.
 */
export function normalizeDataSources(
  spec: PersistentVolumeClaimSpec,
  live: PersistentVolumeClaimSpec | undefined,
  dialect: Dialect,
): void {
  const hadSource = live?.dataSource !== undefined || live?.dataSourceRef !== undefined;
  if (!hadSource && spec.dataSourceRef === undefined && !isClaimOrSnapshot(spec.dataSource, dialect)) {
    delete spec.dataSource;
  }
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    placeSources(spec, dataSource, { ...dataSource });
  } else if (dataSource === undefined && dataSourceRef !== undefined && !dataSourceRef.namespace) {
    const { apiGroup = null, kind, name } = dataSourceRef;
    placeSources(spec, { apiGroup, kind, name }, dataSourceRef);
  }
}

/** Both, in their places on the wire: only the class of volume attributes comes after them. */
function placeSources(spec: PersistentVolumeClaimSpec, source: DataSource, ref: DataSourceRef): void {
  const { volumeAttributesClassName } = spec;
  delete spec.dataSource;
  delete spec.dataSourceRef;
  delete spec.volumeAttributesClassName;
  spec.dataSource = source;
  spec.dataSourceRef = ref;
  if (volumeAttributesClassName !== undefined) spec.volumeAttributesClassName = volumeAttributesClassName;
}

function isClaimOrSnapshot(source: DataSource | undefined, dialect: Dialect): boolean {
  if (source === undefined) return false;
  if (source.kind === 'PersistentVolumeClaim') return !source.apiGroup;
  return source.kind === 'VolumeSnapshot' && source.apiGroup === dialect.group(serviceGroup('snapshot.storage'));
}
