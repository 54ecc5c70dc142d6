/**
 * The Endpoints kind: the addresses of a service. Deprecated in favour of EndpointSlice. docs/specification.md R3
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { childPath, type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import { ipWarnings, specialIpProblems, validIpProblems } from '../../../meta/ip.js';
import { dnsLabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type EndpointAddress,
  type EndpointPort,
  type EndpointSubset,
  type EndpointsKind,
  type EndpointsObject,
  endpointsBase,
} from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import { initialEndpoints } from '../../shared/control-plane/initial-objects.js';
import { endpointsReconciler } from '../../shared/control-plane/reconcilers.js';
import { valueErrors } from '../../shared/field-rules.js';

export interface Endpoints extends EndpointsObject {}

export const Endpoints: EndpointsKind<Endpoints> = defineBuiltIn({
  ...endpointsBase,
  names: { plural: 'endpoints', shortNames: ['ep'] },
  columns: [nameColumn, textColumn('Endpoints', 'The first few ready addresses.', firstAddresses), ageColumn],
  initial: initialEndpoints,
  reconciler: endpointsReconciler,
  lifecycle: {
    deprecatedIn: '1.33',
    replacement: { apiVersion: `${serviceGroup('discovery')}/v1`, kind: 'EndpointSlice' },
  },
  strategy: {
    update: { allowCreateOnUpdate: true, validationOrder: ['metadata', 'create'] },
    create: {
      // Unchanged subsets are not validated again: they may be stored under older rules.
      validate: (next, context, live) =>
        live !== undefined && deepEqual(next['subsets'], live['subsets']) ? [] : subsetProblems(next, context),
    },
    write: { warnings },
  },
});

function subsetProblems(object: Endpoints, { dialect }: HookContext): FieldError[] {
  const { subsets = [] } = object;
  return subsets.flatMap((subset, index) => {
    const path = keyPath('subsets', index);
    const found = validateSubset(path, subset);
    return dialect.rules.endpointAddressHasOneReadiness ? [...found, ...doubleAddressProblems(path, subset)] : found;
  });
}

function doubleAddressProblems(path: string, { addresses = [], notReadyAddresses = [] }: EndpointSubset): FieldError[] {
  const ready = new Set(addresses.map(({ ip }) => ip));
  return notReadyAddresses.flatMap(({ ip }, index) =>
    ready.has(ip) ? [invalid(`${path}.notReadyAddresses[${index}].ip`, ip, 'is also in `addresses`')] : [],
  );
}

function validateSubset(path: string, subset: EndpointSubset): FieldError[] {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  const isEmpty = addresses.length === 0 && notReadyAddresses.length === 0;
  const at = (list: string, index: number) => keyPath(childPath(path, list), index);
  return [
    ...(isEmpty ? [required(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...addresses.flatMap((address, index) => validateAddress(at('addresses', index), address)),
    ...notReadyAddresses.flatMap((address, index) => validateAddress(at('notReadyAddresses', index), address)),
    ...ports.flatMap((port, index) => validatePort(at('ports', index), port, { isNameRequired: ports.length > 1 })),
  ];
}

function validateAddress(path: string, address: EndpointAddress): FieldError[] {
  const { ip, hostname = '', nodeName } = address;
  const problems = validIpProblems(ip).map((detail) => invalid(childPath(path, 'ip'), ip, detail));
  if (hostname !== '') {
    const at = childPath(path, 'hostname');
    append(
      problems,
      dnsLabelProblems(hostname).map((detail) => invalid(at, hostname, detail)),
    );
  }
  if (nodeName !== undefined) {
    const at = childPath(path, 'nodeName');
    append(
      problems,
      dnsSubdomainProblems(nodeName).map((detail) => invalid(at, nodeName, detail)),
    );
  }
  return [...problems, ...specialIpProblems(ip).map((detail) => invalid(childPath(path, 'ip'), ip, detail))];
}

function validatePort(
  path: string,
  port: EndpointPort,
  { isNameRequired }: { readonly isNameRequired: boolean },
): FieldError[] {
  const { name = '', port: number, protocol, appProtocol } = port;
  const problems: FieldError[] = [];
  const namePath = childPath(path, 'name');
  if (name !== '')
    append(
      problems,
      dnsLabelProblems(name).map((detail) => invalid(namePath, name, detail)),
    );
  else if (isNameRequired) problems.push(required(namePath));
  if (number < 1 || number > 65535) {
    problems.push(invalid(childPath(path, 'port'), number, 'must be between 1 and 65535, inclusive'));
  }
  append(problems, valueErrors(childPath(path, 'protocol'), protocol, PROTOCOLS));
  if (appProtocol !== undefined) {
    const at = childPath(path, 'appProtocol');
    append(
      problems,
      qualifiedNameProblems(appProtocol).map((detail) => invalid(at, appProtocol, detail)),
    );
  }
  return problems;
}

const PROTOCOLS: readonly string[] = ['SCTP', 'TCP', 'UDP'];

function warnings(object: Endpoints, _live: Endpoints | undefined, { dialect }: HookContext): readonly string[] {
  // The endpoints controller writes canonical addresses.
  if (object.metadata.labels?.[dialect.subkey('endpoints', 'managed-by')] === 'endpoint-controller') return [];
  const { subsets = [] } = object;
  const found: string[] = [];
  for (const [index, subset] of subsets.entries()) {
    for (const list of ['addresses', 'notReadyAddresses'] as const) {
      for (const [place, { ip }] of (subset[list] ?? []).entries()) {
        append(found, ipWarnings(`subsets[${index}].${list}[${place}].ip`, ip));
      }
    }
  }
  return found;
}

const MOST_SHOWN = 3;

/** `10.0.0.1:80,10.0.0.2:80 + 4 more...`, without addresses that are not ready. */
function firstAddresses(object: Endpoints): string {
  const { subsets = [] } = object;
  if (subsets.length === 0) return NONE;
  const shown: string[] = [];
  let count = 0;
  for (const { addresses = [], ports = [] } of subsets) {
    // The pairs are counted, not listed: there may be millions of them.
    count += addresses.length * Math.max(ports.length, 1);
    for (const port of ports.length === 0 ? [undefined] : ports) {
      for (const { ip } of addresses) {
        if (shown.length === MOST_SHOWN) break;
        shown.push(port === undefined ? ip : `${ip.includes(':') ? `[${ip}]` : ip}:${port.port}`);
      }
      if (shown.length === MOST_SHOWN) break;
    }
  }
  return count > MOST_SHOWN ? `${shown.join()} + ${count - MOST_SHOWN} more...` : shown.join();
}
