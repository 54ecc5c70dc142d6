/**
 * Validation of cluster IPs and IP families. The rules run before allocation, which relies on them, and again with all
 * other rules.
 */

import { duplicate, type FieldError, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { isDualStack, parseIpSloppy, validIpProblems } from '../../../../meta/ip.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import type { ServiceSpec } from '../../../generated/core-v1.js';
import { optionalValueErrors, repeatedIndexes, valueErrors } from '../../../shared/field-rules.js';
import { HEADLESS, isHeadless } from './needs.js';

const ADDRESSES = 'spec.clusterIPs';

/** Validates `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy`. */
export function clusterIPProblems(spec: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const { clusterIPs = [] } = spec;
  const found = [...singularProblems(spec), ...familyProblems(spec)];
  const addressProblems: FieldError[] = [];
  clusterIPs.forEach((address, index) => {
    if (index > 0 || address !== HEADLESS) {
      const details = validIpProblems(address);
      append(
        addressProblems,
        details.map((detail) => invalid(keyPath(ADDRESSES, index), address, detail)),
      );
    } else if (clusterIPs.length > 1) {
      addressProblems.push(invalid(ADDRESSES, clusterIPs, "'None' must be the first and only value"));
    }
  });
  append(found, addressProblems);
  if (clusterIPs.length > 2) found.push(invalid(ADDRESSES, clusterIPs, 'may only hold up to 2 values'));
  // Families are compared only if all addresses are valid.
  return addressProblems.length > 0 ? found : [...found, ...matchProblems(spec)];
}

function singularProblems({ clusterIP = '', clusterIPs = [] }: ServiceSpec): FieldError[] {
  if (clusterIP === '') {
    if (clusterIPs.length === 0) return [];
    return [invalid(ADDRESSES, clusterIPs, 'must be empty when `clusterIP` is not specified')];
  }
  if (clusterIPs.length === 0) return [required(ADDRESSES)];
  return clusterIPs[0] === clusterIP ? [] : [invalid(ADDRESSES, clusterIPs, 'first value must match `clusterIP`')];
}

const FAMILIES = ['IPv4', 'IPv6'];
const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

function familyProblems({ ipFamilies = [], ipFamilyPolicy }: ServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  const repeated = repeatedIndexes(ipFamilies);
  ipFamilies.forEach((family, index) => {
    const path = keyPath('spec.ipFamilies', index);
    append(found, valueErrors(path, family, FAMILIES));
    if (repeated.has(index)) found.push(duplicate(path, family));
  });
  append(found, optionalValueErrors('spec.ipFamilyPolicy', ipFamilyPolicy, POLICIES));
  return found;
}

function matchProblems(spec: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = spec;
  const families = clusterIPs.flatMap((address) => parseIpSloppy(address)?.family ?? []);
  const found: FieldError[] = [];
  if (clusterIPs.length > 1 && !isDualStack(families)) {
    found.push(invalid(ADDRESSES, clusterIPs, 'may specify no more than one IP for each IP family'));
  }
  if (isHeadless(spec)) return found;
  clusterIPs.forEach((address, index) => {
    const wanted = ipFamilies[index];
    if (wanted === undefined || !FAMILIES.includes(wanted) || families[index] === wanted) return;
    const detail = `expected an ${wanted} value as indicated by \`ipFamilies[${index}]\``;
    found.push(invalid(keyPath(ADDRESSES, index), address, detail));
  });
  return found;
}

/** The primary address and family cannot change. The secondary ones can be added, and removed with SingleStack. */
export function addressUpdateProblems(next: ServiceSpec, live: ServiceSpec): FieldError[] {
  if (next.type === 'ExternalName' || live.type === 'ExternalName') return [];
  const found: FieldError[] = [];
  if (!isHeadless(live) || !isHeadless(next)) append(found, clusterIPUpdateProblems(next, live));
  if (!isHeadless(live) && !isHeadless(next)) append(found, familyUpdateProblems(next, live));
  return found;
}

function clusterIPUpdateProblems(next: ServiceSpec, live: ServiceSpec): FieldError[] {
  const now = next.clusterIPs ?? [];
  const before = live.clusterIPs ?? [];
  const changed = (index: number) => invalid(keyPath(ADDRESSES, index), now, 'may not change once set');
  if (now.length === before.length) {
    return before.flatMap((address, index) => (address === now[index] ? [] : [changed(index)]));
  }
  if (now.length === 0) return [invalid(keyPath(ADDRESSES, 0), now, 'primary clusterIP can not be unset')];
  const found = before.length > 0 && now[0] !== before[0] ? [changed(0)] : [];
  if (now.length < before.length && now.length === 1) append(found, releaseProblems(next, 'clusterIP'));
  return found;
}

function familyUpdateProblems(next: ServiceSpec, live: ServiceSpec): FieldError[] {
  const path = 'spec.ipFamilies[0]';
  const now = next.ipFamilies ?? [];
  const before = live.ipFamilies ?? [];
  if (now.length === before.length) {
    return before.flatMap((family, index) =>
      family === now[index] ? [] : [invalid(path, goSyntaxFamilies(now), 'may not change once set')],
    );
  }
  const found: FieldError[] = [];
  const isShorter = now.length < before.length;
  if (isShorter && !next.clusterIPs?.length) {
    found.push(invalid(path, goSyntaxFamilies(now), 'primary ipFamily can not be unset'));
  }
  if (now.length > 0 && before.length > 0 && now[0] !== before[0]) {
    // The reference server reports the addresses instead of the families here.
    found.push(invalid(path, next.clusterIPs ?? [], 'may not change once set'));
  }
  if (isShorter && now.length === 1) append(found, releaseProblems(next, 'ipFamily'));
  return found;
}

function goSyntaxFamilies(families: readonly string[]) {
  return verbatim(`[]core.IPFamily{${families.map(quote).join(', ')}}`);
}

function releaseProblems({ ipFamilyPolicy }: ServiceSpec, what: string): FieldError[] {
  if (ipFamilyPolicy === 'SingleStack') return [];
  const detail = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalid('spec.ipFamilyPolicy', ipFamilyPolicy, detail)];
}
