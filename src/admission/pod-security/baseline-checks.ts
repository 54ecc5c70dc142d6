/**
 * The checks of the pod security level `baseline`, which prevent known privilege escalations. `evaluate.ts` says in which
 * releases each applies.
 */

import { appArmorPrefix, seccompKeys } from '../../kinds/core/v1/pod-spec/annotations.js';
import { allContainers } from '../../kinds/core/v1/pod-spec/defaults.js';
import type { SELinuxOptions } from '../../kinds/generated/core-v1.js';
import { quote } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { own } from '../../util/json.js';
import {
  type Check,
  containersWhere,
  containerViolation,
  counted,
  isInUserNamespace,
  plural,
  quoted,
  type ReviewedPod,
  sorted,
  subjectsWhere,
  type Violation,
} from './review.js';

const PROFILE_TYPES = ['RuntimeDefault', 'Localhost'];

export function isAllowedProfile(type: string | undefined): boolean {
  return PROFILE_TYPES.some((allowed) => allowed === type);
}

export const appArmorProfile: Check = (pod) => {
  const { annotations, spec, dialect } = pod;
  const ofPod = spec.securityContext?.appArmorProfile;
  const isBad = (profile: { readonly type: string } | undefined): boolean =>
    profile !== undefined && !isAllowedProfile(profile.type);
  const types = [ofPod, ...allContainers(spec).map(({ securityContext }) => securityContext?.appArmorProfile)];
  // Annotation values keep their quotes inside the quoted list.
  const fromAnnotations = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(appArmorPrefix(dialect)) && !isAllowedAppArmorAnnotation(value))
    .map(([key, value]) => `${key}=${quote(value)}`)
    .sort();
  const values = [...sorted(types.filter(isBad).map((profile) => profile?.type ?? '')), ...fromAnnotations];
  const others = fromAnnotations.length > 0 ? [plural('annotation', fromAnnotations.length)] : [];
  const subjects = subjectsWhere(pod, (context) => isBad(context?.appArmorProfile), others);
  if (subjects === '') return undefined;
  return {
    reason: plural('forbidden AppArmor profile', values.length),
    detail: `${subjects} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

function isAllowedAppArmorAnnotation(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/');
}

const DEFAULT_CAPABILITIES: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

export const capabilitiesBaseline: Check = (pod) => {
  const detail = addedCapabilities(pod, (name) => DEFAULT_CAPABILITIES.has(name));
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

/** The message for containers that add disallowed capabilities. */
export function addedCapabilities(pod: ReviewedPod, isAllowed: (name: string) => boolean): string | undefined {
  const forbidden: string[] = [];
  const containers = containersWhere(pod, (context) => {
    const names = (context?.capabilities?.add ?? []).filter((name) => !isAllowed(name));
    append(forbidden, names);
    return names.length > 0;
  });
  if (containers.length === 0) return undefined;
  const names = quoted(sorted(forbidden));
  return `${counted('container', containers)} must not include ${names} in securityContext.capabilities.add`;
}

export const hostNamespaces: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
};

export const hostPathVolumes: Check = ({ spec }) => {
  const names = (spec.volumes ?? []).flatMap(({ name, hostPath }) => (hostPath === undefined ? [] : [name]));
  return names.length === 0 ? undefined : { reason: 'hostPath volumes', detail: counted('volume', names) };
};

export const hostPorts: Check = (pod) => {
  const used: string[] = [];
  const containers = containersWhere(pod, (_, { ports }) => {
    const taken = (ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []));
    append(used, taken);
    return taken.length > 0;
  });
  if (containers.length === 0) return undefined;
  const ports = sorted(used);
  const verb = containers.length === 1 ? 'uses' : 'use';
  const detail = `${counted('container', containers)} ${verb} ${plural('hostPort', ports.length)} ${ports.join(', ')}`;
  return { reason: 'hostPort', detail };
};

export const privileged: Check = (pod) =>
  containerViolation(pod, (context) => context?.privileged === true, {
    reason: 'privileged',
    must: 'must not set securityContext.privileged=true',
  });

export const procMount: Check = (pod) => {
  if (isInUserNamespace(pod)) return undefined;
  const values: string[] = [];
  const containers = containersWhere(pod, (context) => {
    const value = context?.procMount ?? 'Default';
    if (value !== 'Default') values.push(value);
    return value !== 'Default';
  });
  if (containers.length === 0) return undefined;
  const detail = `${counted('container', containers)} must not set securityContext.procMount to ${quoted(sorted(values))}`;
  return { reason: 'procMount', detail };
};

const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

export const seLinuxOptions = seLinuxCheck(SELINUX_TYPES);
/** From v1.31. */
export const seLinuxOptionsWithEngine = seLinuxCheck([...SELINUX_TYPES, 'container_engine_t']);

function seLinuxCheck(allowed: readonly string[]): Check {
  const isForbidden = ({ type = '', user = '', role = '' }: SELinuxOptions): boolean =>
    !allowed.includes(type) || user !== '' || role !== '';
  return (pod) => {
    const found: SELinuxOptions[] = [];
    const isBad = (options: SELinuxOptions | undefined): boolean => {
      if (options === undefined || !isForbidden(options)) return false;
      found.push(options);
      return true;
    };
    const subjects = subjectsWhere(pod, (context) => isBad(context?.seLinuxOptions));
    if (subjects === '') return undefined;
    const types = sorted(found.map(({ type = '' }) => type).filter((type) => !allowed.includes(type)));
    const faults = [
      ...(types.length > 0 ? [counted('type', types)] : []),
      ...(found.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(found.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    const detail = `${subjects} set forbidden securityContext.seLinuxOptions: ${faults.join('; ')}`;
    return { reason: 'seLinuxOptions', detail };
  };
}

/** Before v1.19: profiles are annotations. */
export const seccompAnnotations: Check = ({ annotations, spec, dialect }) => {
  const { pod, prefix } = seccompKeys(dialect);
  const keys = [pod, ...allContainers(spec).map(({ name }) => `${prefix}${name}`)];
  const forbidden = sorted(
    keys.flatMap((key) => {
      const value = own(annotations, key);
      return value === undefined || isAllowedSeccompAnnotation(value) ? [] : [`${key}=${quote(value)}`];
    }),
  );
  if (forbidden.length === 0) return undefined;
  const detail = `forbidden ${plural('annotation', forbidden.length)} ${forbidden.join(', ')}`;
  return { reason: 'seccompProfile', detail };
};

function isAllowedSeccompAnnotation(value: string): boolean {
  return value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');
}

/** From v1.19. */
export const seccompProfileBaseline: Check = (pod) => {
  const values: string[] = [];
  const isBad = (profile: { readonly type: string } | undefined): boolean => {
    if (profile === undefined || isAllowedProfile(profile.type)) return false;
    values.push(profile.type);
    return true;
  };
  const subjects = subjectsWhere(pod, (context) => isBad(context?.seccompProfile));
  if (subjects === '') return undefined;
  const detail = `${subjects} must not set securityContext.seccompProfile.type to ${quoted(sorted(values))}`;
  return { reason: 'seccompProfile', detail };
};

/** By the release that first allows them. */
const SAFE_SYSCTLS: readonly (readonly [minor: number, names: readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [
    29,
    [
      'net.ipv4.tcp_keepalive_time',
      'net.ipv4.tcp_fin_timeout',
      'net.ipv4.tcp_keepalive_intvl',
      'net.ipv4.tcp_keepalive_probes',
    ],
  ],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
];

/** One version of the check per release that extends the list. */
export const sysctls: readonly (readonly [minor: number, check: Check])[] = SAFE_SYSCTLS.map(([release]) => {
  const allowed = new Set(SAFE_SYSCTLS.flatMap(([minor, names]) => (minor <= release ? names : [])));
  const check: Check = ({ spec }): Violation | undefined => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name));
    return names.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: names.join(', ') };
  };
  return [release, check];
});

export const windowsHostProcess: Check = (pod) => {
  const subjects = subjectsWhere(pod, (context) => context?.windowsOptions?.hostProcess === true);
  if (subjects === '') return undefined;
  return { reason: 'hostProcess', detail: `${subjects} must not set securityContext.windowsOptions.hostProcess=true` };
};
