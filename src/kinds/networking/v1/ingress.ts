/**
 * The Ingress kind: routes external hosts and paths to backends. Errors are in the reference server's order.
 * spec: Notable changes in replacements
 */

import { childPath, type FieldError, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { parseIpSloppy, validIpProblems } from '../../../meta/ip.js';
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  portNameProblems,
  wildcardSubdomainProblems,
} from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import { wasSentEmpty } from '../../../schema/empty-values.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { own } from '../../../util/json.js';
import type { Column } from '../../columns.js';
import { defineBuiltIn } from '../../define-kind.js';
import type {
  HTTPIngressPath,
  IngressBackend,
  IngressLoadBalancerStatus,
  IngressRule,
  IngressSpec,
  IngressStatus,
  IngressTLS,
} from '../../generated/networking-v1.js';
import { type IngressKind, type IngressObject, ingressBase } from '../../generated/networking-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import { portNumberProblems } from '../../shared/field-rules.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';
import { groupKindNameProblems } from '../reference.js';

const NOT_A_NAME = 'must be a DNS name, not an IP address';

const FORBIDDEN_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];

const FORBIDDEN_ENDS = ['/..', '/.'];

const specOf = (object: ApiObject) => object['spec'] as IngressSpec;

/** The columns. */
const ingressColumns: readonly Column[] = [
  nameColumn,
  textColumn('Class', 'The ingress class.', (object) => specOf(object).ingressClassName ?? NONE),
  textColumn('Hosts', 'The hosts of its rules.', hosts),
  textColumn('Address', 'The addresses of its load balancer.', (object) =>
    addresses((object['status'] as IngressStatus).loadBalancer.ingress ?? []),
  ),
  textColumn('Ports', 'The ports that it listens on.', (object) => (specOf(object).tls?.length ? '80, 443' : '80')),
  ageColumn,
];

const MOST_HOSTS = 3;

export interface Ingress extends IngressObject {}

export const Ingress: IngressKind<Ingress> = defineBuiltIn({
  ...ingressBase,
  names: { shortNames: ['ing'] },
  strategy: {
    decode: { defaults: (object) => backendDefaults(object.spec) },
    write: { separateStatus: true, generation: specGeneration, warnings },
    create: {
      validate: (object, context) => [...ingressSpecProblems(object.spec), ...classProblems(object, context)],
    },
    update: {
      // Only a new object must have consistent class annotation and field.
      validate: (next, _live, _context, metadata) => [...metadata.forCreate(), ...ingressSpecProblems(next.spec)],
    },
  },
  subresources: {
    status: statusSubresource({
      validate: (next) => ingressStatusProblems(next.status.loadBalancer),
    }),
  },
  columns: ingressColumns,
});

/** An absent apiGroup is null on the wire, as the first field. */
function backendDefaults({ defaultBackend, rules = [] }: IngressSpec): void {
  const backends = rules.flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend));
  for (const backend of defaultBackend === undefined ? backends : [defaultBackend, ...backends]) {
    if (backend.resource !== undefined) backend.resource = { apiGroup: null, ...backend.resource };
  }
}

/** The deprecated class annotation. */
function classAnnotation(object: Ingress, { dialect }: HookContext): { key: string; value: string | undefined } {
  const key = dialect.key('ingress.class');
  return { key, value: own(object.metadata.annotations ?? {}, key) };
}

function classProblems(object: Ingress, context: HookContext): FieldError[] {
  const { ingressClassName } = object.spec;
  const { key, value } = classAnnotation(object, context);
  if (value === undefined || ingressClassName === undefined || value === ingressClassName) return [];
  // The reference server's path lacks `metadata`.
  return [invalid(`annotations.${key}`, value, 'must match `ingressClassName` when both are specified')];
}

function warnings(object: Ingress, live: Ingress | undefined, context: HookContext): readonly string[] {
  const { key, value } = classAnnotation(object, context);
  if (live !== undefined || value === undefined || object.spec.ingressClassName !== undefined) return [];
  return [`annotation ${quote(key)} is deprecated, please use 'spec.ingressClassName' instead`];
}

function hosts(object: ApiObject): string {
  const rules = specOf(object).rules ?? [];
  const shown: string[] = [];
  for (const { host = '' } of rules) {
    if (shown.length === MOST_HOSTS) return `${shown.join(',')} + ${rules.length - MOST_HOSTS} more...`;
    if (host !== '') shown.push(host);
  }
  return shown.length === 0 ? '*' : shown.join(',');
}

/** The distinct addresses in order; the hostname of an entry without an IP. */
function addresses(points: readonly { readonly ip?: string; readonly hostname?: string }[]): string {
  const found = points.map(({ ip = '', hostname = '' }) => ip || hostname).filter((text) => text !== '');
  return [...new Set(found)].sort().join(',');
}

