/**
 * Defaulting and validation of the spec of a PersistentVolumeClaim, for claims, ephemeral volumes and the claim templates
 * of StatefulSets.
 *
 * A data source can be specified as `dataSource` or `dataSourceRef`. In claims (not in templates) both are set, see
 * {@link normalizeDataSources}.
 */

import { type Dialect, serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../meta/names.js';
import { verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { own } from '../../../util/json.js';
import type { FeatureGates } from '../../feature-gates.js';
import type { PersistentVolumeClaimSpec } from '../../generated/core-v1.js';
import { valueErrors } from '../../shared/field-rules.js';
import { roundResourceList, validatePositiveQuantity } from '../../shared/resources.js';

type DataSource = NonNullable<PersistentVolumeClaimSpec['dataSource']>;
type DataSourceRef = NonNullable<PersistentVolumeClaimSpec['dataSourceRef']>;

/** What validation of a claim spec needs besides the spec. */
export interface ClaimSpecContext {
  readonly dialect: Dialect;
  readonly features: FeatureGates;
  /** Set for updates of claims that already have invalid selector values. */
  readonly allowInvalidSelectorValues?: boolean | undefined;
  /** Set for updates of claims that already have a data source with an API group. */
  readonly allowInvalidApiGroup?: boolean | undefined;
  /** Validate the VolumeAttributesClass although its gate is disabled, because the live claim has one. */
  readonly checkAttributesClass?: boolean | undefined;
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const VOLUME_MODES = ['Block', 'Filesystem'];

/** Sets the defaults of a spec in place. Defaults that do not depend on other fields are part of the schema. */
export function claimSpecDefaults(spec: PersistentVolumeClaimSpec): void {
  for (const amounts of [spec.resources?.limits, spec.resources?.requests]) roundResourceList(amounts);
  // An absent apiGroup is null on the wire, as the first field.
  if (spec.dataSource !== undefined) spec.dataSource = { apiGroup: null, ...spec.dataSource };
  if (spec.dataSourceRef !== undefined) spec.dataSourceRef = { apiGroup: null, ...spec.dataSourceRef };
}

/** Validates a claim spec at `path`, in the reference server's order. */
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
    append(found, labelSelectorObjectErrors(selector, childPath(path, 'selector'), { allowInvalidValues }));
  }
  append(found, accessModeProblems(childPath(path, 'accessModes'), accessModes));
  append(found, requestProblems(keyPath(childPath(path, 'resources'), 'storage'), spec));
  if (storageClassName) append(found, classNameProblems(childPath(path, 'storageClassName'), storageClassName));
  if (volumeMode !== undefined) append(found, volumeModeProblems(childPath(path, 'volumeMode'), volumeMode));
  if (dataSource !== undefined) append(found, dataSourceProblems(childPath(path, 'dataSource'), dataSource, context));
  if (dataSourceRef !== undefined) {
    append(found, dataSourceRefProblems(childPath(path, 'dataSourceRef'), dataSourceRef, context));
  }
  append(found, bothSourcesProblems(path, dataSource, dataSourceRef));
  const { volumeAttributesClassName } = spec;
  const classChecked = context.checkAttributesClass ?? context.features.enabled('VolumeAttributesClass');
  if (volumeAttributesClassName && classChecked) {
    append(found, classNameProblems(childPath(path, 'volumeAttributesClassName'), volumeAttributesClassName));
  }
  return found;
}

/** Validates access modes. All errors are reported at the list. */
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
  return valueErrors(path, mode, VOLUME_MODES);
}

/** Validates the name of a StorageClass or VolumeAttributesClass. */
export function classNameProblems(path: string, name: string): FieldError[] {
  return dnsSubdomainProblems(name).map((problem) => invalid(path, name, problem));
}

function requestProblems(path: string, spec: PersistentVolumeClaimSpec): FieldError[] {
  const amount = own(spec.resources?.requests ?? {}, 'storage');
  return amount === undefined ? [required(path)] : validatePositiveQuantity(path, amount);
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
    append(
      found,
      dnsSubdomainProblems(apiGroup).map((problem) => invalid(at, apiGroup, problem)),
    );
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
    return [invalid(path, goSyntaxDataSourcePath(), 'may not be specified when dataSourceRef.namespace is specified')];
  }
  const same = (source.apiGroup ?? null) === (ref.apiGroup ?? null) && source.kind === ref.kind;
  return same && source.name === ref.name ? [] : [invalid(path, goSyntaxDataSourcePath(), 'must match dataSourceRef')];
}

/** The reference server passes the field path as the value here. It prints as Go's `%#v`, with a pointer address. */
function goSyntaxDataSourcePath() {
  return verbatim('field.Path{name:"dataSource", index:"", parent:(*field.Path)(0xc000000000)}');
}

/** Removes fields whose feature gate is disabled, unless the live spec has them. `live` is absent for new claims. */
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
 * Makes `dataSource` and `dataSourceRef` agree. For backward compatibility, a `dataSource` that is neither a claim nor a
 * snapshot is dropped if it is set alone and the live claim has no source.
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
    setDataSources(spec, dataSource, { ...dataSource });
  } else if (dataSource === undefined && dataSourceRef !== undefined && !dataSourceRef.namespace) {
    const { apiGroup = null, kind, name } = dataSourceRef;
    setDataSources(spec, { apiGroup, kind, name }, dataSourceRef);
  }
}

/** Sets both fields in wire order, before `volumeAttributesClassName`. */
function setDataSources(spec: PersistentVolumeClaimSpec, source: DataSource, ref: DataSourceRef): void {
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
