/**
 * Validation of security contexts, of pods and containers.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import {
  childPath,
  duplicate,
  forbidden,
  invalid,
  keyPath,
  notSupported,
  required,
  tooLong,
} from '../../../../meta/field-error.js';
import { byteLength } from '../../../../meta/names.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import type {
  AppArmorProfile,
  PodSecurityContext,
  PodSpec,
  SeccompProfile,
  SecurityContext,
  Sysctl,
} from '../../../generated/core-v1.js';
import type { ClusterSettings } from '../../../shared/cluster-settings.js';
import { optionalValueErrors } from '../../../shared/field-rules.js';
import { windowsOptionsProblems } from './validate-windows.js';
import { descendingPathProblems } from './volume-paths.js';

const FS_GROUP_POLICIES = ['Always', 'OnRootMismatch'];
const GROUP_POLICIES = ['Merge', 'Strict'];
const SELINUX_POLICIES = ['MountOption', 'Recursive'];

/** Validates `spec.securityContext`. `spec` contains the host namespace fields. */
export function podSecurityProblems(path: string, context: PodSecurityContext, spec: PodSpec): FieldError[] {
  const at = (field: string) => childPath(path, field);
  const { supplementalGroups = [], sysctls = [] } = context;
  const isConflicting = spec.shareProcessNamespace === true && spec.hostPID === true;
  const both = 'ShareProcessNamespace and HostPID cannot both be enabled';
  return [
    ...idProblems(at('fsGroup'), context.fsGroup),
    ...idProblems(at('runAsUser'), context.runAsUser),
    ...idProblems(at('runAsGroup'), context.runAsGroup),
    ...supplementalGroups.flatMap((group, index) => idProblems(keyPath(at('supplementalGroups'), index), group)),
    ...(isConflicting ? [invalid(at('shareProcessNamespace'), true, both)] : []),
    ...sysctlsProblems(at('sysctls'), sysctls, spec),
    ...optionalValueErrors(at('fsGroupChangePolicy'), context.fsGroupChangePolicy, FS_GROUP_POLICIES),
    ...seccompProblems(at('seccompProfile'), context.seccompProfile),
    ...windowsOptionsProblems(at('windowsOptions'), context.windowsOptions),
    ...appArmorProblems(at('appArmorProfile'), context.appArmorProfile),
    ...optionalValueErrors(at('supplementalGroupsPolicy'), context.supplementalGroupsPolicy, GROUP_POLICIES),
    ...optionalValueErrors(at('seLinuxChangePolicy'), context.seLinuxChangePolicy, SELINUX_POLICIES),
  ];
}

const PROC_MOUNTS = ['Default', 'Unmasked'];

/** Validates a container's `securityContext`. */
export function containerSecurityProblems(
  path: string,
  context: SecurityContext,
  { hostUsers, settings }: { readonly hostUsers: boolean; readonly settings?: ClusterSettings | undefined },
): FieldError[] {
  const at = (field: string) => childPath(path, field);
  const { procMount } = context;
  const unmasked = procMount === 'Unmasked' && hostUsers;
  const isDisallowed = context.privileged === true && settings?.allowPrivileged === false;
  return [
    ...(isDisallowed ? [forbidden(at('privileged'), 'disallowed by cluster policy')] : []),
    ...idProblems(at('runAsUser'), context.runAsUser),
    ...idProblems(at('runAsGroup'), context.runAsGroup),
    ...optionalValueErrors(at('procMount'), procMount, PROC_MOUNTS),
    ...(unmasked ? [invalid(at('procMount'), procMount, '`hostUsers` must be false to use `Unmasked`')] : []),
    ...seccompProblems(at('seccompProfile'), context.seccompProfile),
    ...escalationProblems(path, context),
    ...windowsOptionsProblems(at('windowsOptions'), context.windowsOptions),
    ...appArmorProblems(at('appArmorProfile'), context.appArmorProfile),
  ];
}

const MAX_ID = 2 ** 31 - 1;

/** Validates a user or group id. */
export function idProblems(path: string, id: number | undefined): FieldError[] {
  if (id === undefined || (id >= 0 && id <= MAX_ID)) return [];
  return [invalid(path, id, `must be between 0 and ${MAX_ID}, inclusive`)];
}

const MAX_SYSCTL = 253;
const SYSCTL_PART = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SYSCTL = `^(${SYSCTL_PART}[\\./])*${SYSCTL_PART}$`;

function sysctlsProblems(path: string, sysctls: readonly Sysctl[], spec: PodSpec): FieldError[] {
  const names = new Set<string>();
  return sysctls.flatMap(({ name }, index) => {
    const at = childPath(keyPath(path, index), 'name');
    const problems = [...sysctlNameProblems(at, name, names), ...hostSysctlProblems(at, name, spec)];
    names.add(name);
    return problems;
  });
}

function sysctlNameProblems(path: string, name: string, names: ReadonlySet<string>): FieldError[] {
  if (name === '') return [required(path)];
  if (name.length > MAX_SYSCTL || !new RegExp(SYSCTL).test(name)) {
    return [invalid(path, name, `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL}`)];
  }
  return names.has(name) ? [duplicate(path, name)] : [];
}