/** Validates a spec. */
function ingressSpecProblems(spec: IngressSpec): FieldError[] {
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec;
  const found: FieldError[] = [];
  if (rules.length === 0 && defaultBackend === undefined) {
    const shown = verbatim(`[]networking.IngressRule${wasSentEmpty(spec, 'rules') ? '{}' : '(nil)'}`);
    found.push(invalid('spec', shown, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (defaultBackend !== undefined) append(found, backendProblems('spec.defaultBackend', defaultBackend));
  rules.forEach((rule, index) => {
    append(found, ruleProblems(keyPath('spec.rules', index), rule));
  });
  tls.forEach((entry, index) => {
    append(found, tlsProblems(keyPath('spec.tls', index), entry));
  });
  if (ingressClassName !== undefined) {
    append(found, each('spec.ingressClassName', ingressClassName, dnsSubdomainProblems(ingressClassName)));
  }
  return found;
}

/** Validates the load balancer status. */
function ingressStatusProblems(status: IngressLoadBalancerStatus): FieldError[] {
  return (status.ingress ?? []).flatMap(({ ip = '', hostname = '' }, index) => {
    const path = keyPath('status.loadBalancer.ingress', index);
    const found = ip === '' ? [] : each(childPath(path, 'ip'), ip, validIpProblems(ip));
    if (hostname === '') return found;
    append(found, each(childPath(path, 'hostname'), hostname, dnsSubdomainProblems(hostname)));
    if (parseIpSloppy(hostname) !== undefined) found.push(invalid(childPath(path, 'hostname'), hostname, NOT_A_NAME));
    return found;
  });
}

function ruleProblems(path: string, rule: IngressRule): FieldError[] {
  const { host = '' } = rule;
  const hostPath = childPath(path, 'host');
  const found: FieldError[] = [];
  if (host !== '') {
    if (parseIpSloppy(host) !== undefined) found.push(invalid(hostPath, host, NOT_A_NAME));
    append(found, hostProblems(hostPath, host));
  }
  return [...found, ...httpProblems(path, rule)];
}

function hostProblems(path: string, host: string): FieldError[] {
  return each(path, host, host.includes('*') ? wildcardSubdomainProblems(host) : dnsSubdomainProblems(host));
}

function httpProblems(path: string, { http }: IngressRule): FieldError[] {
  if (http === undefined) return [];
  const pathsPath = childPath(path, 'http.paths');
  const paths = http.paths ?? [];
  if (paths.length === 0) return [required(pathsPath)];
  return paths.flatMap((entry, index) => pathProblems(keyPath(pathsPath, index), entry));
}

function pathProblems(path: string, entry: HTTPIngressPath): FieldError[] {
  const { path: text = '', pathType } = entry;
  const textPath = childPath(path, 'path');
  const found: FieldError[] = [];
  const absolute = () => {
    if (!text.startsWith('/')) found.push(invalid(textPath, text, 'must be an absolute path'));
  };
  if (pathType === undefined) return [required(childPath(path, 'pathType'), 'pathType must be specified')];
  switch (pathType) {
    case 'Exact':
    case 'Prefix':
      absolute();
      for (const part of FORBIDDEN_SEQUENCES) {
        if (text.includes(part)) found.push(invalid(textPath, text, `must not contain '${part}'`));
      }
      for (const end of FORBIDDEN_ENDS) {
        if (text.endsWith(end)) found.push(invalid(textPath, text, `cannot end with '${end}'`));
      }
      break;
    case 'ImplementationSpecific':
      if (text !== '') absolute();
      break;
    default:
      found.push(notSupported(childPath(path, 'pathType'), pathType, ['Exact', 'ImplementationSpecific', 'Prefix']));
  }
  return [...found, ...backendProblems(childPath(path, 'backend'), entry.backend)];
}

function backendProblems(path: string, { resource, service }: IngressBackend): FieldError[] {
  if (resource !== undefined) {
    if (service !== undefined) return [invalid(path, '', 'cannot set both resource and service backends')];
    return groupKindNameProblems(childPath(path, 'resource'), resource);
  }
  if (service === undefined) return [invalid(path, '', 'resource or service backend is required')];
  const namePath = childPath(path, 'service.name');
  const { name: portName = '', number = 0 } = service.port;
  const found =
    service.name === '' ? [required(namePath)] : each(namePath, service.name, dns1035LabelProblems(service.name));
  if (portName !== '' && number !== 0) {
    found.push(invalid(path, '', 'cannot set both port name & port number'));
  } else if (portName !== '') {
    append(found, each(childPath(path, 'service.port.name'), portName, portNameProblems(portName)));
  } else if (number !== 0) {
    append(found, portNumberProblems(childPath(path, 'service.port.number'), number));
  } else {
    found.push(required(path, 'port name or number is required'));
  }
  return found;
}

function tlsProblems(path: string, { hosts = [], secretName = '' }: IngressTLS): FieldError[] {
  const found = hosts.flatMap((host, index) => hostProblems(keyPath(childPath(path, 'hosts'), index), host));
  if (secretName === '') return found;
  return [...found, ...each(childPath(path, 'secretName'), secretName, dnsSubdomainProblems(secretName))];
}

function each(path: string, value: string, details: readonly string[]): FieldError[] {
  return details.map((detail) => invalid(path, value, detail));
}
