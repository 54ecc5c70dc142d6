/**
 * Validation of `spec.os` and of Windows options: fields that are invalid for the pod's operating system, and
 * HostProcess containers.
 */

import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, forbidden, invalid, notSupported, required } from '../../../../meta/field-error.js';
import { byteLength, dnsSubdomainProblems } from '../../../../meta/names.js';
import { append } from '../../../../util/arrays.js';
import type {
  PodSecurityContext,
  PodSpec,
  SecurityContext,
  WindowsSecurityContextOptions,
} from '../../../generated/core-v1.js';
import { containersWithPaths } from './defaults.js';

const OPERATING_SYSTEMS = ['linux', 'windows'];

/** Validates `spec.os` and the fields that depend on it. */
export function osProblems(path: string, spec: PodSpec): FieldError[] {
  const { os } = spec;
  if (os === undefined) return [];
  const at = childPath(path, 'os');
  const name: string = os.name;
  if (name === '') return [required(childPath(at, 'name'), 'cannot be empty')];
  if (!OPERATING_SYSTEMS.includes(name)) return [notSupported(at, name, OPERATING_SYSTEMS)];
  return name === 'linux' ? linuxProblems(path, spec) : windowsProblems(path, spec);
}

const MAX_SPEC_KIB = 64;

/** Validates the `windowsOptions` of a security context. */
export function windowsOptionsProblems(path: string, options: WindowsSecurityContextOptions | undefined): FieldError[] {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: credentials, runAsUserName } = options;
  const [nameAt, specAt] = [childPath(path, 'gmsaCredentialSpecName'), childPath(path, 'gmsaCredentialSpec')];
  const problems: FieldError[] = [];
  if (specName !== undefined) {
    append(
      problems,
      dnsSubdomainProblems(specName).map((problem) => invalid(nameAt, specName, problem)),
    );
  }
  if (credentials === '') problems.push(invalid(specAt, '', 'gmsaCredentialSpec cannot be an empty string'));
  else if (credentials !== undefined && byteLength(credentials) > MAX_SPEC_KIB * 1024) {
    problems.push(invalid(specAt, credentials, `gmsaCredentialSpec size must be under ${MAX_SPEC_KIB} KiB`));
  }
  if (runAsUserName !== undefined) {
    const at = childPath(path, 'runAsUserName');
    append(
      problems,
      userNameProblems(runAsUserName).map((problem) => invalid(at, runAsUserName, problem)),
    );
  }
  return problems;
}

const MAX_DOMAIN = 256;
const MAX_USER = 104;
const DNS_DOMAIN = /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const NETBIOS_DOMAIN = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;

/** Validates `user` or `domain\user`. */
function userNameProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (/\p{Cc}/u.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const [user = '', domain] = parts.reverse();
  const problems: string[] = [];
  if (domain !== undefined && domain.length >= MAX_DOMAIN) {
    problems.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN} characters`);
  }
  if (domain !== undefined && !DNS_DOMAIN.test(domain) && !NETBIOS_DOMAIN.test(domain)) {
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === '') problems.push("runAsUserName's User cannot be empty");
  else if (user.length > MAX_USER) {
    problems.push(`runAsUserName's User length must not be longer than ${MAX_USER} characters`);
  }
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return problems;
}

/** Either all containers of a pod are HostProcess containers, or none. */
export function hostProcessProblems(path: string, spec: PodSpec): FieldError[] {
  const ofPod = spec.securityContext.windowsOptions?.hostProcess;
  const all = containersWithPaths(path, spec);
  const problems: FieldError[] = [];
  let count = 0;
  for (const { path: at, container } of all) {
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      problems.push(invalid(childPath(at, 'securityContext.windowsOptions.hostProcess'), own, detail));
    }
    if (own ?? ofPod ?? false) count += 1;
  }
  if (count === 0) return problems;
  if (count !== all.length) {
    const detail = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    problems.push(invalid(path, '', detail));
  }
  if (spec.hostNetwork !== true) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
    problems.push(invalid(childPath(path, 'hostNetwork'), false, detail));
  }
  return problems;
}

function linuxProblems(path: string, spec: PodSpec): FieldError[] {
  const why = 'windows options cannot be set for a linux pod';
  const pod = { path, container: { securityContext: spec.securityContext } };
  return [pod, ...containersWithPaths(path, spec)]
    .filter(({ container }) => container.securityContext?.windowsOptions !== undefined)
    .map(({ path: at }) => forbidden(childPath(at, 'securityContext.windowsOptions'), why));
}

type PodField = keyof PodSecurityContext | 'hostUsers' | 'hostPID' | 'hostIPC' | 'shareProcessNamespace';

/** In the reference server's order. Some are fields of the spec, the others of the security context. */
const FORBIDDEN_WINDOWS_POD_FIELDS: readonly PodField[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'shareProcessNamespace',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
  'seLinuxChangePolicy',
];

const FORBIDDEN_WINDOWS_CONTAINER_FIELDS: readonly (keyof SecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

function windowsProblems(path: string, spec: PodSpec): FieldError[] {
  const why = 'cannot be set for a windows pod';
  const { hostUsers, hostPID, hostIPC, shareProcessNamespace, securityContext } = spec;
  const specFields = { hostUsers, hostPID, hostIPC, shareProcessNamespace };
  const inPod = FORBIDDEN_WINDOWS_POD_FIELDS.flatMap((field) => {
    if (Object.hasOwn(specFields, field)) {
      const value = specFields[field as keyof typeof specFields];
      return value === undefined ? [] : [forbidden(childPath(path, field), why)];
    }
    const value = securityContext[field as keyof PodSecurityContext];
    return value === undefined ? [] : [forbidden(childPath(path, `securityContext.${field}`), why)];
  });
  const inContainers = containersWithPaths(path, spec).flatMap(
    ({ path: at, container: { securityContext: own = {} } }) =>
      FORBIDDEN_WINDOWS_CONTAINER_FIELDS.filter((field) => own[field] !== undefined).map((field) =>
        forbidden(childPath(at, `securityContext.${field}`), why),
      ),
  );
  return [...inPod, ...inContainers];
}
