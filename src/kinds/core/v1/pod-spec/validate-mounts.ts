/**
 * Validation of a container's volume mounts and block devices. As in the reference server, some errors are reported
 * without the index of the mount.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import {
  childPath,
  fieldError,
  forbidden,
  invalid,
  keyPath,
  notSupported,
  required,
} from '../../../../meta/field-error.js';
import type { Volume, VolumeDevice, VolumeMount } from '../../../generated/core-v1.js';
import { descendingPathProblems, noBackstepsProblems } from './volume-paths.js';

/** The fields of a volume that are volume sources. */
export type VolumeSourceKind = Exclude<keyof Volume, 'name'>;

/** What validation of a container's mounts and devices needs besides the list itself. */
export interface MountContext {
  /** The sources of the pod's valid volumes, by volume name. */
  readonly volumeSources: ReadonlyMap<string, VolumeSourceKind>;
  /** The mounts of the same container. */
  readonly mounts: readonly VolumeMount[] | undefined;
  readonly devices: readonly VolumeDevice[] | undefined;
  /** The container's `securityContext.privileged`. */
  readonly privileged: boolean;
}

const PROPAGATIONS: readonly string[] = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE_MODES: readonly string[] = ['Disabled', 'Enabled', 'IfPossible'];

/** Validates the mounts at `path` (`spec.containers[0].volumeMounts`). */
export function volumeMountsProblems(
  path: string,
  mounts: readonly VolumeMount[] | undefined,
  context: MountContext,
): FieldError[] {
  const taken = new Set<string>();
  const devices = usesOf(context.devices ?? [], ({ devicePath }) => devicePath);
  return (mounts ?? []).flatMap((mount, index) => {
    const found = mountPathProblems(keyPath(path, index), mount, {
      taken,
      devices,
      volumeSources: context.volumeSources,
    });
    taken.add(mount.mountPath);
    return [
      ...found,
      ...subPathProblems(path, keyPath(path, index), mount),
      ...propagationProblems(childPath(path, 'mountPropagation'), mount.mountPropagation, context.privileged),
      ...recursiveProblems(childPath(path, 'recursiveReadOnly'), mount),
    ];
  });
}

/** The volumes and paths of the mounts, or of the devices, of a container. */
interface VolumeUses {
  readonly names: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

/** Of several uses of a volume, the path of the last one counts. */
function usesOf<Use extends { readonly name: string }>(uses: readonly Use[], pathOf: (use: Use) => string): VolumeUses {
  const byName = new Map(uses.map((use) => [use.name, pathOf(use)]));
  return { names: new Set(byName.keys()), paths: new Set(byName.values()) };
}

function mountPathProblems(
  at: string,
  { name, mountPath }: VolumeMount,
  context: {
    readonly taken: ReadonlySet<string>;
    readonly devices: VolumeUses;
    readonly volumeSources: MountContext['volumeSources'];
  },
): FieldError[] {
  const namePath = childPath(at, 'name');
  const pathPath = childPath(at, 'mountPath');
  const found: FieldError[] = [];
  if (name === '') found.push(required(namePath));
  if (!context.volumeSources.has(name)) found.push(fieldError('notFound', namePath, { value: name }));
  if (mountPath === '') found.push(required(pathPath));
  if (context.taken.has(mountPath)) found.push(invalid(pathPath, mountPath, 'must be unique'));
  if (context.devices.names.has(name)) found.push(invalid(namePath, name, 'must not already exist in volumeDevices'));
  if (context.devices.paths.has(mountPath)) {
    found.push(invalid(pathPath, mountPath, 'must not already exist as a path in volumeDevices'));
  }
  return found;
}

function subPathProblems(path: string, at: string, mount: VolumeMount): FieldError[] {
  const { subPath = '', subPathExpr = '' } = mount;
  const found = descendingPathProblems(childPath(path, 'subPath'), subPath);
  if (subPath !== '' && subPathExpr !== '') {
    const detail = 'subPathExpr and subPath are mutually exclusive';
    found.push(invalid(childPath(at, 'subPathExpr'), subPathExpr, detail));
  }
  return [...found, ...descendingPathProblems(childPath(path, 'subPathExpr'), subPathExpr)];
}

function propagationProblems(path: string, propagation: string | undefined, privileged: boolean): FieldError[] {
  if (propagation === undefined) return [];
  if (!PROPAGATIONS.includes(propagation)) return [notSupported(path, propagation, PROPAGATIONS)];
  if (propagation !== 'Bidirectional' || privileged) return [];
  return [forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')];
}

function recursiveProblems(path: string, mount: VolumeMount): FieldError[] {
  const { recursiveReadOnly, readOnly, mountPropagation = 'None' } = mount;
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return [];
  if (!RECURSIVE_MODES.includes(recursiveReadOnly)) return [notSupported(path, recursiveReadOnly, RECURSIVE_MODES)];
  const found: FieldError[] = [];
  if (readOnly !== true) found.push(forbidden(path, 'may only be specified when readOnly is true'));
  if (mountPropagation !== 'None') {
    found.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'));
  }
  return found;
}

/** Validates the devices at `path` (`spec.containers[0].volumeDevices`). */
export function volumeDevicesProblems(
  path: string,
  devices: readonly VolumeDevice[] | undefined,
  context: MountContext,
): FieldError[] {
  const seen = { names: new Set<string>(), paths: new Set<string>() };
  const mounts = usesOf(context.mounts ?? [], ({ mountPath }) => mountPath);
  return (devices ?? []).flatMap((device, index) => {
    const at = keyPath(path, index);
    return [
      ...deviceNameProblems(childPath(at, 'name'), device.name, {
        seen: seen.names,
        volumeSources: context.volumeSources,
      }),
      ...devicePathProblems(childPath(at, 'devicePath'), device.devicePath, seen.paths),
      ...deviceOverlapProblems(at, device, mounts),
    ];
  });
}

function deviceNameProblems(
  path: string,
  name: string,
  { seen, volumeSources }: { readonly seen: Set<string>; readonly volumeSources: MountContext['volumeSources'] },
): FieldError[] {
  const source = volumeSources.get(name);
  const found: FieldError[] = [];
  if (name === '') found.push(required(path));
  if (seen.has(name)) found.push(invalid(path, name, 'must be unique'));
  if (source === undefined) found.push(fieldError('notFound', path, { value: name }));
  else if (source !== 'persistentVolumeClaim' && source !== 'ephemeral') {
    const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    found.push(invalid(path, name, detail));
  }
  if (name !== '') seen.add(name);
  return found;
}

function devicePathProblems(path: string, devicePath: string, seen: Set<string>): FieldError[] {
  const found: FieldError[] = [];
  if (devicePath === '') found.push(required(path));
  if (seen.has(devicePath)) found.push(invalid(path, devicePath, 'must be unique'));
  if (noBackstepsProblems(path, devicePath).length > 0) {
    found.push(invalid(path, devicePath, "can not contain backsteps ('..')"));
  } else {
    seen.add(devicePath);
  }
  return found;
}

function deviceOverlapProblems(at: string, { name, devicePath }: VolumeDevice, mounts: VolumeUses): FieldError[] {
  const found: FieldError[] = [];
  if (mounts.names.has(name))
    found.push(invalid(childPath(at, 'name'), name, 'must not already exist in volumeMounts'));
  if (mounts.paths.has(devicePath)) {
    const detail = 'must not already exist as a path in volumeMounts';
    found.push(invalid(childPath(at, 'devicePath'), devicePath, detail));
  }
  return found;
}
