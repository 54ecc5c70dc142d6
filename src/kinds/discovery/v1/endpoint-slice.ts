/**
 * The EndpointSlice kind: a part of the endpoints of a service. spec: Notable changes in replacements
 */

import { type Dialect, serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, duplicate, invalid, keyPath, required, tooMany } from '../../../meta/field-error.js';
import { ipWarnings, parseIpSloppy, specialIpProblems, validIpProblems } from '../../../meta/ip.js';
import { labelErrors } from '../../../meta/labels.js';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import type { Column } from '../../columns.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type AddressType,
  type Endpoint,
  type EndpointHints,
  type EndpointSliceKind,
  type EndpointSliceObject,
  type EndpointSlicePort,
  endpointSliceBase,
} from '../../generated/discovery-v1.js';
import type { HookContext, MetadataErrors } from '../../kind.js';
import { ageColumn, firstFew, nameColumn, textColumn } from '../../shared/common-columns.js';
import { initialEndpointSlices } from '../../shared/control-plane/initial-objects.js';
import { endpointSliceReconciler } from '../../shared/control-plane/reconcilers.js';
import { valueErrors } from '../../shared/field-rules.js';

export interface EndpointSlice extends EndpointSliceObject {}

export const EndpointSlice: EndpointSliceKind<EndpointSlice> = defineBuiltIn({
  ...endpointSliceBase,
  columns: columns(),
  initial: initialEndpointSlices,
  reconciler: endpointSliceReconciler,
  strategy: {
    update: { metadataValidation: 'inValidate', prepare: prepareForUpdate, validate: validateUpdate },
    write: {
      // prepareForUpdate increases it before it drops fields.
      generation: () => false,
      warnings,
    },
    create: { prepare: dropDisabled, validate: (object) => [...headProblems(object), ...endpointsProblems(object)] },
  },
});

/** Labels count as a change, because they assign the endpoints to a service. */
function hasChanged(next: EndpointSlice, live: EndpointSlice): boolean {
  const parts = ['addressType', 'endpoints', 'ports'] as const;
  return (
    parts.some((part) => !deepEqual(next[part] ?? [], live[part] ?? [])) ||
    !deepEqual(next.metadata.labels ?? {}, live.metadata.labels ?? {})
  );
}

function prepareForUpdate(draft: EndpointSlice, live: EndpointSlice, context: HookContext): void {
  if (hasChanged(draft, live)) draft.metadata.generation = (live.metadata.generation ?? 0) + 1;
  dropDisabled(draft, context, live);
}

/** Drops node hints while their gate is disabled, unless the live object uses them. */
function dropDisabled(draft: EndpointSlice, context: HookContext, live?: EndpointSlice): void {
  dropTopology(draft, context.dialect, live);
  const isUsed = live !== undefined && (live.endpoints ?? []).some(({ hints }) => hints?.forNodes !== undefined);
  if (isUsed || context.features.enabled('PreferSameTrafficDistribution')) return;
  for (const { hints } of draft.endpoints ?? []) if (hints?.forNodes !== undefined) delete hints.forNodes;
}

/**
 * Drops `deprecatedTopology`, which only v1beta1 can set, when a write changes the endpoints. The node in the topology
 * becomes the endpoint's `nodeName`.
 */
function dropTopology(draft: EndpointSlice, dialect: Dialect, live: EndpointSlice | undefined): void {
  const before = live?.endpoints ?? [];
  const endpoints = draft.endpoints ?? [];
  if (!endpoints.some(hasTopology) || deepEqual(endpoints, before)) return;
  const key = dialect.key('hostname');
  const known = new Set(before.flatMap(({ deprecatedTopology }) => deprecatedTopology?.[key] || []));
  for (const item of endpoints) {
    const node = item.deprecatedTopology?.[key];
    if (item.nodeName === undefined && node !== undefined && known.has(node) && isNodeName(node)) item.nodeName = node;
    delete item.deprecatedTopology;
  }
}