/** Sysctls of a kernel namespace are invalid if the pod shares that namespace with the host. */
function hostSysctlProblems(path: string, name: string, { hostNetwork, hostIPC }: PodSpec): FieldError[] {
  const dotted = name.replaceAll('/', '.');
  if (hostNetwork === true && dotted.startsWith('net.')) {
    return [invalid(path, name, "may not be specified when 'hostNetwork' is true")];
  }
  const ofIpc = dotted === 'kernel.sem' || /^(kernel\.shm|kernel\.msg|fs\.mqueue\.)/.test(dotted);
  return hostIPC === true && ofIpc ? [invalid(path, name, "may not be specified when 'hostIPC' is true")] : [];
}

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function seccompProblems(path: string, profile: SeccompProfile | undefined): FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const at = childPath(path, 'localhostProfile');
  const ofType = profileTypeProblems(path, type, 'seccompProfile');
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return ofType;
    // Go prints a pointer address, which differs from run to run; this one is a placeholder.
    const value = verbatim(`core.SeccompProfile{Type:${quote(type)}, LocalhostProfile:(*string)(0xc000000000)}`);
    return [...ofType, invalid(at, value, 'can only be set when seccomp type is Localhost')];
  }
  if (localhostProfile === undefined) return [required(at, 'must be set when seccomp type is Localhost')];
  return descendingPathProblems(at, localhostProfile);
}

const MAX_PROFILE_PATH = 4095;

/** Validates an AppArmor profile of a pod or container. */
export function appArmorProblems(path: string, profile: AppArmorProfile | undefined): FieldError[] {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  const at = childPath(path, 'localhostProfile');
  if (!PROFILE_TYPES.includes(type)) return profileTypeProblems(path, type, 'appArmorProfile');
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return [];
    return [invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost')];
  }
  const missing = required(at, 'must be set when AppArmor type is Localhost');
  if (localhostProfile === undefined) return [missing];
  const problems: FieldError[] = [];
  if (localhostProfile.trim() !== localhostProfile) {
    problems.push(invalid(at, localhostProfile, 'must not be padded with whitespace'));
  } else if (localhostProfile === '') problems.push(missing);
  if (byteLength(localhostProfile) > MAX_PROFILE_PATH) problems.push(tooLong(at, MAX_PROFILE_PATH));
  return problems;
}

function profileTypeProblems(path: string, type: string, field: string): FieldError[] {
  const at = childPath(path, 'type');
  if (PROFILE_TYPES.includes(type)) return [];
  return type === ''
    ? [required(at, `type is required when ${field} is set`)]
    : [notSupported(at, type, PROFILE_TYPES)];
}

function escalationProblems(path: string, context: SecurityContext): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return [];
  const cannot = (what: string) =>
    invalid(path, goSyntaxSecurityContext(context), `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  const admin = (context.capabilities?.add ?? []).filter((capability) => capability === 'CAP_SYS_ADMIN');
  return [
    ...(context.privileged === true ? [cannot('`privileged` to true')] : []),
    ...admin.map(() => cannot('`capabilities.Add` CAP_SYS_ADMIN')),
  ];
}

const SECURITY_CONTEXT_FIELDS: readonly (readonly [field: keyof SecurityContext, goName: string, goType: string])[] = [
  ['capabilities', 'Capabilities', 'core.Capabilities'],
  ['privileged', 'Privileged', 'bool'],
  ['seLinuxOptions', 'SELinuxOptions', 'core.SELinuxOptions'],
  ['windowsOptions', 'WindowsOptions', 'core.WindowsSecurityContextOptions'],
  ['runAsUser', 'RunAsUser', 'int64'],
  ['runAsGroup', 'RunAsGroup', 'int64'],
  ['runAsNonRoot', 'RunAsNonRoot', 'bool'],
  ['readOnlyRootFilesystem', 'ReadOnlyRootFilesystem', 'bool'],
  ['allowPrivilegeEscalation', 'AllowPrivilegeEscalation', 'bool'],
  ['procMount', 'ProcMount', 'core.ProcMountType'],
  ['seccompProfile', 'SeccompProfile', 'core.SeccompProfile'],
  ['appArmorProfile', 'AppArmorProfile', 'core.AppArmorProfile'],
];

/** Prints a security context as Go's `%#v`. Pointer addresses are placeholders. */
function goSyntaxSecurityContext(context: SecurityContext): ReturnType<typeof verbatim> {
  const parts = SECURITY_CONTEXT_FIELDS.map(
    ([field, goName, goType]) => `${goName}:(*${goType})(${context[field] === undefined ? 'nil' : '0xc000000000'})`,
  );
  return verbatim(`core.SecurityContext{${parts.join(', ')}}`);
}

/** A pod with its own user namespace cannot share other namespaces with the host. */
export function hostUsersProblems(path: string, spec: PodSpec): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const why = 'when `pod.Spec.HostUsers` is false';
  // The capital letters in the paths are the reference server's.
  return [
    ...(spec.hostNetwork === true ? [forbidden(childPath(path, 'hostNetwork'), why)] : []),
    ...(spec.hostPID === true ? [forbidden(childPath(path, 'HostPID'), why)] : []),
    ...(spec.hostIPC === true ? [forbidden(childPath(path, 'HostIPC'), why)] : []),
  ];
}
