/**
 * Validation of the pod spec fields for scheduling and naming: topology spread, scheduling gates, resource claims, DNS,
 * host aliases.
 */

import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, forbidden, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { validIpProblems } from '../../../../meta/ip.js';
import { labelSelectorObjectErrors } from '../../../../meta/labels.js';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  lengthMessage,
  patternMessage,
  qualifiedNameProblems,
} from '../../../../meta/names.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import type {
  HostAlias,
  PodDNSConfig,
  PodResourceClaim,
  PodSchedulingGate,
  PodSpec,
  TopologySpreadConstraint,
} from '../../../generated/core-v1.js';
import { optionalValueErrors, valueErrors } from '../../../shared/field-rules.js';
import { EMPTY_PATH } from './annotations.js';
import type { PodSpecContext } from './context.js';

const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];
const INCLUSION = ['Honor', 'Ignore'];

/** Validates `topologySpreadConstraints`. */
export function spreadProblems(path: string, constraints: readonly TopologySpreadConstraint[]): FieldError[] {
  const pairOf = ({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint) =>
    JSON.stringify([topologyKey, whenUnsatisfiable]);
  const lastIndex = new Map(constraints.map((constraint, index) => [pairOf(constraint), index]));
  return constraints.flatMap((constraint, index) => {
    const at = (field: string) => childPath(keyPath(path, index), field);
    const { maxSkew, topologyKey, whenUnsatisfiable: action } = constraint;
    const repeated = (lastIndex.get(pairOf(constraint)) ?? index) > index;
    return [
      ...(maxSkew > 0 ? [] : [invalid(at('maxSkew'), maxSkew, 'must be greater than zero')]),
      ...(topologyKey === '' ? [required(at('topologyKey'), 'can not be empty')] : []),
      ...valueErrors(at('whenUnsatisfiable'), action, UNSATISFIABLE),
      ...(repeated ? [duplicate(at('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${action}}`)] : []),
      ...minDomainsProblems(at('minDomains'), constraint),
      ...optionalValueErrors(at('nodeAffinityPolicy'), constraint.nodeAffinityPolicy, INCLUSION),
      ...optionalValueErrors(at('nodeTaintsPolicy'), constraint.nodeTaintsPolicy, INCLUSION),
      ...spreadKeysProblems(at('matchLabelKeys'), constraint),
      ...labelSelectorObjectErrors(constraint.labelSelector ?? {}, at('labelSelector')),
    ];
  });
}

function minDomainsProblems(path: string, constraint: TopologySpreadConstraint): FieldError[] {
  const { minDomains, whenUnsatisfiable: action } = constraint;
  if (minDomains === undefined) return [];
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
  return [
    ...(minDomains > 0 ? [] : [invalid(path, minDomains, 'must be greater than zero')]),
    ...(action === 'DoNotSchedule' ? [] : [invalid(path, minDomains, detail)]),
  ];
}

function spreadKeysProblems(path: string, constraint: TopologySpreadConstraint): FieldError[] {
  const { matchLabelKeys = [], labelSelector } = constraint;
  if (matchLabelKeys.length === 0) return [];
  const { matchLabels = {}, matchExpressions = [] } = labelSelector ?? {};
  const selected = new Set([...Object.keys(matchLabels), ...matchExpressions.map(({ key }) => key)]);
  const unset = labelSelector === undefined;
  return [
    ...(unset ? [forbidden(path, 'must not be specified when labelSelector is not set')] : []),
    ...matchLabelKeys.flatMap((key, index) => [
      ...qualifiedNameProblems(key).map((problem) => invalid(keyPath(path, index), key, problem)),
      ...(selected.has(key)
        ? [invalid(keyPath(path, index), key, 'exists in both matchLabelKeys and labelSelector')]
        : []),
    ]),
  ];
}

/** Validates `schedulingGates`. */
export function gatesProblems(path: string, gates: readonly PodSchedulingGate[]): FieldError[] {
  const seen = new Set<string>();
  return gates.flatMap(({ name }, index) => {
    const at = keyPath(path, index);
    const problems = qualifiedNameProblems(name).map((problem) => invalid(at, name, problem));
    if (seen.has(name)) problems.push(duplicate(at, name));
    seen.add(name);
    return problems;
  });
}

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

/** Validates `dnsConfig`, which the policy `None` requires. */
export function dnsProblems(path: string, { dnsPolicy, dnsConfig }: PodSpec, context: PodSpecContext): FieldError[] {
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if ((dnsConfig.nameservers ?? []).length === 0) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [required(childPath(path, 'nameservers'), detail)];
    }
  }
  return dnsConfig === undefined ? [] : dnsConfigProblems(path, dnsConfig, context);
}

function dnsConfigProblems(path: string, config: PodDNSConfig, context: PodSpecContext): FieldError[] {
  const { nameservers = [], searches = [], options = [] } = config;
  const [serversAt, searchesAt] = [childPath(path, 'nameservers'), childPath(path, 'searches')];
  const problems: FieldError[] = [];
  if (nameservers.length > MAX_NAMESERVERS) {
    problems.push(invalid(serversAt, nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`));
  }
  for (const [index, server] of nameservers.entries()) append(problems, ipProblems(keyPath(serversAt, index), server));
  if (searches.length > MAX_SEARCHES) {
    problems.push(invalid(searchesAt, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    const detail = `must not have more than ${MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list`;
    problems.push(invalid(searchesAt, searches, detail));
  }
  for (const [index, search] of searches.entries()) {
    const name = search.endsWith('.') ? search.slice(0, -1) : search;
    const relaxed = context.features.enabled('RelaxedDNSSearchValidation');
    const found = relaxed ? relaxedSearchProblems(search, name) : dnsSubdomainProblems(name);
    append(
      problems,
      found.map((problem) => invalid(keyPath(searchesAt, index), name, problem)),
    );
  }
  for (const [index, { name = '' }] of options.entries()) {
    if (name === '') problems.push(required(keyPath(childPath(path, 'options'), index), 'must not be empty'));
  }
  return problems;
}

const RELAXED_LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const RELAXED_NAME = `${RELAXED_LABEL}(\\.${RELAXED_LABEL})*`;
/** The regular expression in the message, which does not mention underscores. */
const REPORTED_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const REPORTED_NAME = `${REPORTED_LABEL}(\\.${REPORTED_LABEL})*`;
const MAX_NAME = 253;

/** With RelaxedDNSSearchValidation a single dot and underscores are valid. */
function relaxedSearchProblems(search: string, name: string): readonly string[] {
  if (search === '.') return [];
  const what =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
  return [
    ...(name.length > MAX_NAME ? [lengthMessage(MAX_NAME)] : []),
    ...(new RegExp(`^${RELAXED_NAME}$`).test(name) ? [] : [patternMessage(what, REPORTED_NAME, ['example.com'])]),
  ];
}

/** Validates `hostAliases`. */
export function hostAliasesProblems(path: string, aliases: readonly HostAlias[]): FieldError[] {
  return aliases.flatMap(({ ip, hostnames = [] }, index) => {
    const at = keyPath(path, index);
    return [
      ...ipProblems(childPath(at, 'ip'), ip),
      ...hostnames.flatMap((hostname, hostIndex) =>
        dnsSubdomainProblems(hostname).map((problem) =>
          invalid(keyPath(childPath(at, 'hostnames'), hostIndex), hostname, problem),
        ),
      ),
    ];
  });
}

function ipProblems(path: string, ip: string): FieldError[] {
  return validIpProblems(ip).map((problem) => invalid(path, ip, problem));
}

/** Validates `resourceClaims`: unique names, and exactly one source per claim. */
export function resourceClaimsProblems(
  path: string,
  claims: readonly PodResourceClaim[],
  { isStatic = false }: PodSpecContext,
): FieldError[] {
  if (isStatic) return claims.map(() => forbidden(EMPTY_PATH, 'static pods do not support resource claims'));
  const names = new Set<string>();
  return claims.flatMap((claim, index) => {
    const at = keyPath(path, index);
    const { resourceClaimName, resourceClaimTemplateName } = claim;
    return [
      ...claimNameProblems(childPath(at, 'name'), claim.name, names),
      ...sourcesProblems(at, claim),
      ...subdomainProblems(childPath(at, 'resourceClaimName'), resourceClaimName),
      ...subdomainProblems(childPath(at, 'resourceClaimTemplateName'), resourceClaimTemplateName),
    ];
  });
}

function claimNameProblems(path: string, name: string, names: Set<string>): FieldError[] {
  if (name === '') return [required(path)];
  if (names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return dnsLabelProblems(name).map((problem) => invalid(path, name, problem));
}

function sourcesProblems(path: string, claim: PodResourceClaim): FieldError[] {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim;
  const both = resourceClaimName !== undefined && resourceClaimTemplateName !== undefined;
  const none = resourceClaimName === undefined && resourceClaimTemplateName === undefined;
  if (!both && !none) return [];
  // Go prints pointer addresses, which differ from run to run; this one is a placeholder.
  const pointer = both ? '0xc000000000' : 'nil';
  const value = `core.PodResourceClaim{Name:${quote(name)}, ResourceClaimName:(*string)(${pointer}), ResourceClaimTemplateName:(*string)(${pointer})}`;
  const detail = both
    ? 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
    : 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
  return [invalid(path, verbatim(value), detail)];
}

/** Validates an optional name that must be a DNS subdomain. */
export function subdomainProblems(path: string, name: string | undefined): FieldError[] {
  if (name === undefined) return [];
  return dnsSubdomainProblems(name).map((problem) => invalid(path, name, problem));
}