function hasTopology({ deprecatedTopology }: Endpoint): boolean {
  return deprecatedTopology !== undefined;
}

function isNodeName(name: string): boolean {
  return dnsSubdomainProblems(name).length === 0;
}

const ADDRESS_TYPES: readonly string[] = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_HINTS = 8;
const MAX_TOPOLOGY = 16;

function validateUpdate(
  next: EndpointSlice,
  live: EndpointSlice,
  _context: HookContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  const { addressType } = next;
  return [
    ...metadata.forCreate(),
    ...headProblems(next),
    // Unchanged endpoints are not validated again.
    ...(deepEqual(next['endpoints'], live['endpoints']) ? [] : endpointsProblems(next)),
    ...(addressType === live['addressType'] ? [] : [invalid('addressType', addressType, 'field is immutable')]),
  ];
}

function headProblems(object: EndpointSlice): FieldError[] {
  const { addressType, ports } = object;
  return [...addressTypeProblems(addressType), ...portsProblems(ports ?? [])];
}

function addressTypeProblems(addressType: string): FieldError[] {
  if (addressType === '') return [required('addressType')];
  return valueErrors('addressType', addressType, ADDRESS_TYPES);
}

function portsProblems(ports: readonly EndpointSlicePort[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [tooMany('ports', ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return ports.flatMap(({ name, protocol, appProtocol }, index) => {
    const path = keyPath('ports', index);
    const namePath = childPath(path, 'name');
    const problems = name === '' ? [] : dnsLabelProblems(name).map((detail) => invalid(namePath, name, detail));
    if (names.has(name)) problems.push(duplicate(namePath, name));
    names.add(name);
    append(problems, valueErrors(childPath(path, 'protocol'), protocol, PROTOCOLS));
    if (appProtocol !== undefined) {
      const at = childPath(path, 'appProtocol');
      append(
        problems,
        qualifiedNameProblems(appProtocol).map((detail) => invalid(at, appProtocol, detail)),
      );
    }
    return problems;
  });
}

function endpointsProblems(object: EndpointSlice): FieldError[] {
  const { addressType } = object;
  const endpoints = object.endpoints ?? [];
  if (endpoints.length > MAX_ENDPOINTS) return [tooMany('endpoints', endpoints.length, MAX_ENDPOINTS)];
  return endpoints.flatMap((item, index) => validateEndpoint(keyPath('endpoints', index), item, addressType));
}

function validateEndpoint(path: string, item: Endpoint, addressType: AddressType): FieldError[] {
  const { hostname, nodeName, hints } = item;
  const addresses = item.addresses ?? [];
  const at = childPath(path, 'addresses');
  const problems: FieldError[] = [];
  if (addresses.length === 0) problems.push(required(at, 'must contain at least 1 address'));
  if (addresses.length > MAX_ADDRESSES) problems.push(tooMany(at, addresses.length, MAX_ADDRESSES));
  for (const [index, address] of addresses.entries()) {
    append(problems, validateAddress(at, address, { index, addressType }));
  }
  if (nodeName !== undefined) append(problems, nodeNameProblems(childPath(path, 'nodeName'), nodeName));
  append(problems, topologyProblems(childPath(path, 'deprecatedTopology'), item.deprecatedTopology));
  if (hostname !== undefined) {
    const hostPath = childPath(path, 'hostname');
    append(
      problems,
      dnsLabelProblems(hostname).map((detail) => invalid(hostPath, hostname, detail)),
    );
  }
  if (hints !== undefined) append(problems, validateHints(childPath(path, 'hints'), hints));
  return problems;
}

function topologyProblems(path: string, topology: Endpoint['deprecatedTopology'] = {}): FieldError[] {
  const count = Object.keys(topology).length;
  return [...(count > MAX_TOPOLOGY ? [tooMany(path, count, MAX_TOPOLOGY)] : []), ...labelErrors(topology, path)];
}

/** `list` is the path of the address list, at which a wrong address family is reported. */
function validateAddress(
  list: string,
  address: string,
  options: { readonly index: number; readonly addressType: AddressType },
): FieldError[] {
  const { addressType } = options;
  const path = keyPath(list, options.index);
  if (addressType === 'FQDN') return domainProblems(path, address);
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  const problems = validIpProblems(address).map((detail) => invalid(path, address, detail));
  if (problems.length > 0) return problems;
  const isOfFamily = parseIpSloppy(address)?.family === addressType;
  return [
    ...(isOfFamily ? [] : [invalid(list, address, `must be an ${addressType} address`)]),
    ...specialIpProblems(address).map((detail) => invalid(path, address, detail)),
  ];
}

function domainProblems(path: string, given: string): FieldError[] {
  if (given === '') return [required(path)];
  const name = given.endsWith('.') ? given.slice(0, -1) : given;
  const ofName = dnsSubdomainProblems(name);
  if (ofName.length > 0) return [invalid(path, name, ofName.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) {
    return [invalid(path, name, 'should be a domain with at least two segments separated by dots')];
  }
  const label = labels.find((part) => dnsLabelProblems(part).length > 0);
  return label === undefined ? [] : [invalid(path, label, dnsLabelProblems(label).join(','))];
}

function nodeNameProblems(path: string, name: string): FieldError[] {
  return dnsSubdomainProblems(name).map((detail) => invalid(path, name, detail));
}

function validateHints(path: string, { forZones = [], forNodes = [] }: EndpointHints): FieldError[] {
  return [
    ...validateNamed(childPath(path, 'forZones'), forZones, (at, name) =>
      labelValueProblems(name).map((detail) => invalid(at, name, detail)),
    ),
    ...validateNamed(childPath(path, 'forNodes'), forNodes, nodeNameProblems),
  ];
}

function validateNamed(
  path: string,
  items: readonly { readonly name: string }[],
  rule: (path: string, name: string) => FieldError[],
): FieldError[] {
  if (items.length > MAX_HINTS) return [tooMany(path, items.length, MAX_HINTS)];
  const seen = new Set<string>();
  return items.flatMap(({ name }, index) => {
    const at = childPath(keyPath(path, index), 'name');
    const again = seen.has(name) ? [duplicate(at, name)] : [];
    seen.add(name);
    return [...again, ...rule(at, name)];
  });
}

function warnings(object: EndpointSlice, live: EndpointSlice | undefined, { dialect }: HookContext): readonly string[] {
  const { addressType } = object;
  // Only on create: the type is immutable.
  const ofType =
    addressType === 'FQDN' && live === undefined ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  if (isOfController(object, dialect)) return ofType;
  const endpoints = object.endpoints ?? [];
  const ofAddresses = endpoints.flatMap(({ addresses }, index) =>
    (addresses ?? []).flatMap((address, place) => ipWarnings(`endpoints[${index}].addresses[${place}]`, address)),
  );
  return [...ofType, ...ofAddresses];
}

/** True for slices of the built-in controllers, which write canonical addresses. */
function isOfController({ metadata }: EndpointSlice, dialect: Dialect): boolean {
  const manager = metadata.labels?.[dialect.subkey('endpointslice', 'managed-by')];
  const controllers = ['endpointslice-controller', 'endpointslicemirroring-controller'];
  return controllers.some((name) => manager === dialect.group(serviceGroup(name)));
}

function columns(): Column<EndpointSlice>[] {
  return [
    nameColumn,
    textColumn('AddressType', 'The type of its addresses.', (object) => object.addressType),
    textColumn('Ports', 'The first few ports of its endpoints.', (object) =>
      listed((object.ports ?? []).map(({ port, name }) => String(port ?? name ?? '*'))),
    ),
    textColumn('Endpoints', 'The first few addresses of its endpoints.', (object) =>
      listed((object.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    ),
    ageColumn,
  ];
}

/** The first few values; `<unset>` for an empty list. */
function listed(all: readonly string[]): string {
  return firstFew(all) || '<unset>';
}
