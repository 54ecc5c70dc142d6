/**
 * Defaulting of the IP families of a Service, from its addresses, its live object and the families of the cluster. It
 * runs before allocation and validation; its errors reject the request before anything is allocated.
 */
import { type FieldError, invalid, keyPath } from '../../../../meta/field-error.js';
import { type IpFamily, parseIpSloppy } from '../../../../meta/ip.js';
import { deepEqual } from '../../../../util/json.js';
import type { ServiceSpec } from '../../../generated/core-v1.js';
import { HEADLESS } from './needs.js';
import { clusterIPProblems } from './validate-addresses.js';

/** The families of the cluster's service CIDRs; the first is the default. */
type Families = readonly IpFamily[];

const POLICY_PATH = 'spec.ipFamilyPolicy';

/** Sets the family fields of `spec` in place. Returns the errors of fields that contradict each other. */
export function initFamilies(
  spec: ServiceSpec,
  live: ServiceSpec | undefined,
  configured: Families,
): readonly FieldError[] {
  if (spec.type === 'ExternalName' || (live !== undefined && keepsPreferredStack(spec, live))) return [];
  spec.ipFamilyPolicy ??=
    live?.ipFamilyPolicy ?? (isHeadlessWithoutSelector(spec) ? 'RequireDualStack' : 'SingleStack');
  const problems = clusterIPProblems(spec);
  if (problems.length > 0) return problems;
  const found = live === undefined ? [] : releaseSecondary(spec, live);
  found.push(...policyProblems(spec), ...inferFamilies(spec, configured));
  if (found.length > 0) return found;
  if (isHeadlessWithoutSelector(spec)) {
    spec.ipFamilies = familiesWithoutSelector(spec, configured);
    return [];
  }
  const unconfigured = configurationProblems(spec, configured);
  if (unconfigured.length > 0) return unconfigured;
  if (!spec.ipFamilies?.length) spec.ipFamilies = configured.slice(0, 1);
  const [family] = spec.ipFamilies;
  if (family !== undefined && spec.ipFamilyPolicy !== 'SingleStack' && spec.ipFamilies.length < configured.length) {
    spec.ipFamilies = [family, otherFamily(family)];
  }
  return [];
}

/** Endpoints of headless services without a selector are created by users, who may use any family. */
function isHeadlessWithoutSelector({ clusterIP, selector = {} }: ServiceSpec): boolean {
  return clusterIP === HEADLESS && Object.keys(selector).length === 0;
}

/** An update that changes no address field does not move a PreferDualStack service between single and dual stack. */
function keepsPreferredStack(spec: ServiceSpec, live: ServiceSpec): boolean {
  return (
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (live.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    spec.type === live.type &&
    sameItems(spec.clusterIPs, live.clusterIPs) &&
    sameItems(spec.ipFamilies, live.ipFamilies)
  );
}

/** A change from two families to one requires the SingleStack policy, which removes the secondary values. */
function releaseSecondary(spec: ServiceSpec, live: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  if (ipFamilyPolicy === 'SingleStack') {
    if (clusterIPs.length > 1 && sameItems(clusterIPs, live.clusterIPs)) spec.clusterIPs = clusterIPs.slice(0, 1);
    if (ipFamilies.length > 1 && sameItems(ipFamilies, live.ipFamilies)) spec.ipFamilies = ipFamilies.slice(0, 1);
    return [];
  }
  const found: FieldError[] = [];
  const report = (what: string) =>
    found.push(invalid(POLICY_PATH, ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`));
  if (isShorter(clusterIPs, live.clusterIPs)) report('cluster IP');
  if (isShorter(ipFamilies, live.ipFamilies)) report('IP family');
  return found;
}

function isShorter(now: readonly string[], before: readonly string[] = []): boolean {
  return now.length > 0 && now.length < before.length;
}

function policyProblems({ clusterIPs = [], ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const several = (what: string) =>
    invalid(
      POLICY_PATH,
      ipFamilyPolicy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(clusterIPs.length === 2 ? [several('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [several('IP families')] : []),
  ];
}

/** Adds missing families from the addresses. */
function inferFamilies(spec: ServiceSpec, configured: Families): FieldError[] {
  const found: FieldError[] = [];
  const { clusterIPs = [] } = spec;
  for (const [index, address] of clusterIPs.entries()) {
    if (address === HEADLESS) break;
    const family = parseIpSloppy(address)?.family;
    const families = spec.ipFamilies ?? [];
    if (family === undefined || index < families.length) continue;
    if (configured.includes(family)) spec.ipFamilies = [...families, family];
    else {
      const detail = `${family} is not configured on this cluster`;
      found.push(invalid(keyPath('spec.clusterIPs', index), clusterIPs, detail));
    }
  }
  return found;
}

function familiesWithoutSelector({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec, configured: Families): IpFamily[] {
  const [family = configured[0] ?? 'IPv4'] = ipFamilies;
  if (ipFamilies.length > 1) return [...ipFamilies];
  return ipFamilyPolicy === 'SingleStack' ? [family] : [family, otherFamily(family)];
}

function configurationProblems({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec, configured: Families): FieldError[] {
  const found: FieldError[] = [];
  if (ipFamilyPolicy === 'RequireDualStack' && configured.length < 2) {
    found.push(invalid(POLICY_PATH, ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  ipFamilies.forEach((family, index) => {
    if (configured.includes(family)) return;
    found.push(invalid(keyPath('spec.ipFamilies', index), family, 'not configured on this cluster'));
  });
  return found;
}

function otherFamily(family: IpFamily): IpFamily {
  return family === 'IPv4' ? 'IPv6' : 'IPv4';
}

export function sameItems(left: readonly string[] = [], right: readonly string[] = []): boolean {
  return deepEqual(left, right);
}
