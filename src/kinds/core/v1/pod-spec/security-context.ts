/**
 * Schemas of security contexts.
 */
import * as z from 'zod';
import { enumString, int64, namedString, optional, pointer } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';

const capabilitiesShape = () => ({
  add: optional(z.array(namedString('v1.Capability'))),
  drop: optional(z.array(namedString('v1.Capability'))),
});
export interface Capabilities extends Output<typeof capabilitiesShape> {}
export interface CapabilitiesInput extends Input<typeof capabilitiesShape> {}
export const capabilities: Type<Capabilities, CapabilitiesInput> = type('Capabilities', capabilitiesShape);

const seLinuxOptionsShape = () => ({
  user: optional(z.string()),
  role: optional(z.string()),
  type: optional(z.string()),
  level: optional(z.string()),
});
export interface SELinuxOptions extends Output<typeof seLinuxOptionsShape> {}
export interface SELinuxOptionsInput extends Input<typeof seLinuxOptionsShape> {}
export const seLinuxOptions: Type<SELinuxOptions, SELinuxOptionsInput> = type('SELinuxOptions', seLinuxOptionsShape);

const windowsSecurityContextOptionsShape = () => ({
  gmsaCredentialSpecName: pointer(z.string()),
  gmsaCredentialSpec: pointer(z.string()),
  runAsUserName: pointer(z.string()),
  hostProcess: pointer(z.boolean()),
});
export interface WindowsSecurityContextOptions extends Output<typeof windowsSecurityContextOptionsShape> {}
export interface WindowsSecurityContextOptionsInput extends Input<typeof windowsSecurityContextOptionsShape> {}
export const windowsSecurityContextOptions: Type<WindowsSecurityContextOptions, WindowsSecurityContextOptionsInput> =
  type('WindowsSecurityContextOptions', windowsSecurityContextOptionsShape);

const seccompProfileShape = () => ({
  type: enumString<'Unconfined' | 'RuntimeDefault' | 'Localhost'>('v1.SeccompProfileType'),
  localhostProfile: pointer(z.string()),
});
export interface SeccompProfile extends Output<typeof seccompProfileShape> {}
export interface SeccompProfileInput extends Input<typeof seccompProfileShape> {}
export const seccompProfile: Type<SeccompProfile, SeccompProfileInput> = type('SeccompProfile', seccompProfileShape);

const appArmorProfileShape = () => ({
  type: enumString<'Unconfined' | 'RuntimeDefault' | 'Localhost'>('v1.AppArmorProfileType'),
  localhostProfile: pointer(z.string()),
});
export interface AppArmorProfile extends Output<typeof appArmorProfileShape> {}
export interface AppArmorProfileInput extends Input<typeof appArmorProfileShape> {}
export const appArmorProfile: Type<AppArmorProfile, AppArmorProfileInput> = type(
  'AppArmorProfile',
  appArmorProfileShape,
);

const securityContextShape = () => ({
  capabilities: pointer(capabilities()),
  privileged: pointer(z.boolean()),
  seLinuxOptions: pointer(seLinuxOptions()),
  windowsOptions: pointer(windowsSecurityContextOptions()),
  runAsUser: pointer(int64()),
  runAsGroup: pointer(int64()),
  runAsNonRoot: pointer(z.boolean()),
  readOnlyRootFilesystem: pointer(z.boolean()),
  allowPrivilegeEscalation: pointer(z.boolean()),
  procMount: pointer(enumString<'Default' | 'Unmasked'>('v1.ProcMountType')),
  seccompProfile: pointer(seccompProfile()),
  appArmorProfile: pointer(appArmorProfile()),
});
export interface SecurityContext extends Output<typeof securityContextShape> {}
export interface SecurityContextInput extends Input<typeof securityContextShape> {}
export const securityContext: Type<SecurityContext, SecurityContextInput> = type(
  'SecurityContext',
  securityContextShape,
);

const sysctlShape = () => ({
  name: z.string(),
  value: z.string(),
});
export interface Sysctl extends Output<typeof sysctlShape> {}
export interface SysctlInput extends Input<typeof sysctlShape> {}
export const sysctl: Type<Sysctl, SysctlInput> = type('Sysctl', sysctlShape);

const podSecurityContextShape = () => ({
  seLinuxOptions: pointer(seLinuxOptions()),
  windowsOptions: pointer(windowsSecurityContextOptions()),
  runAsUser: pointer(int64()),
  runAsGroup: pointer(int64()),
  runAsNonRoot: pointer(z.boolean()),
  supplementalGroups: optional(z.array(int64())),
  supplementalGroupsPolicy: pointer(enumString<'Merge' | 'Strict'>('v1.SupplementalGroupsPolicy')),
  fsGroup: pointer(int64()),
  sysctls: optional(z.array(sysctl())),
  fsGroupChangePolicy: pointer(enumString<'OnRootMismatch' | 'Always'>('v1.PodFSGroupChangePolicy')),
  seccompProfile: pointer(seccompProfile()),
  appArmorProfile: pointer(appArmorProfile()),
  seLinuxChangePolicy: pointer(enumString<'Recursive' | 'MountOption'>('v1.PodSELinuxChangePolicy')),
});
export interface PodSecurityContext extends Output<typeof podSecurityContextShape> {}
export interface PodSecurityContextInput extends Input<typeof podSecurityContextShape> {}
export const podSecurityContext: Type<PodSecurityContext, PodSecurityContextInput> = type(
  'PodSecurityContext',
  podSecurityContextShape,
);
