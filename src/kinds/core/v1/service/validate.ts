/**
 * Validation of Services. The rules run in the order in which the reference server reports errors.
 */

import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, forbidden, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { dumpIntOrString } from '../../../../meta/int-or-string.js';
import { parseIpSloppy, specialIpProblems, validCidrProblems, validIpProblems } from '../../../../meta/ip.js';
import { labelErrors } from '../../../../meta/labels.js';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  portNameProblems,
  qualifiedNameProblems,
} from '../../../../meta/names.js';
import type { ApiObject } from '../../../../meta/object.js';
import { quote, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { own } from '../../../../util/json.js';
import type { ServicePort, ServiceSpec, ServiceStatus } from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';
import { portNumberProblems, valueErrors } from '../../../shared/field-rules.js';
import { isExternallyAccessible, isHeadless, needsHealthCheck } from './needs.js';
import { addressUpdateProblems, clusterIPProblems } from './validate-addresses.js';

/** Validates a Service. */
export function serviceProblems(object: ApiObject, context: HookContext): readonly FieldError[] {
  const spec = object['spec'] as ServiceSpec;
  return [
    ...topologyProblems(object, context.dialect),
    ...typeProblems(spec),
    ...portListProblems(spec),
    ...labelErrors(spec.selector ?? {}, 'spec.selector'),
    ...affinityProblems(spec),
    ...clusterIPProblems(spec),
    ...externalIPProblems(spec),
    ...valueErrors('spec.type', spec.type, ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']),
    ...portUseProblems(spec),
    ...sourceRangeProblems(object, spec, context.dialect),
    ...loadBalancerProblems(spec),
    ...trafficPolicyProblems(spec),
    ...trafficDistributionProblems(spec, context),
  ];
}

/** Validates the change from `live` to `next`. {@link serviceProblems} runs afterwards. */
export function serviceUpdateProblems(next: ServiceSpec, live: ServiceSpec): readonly FieldError[] {
  const found = addressUpdateProblems(next, live);
  if (next.type === 'LoadBalancer' && live.type === 'LoadBalancer') {
    const { loadBalancerClass } = next;
    if (loadBalancerClass !== live.loadBalancerClass) {
      found.push(invalid('spec.loadBalancerClass', loadBalancerClass, 'may not change once set'));
    }
  }
  append(found, classProblems(next));
  if (needsHealthCheck(next) && needsHealthCheck(live) && next.healthCheckNodePort !== live.healthCheckNodePort) {
    found.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
  }
  return found;
}

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";

/** Validates an update of the status subresource. */
export function serviceStatusProblems(object: ApiObject): readonly FieldError[] {
  const { type } = object['spec'] as ServiceSpec;
  const points = (object['status'] as ServiceStatus).loadBalancer.ingress ?? [];
  const path = 'status.loadBalancer.ingress';
  if (type !== 'LoadBalancer' && points.length > 0) {
    return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return points.flatMap(({ ip = '', ipMode, hostname = '' }, index) => {
    const at = (field: string) => childPath(keyPath(path, index), field);
    const found = ip === '' ? [] : invalidEach(at('ip'), ip, validIpProblems(ip));
    if (ipMode === undefined && ip !== '') {
      found.push(required(at('ipMode'), 'must be specified when `ip` is set'));
    } else if (ipMode !== undefined && ip === '') {
      found.push(forbidden(at('ipMode'), 'may not be specified when `ip` is not set'));
    } else if (ipMode !== undefined) {
      append(found, valueErrors(at('ipMode'), ipMode, ['Proxy', 'VIP']));
    }
    if (hostname === '') return found;
    append(found, invalidEach(at('hostname'), hostname, dnsSubdomainProblems(hostname)));
    if (parseIpSloppy(hostname) !== undefined) {
      found.push(invalid(at('hostname'), hostname, 'must be a DNS name, not an IP address'));
    }
    return found;
  });
}

/** The current and the deprecated annotation for topology-aware routing. */
export function topologyKeys(dialect: Dialect): { readonly mode: string; readonly hints: string } {
  return { mode: dialect.subkey('service', 'topology-mode'), hints: dialect.subkey('service', 'topology-aware-hints') };
}

function topologyProblems({ metadata }: ApiObject, dialect: Dialect): FieldError[] {
  const keys = topologyKeys(dialect);
  const annotations = metadata.annotations ?? {};
  const mode = own(annotations, keys.mode);
  const hints = own(annotations, keys.hints);
  if (mode === undefined || hints === undefined || mode === hints) return [];
  const detail = `must match annotations[${keys.hints}] when both are specified`;
  return [invalid(keyPath('metadata.annotations', keys.mode), mode, detail)];
}

function typeProblems(spec: ServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  if (!spec.ports?.length && !isHeadless(spec) && spec.type !== 'ExternalName') found.push(required('spec.ports'));
  if ((spec.type === 'LoadBalancer' || spec.type === 'NodePort') && isHeadless(spec)) {
    found.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${spec.type} services`));
  }
  if (spec.type !== 'ExternalName') return found;
  const unset = (field: string) => found.push(forbidden(field, 'may not be set for ExternalName services'));
  if (spec.clusterIPs?.length) unset('spec.clusterIPs');
  if (spec.ipFamilies?.length) unset('spec.ipFamilies');
  if (spec.ipFamilyPolicy !== undefined) unset('spec.ipFamilyPolicy');
  // A trailing dot marks the name as complete.
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') return [...found, required('spec.externalName')];
  return [...found, ...invalidEach('spec.externalName', name, dnsSubdomainProblems(name))];
}

function portListProblems({ ports = [] }: ServiceSpec): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = keyPath('spec.ports', index);
    const { name = '', appProtocol, targetPort } = port;
    const found: FieldError[] = [];
    if (name !== '') {
      append(found, invalidEach(childPath(path, 'name'), name, dnsLabelProblems(name)));
      if (names.has(name)) found.push(duplicate(childPath(path, 'name'), name));
      names.add(name);
    } else if (ports.length > 1) {
      found.push(required(childPath(path, 'name')));
    }
    append(found, portNumberProblems(childPath(path, 'port'), port.port));
    append(found, valueErrors(childPath(path, 'protocol'), port.protocol, ['SCTP', 'TCP', 'UDP']));
    append(found, targetProblems(childPath(path, 'targetPort'), targetPort ?? 0));
    if (appProtocol === undefined) return found;
    return [...found, ...invalidEach(childPath(path, 'appProtocol'), appProtocol, qualifiedNameProblems(appProtocol))];
  });
}

function targetProblems(path: string, port: number | string): FieldError[] {
  return typeof port === 'number' ? portNumberProblems(path, port) : invalidEach(path, port, portNameProblems(port));
}

const MAX_AFFINITY_SECONDS = 86400;

function affinityProblems({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const found = valueErrors('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (sessionAffinity !== 'ClientIP' || seconds === undefined) return found;
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return found;
  const detail = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`;
  return [...found, invalid('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, detail)];
}

function externalIPProblems({ externalIPs = [] }: ServiceSpec): FieldError[] {
  return externalIPs.flatMap((address, index) => {
    const path = keyPath('spec.externalIPs', index);
    const details = validIpProblems(address);
    return invalidEach(path, address, details.length > 0 ? details : specialIpProblems(address));
  });
}

/** Rejects node ports of ClusterIP services, and duplicates: a port may be used once per protocol. */
function portUseProblems({ type, ports = [] }: ServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  const at = (index: number) => keyPath('spec.ports', index);
  ports.forEach(({ nodePort = 0 }, index) => {
    if (type !== 'ClusterIP' || nodePort === 0) return;
    found.push(forbidden(childPath(at(index), 'nodePort'), "may not be used when `type` is 'ClusterIP'"));
  });
  const nodePorts = new Set<string>();
  ports.forEach(({ nodePort = 0, protocol }, index) => {
    const key = `${protocol} ${nodePort}`;
    if (nodePort !== 0 && nodePorts.has(key)) found.push(duplicate(childPath(at(index), 'nodePort'), nodePort));
    nodePorts.add(key);
  });
  const numbers = new Set<string>();
  ports.forEach((port, index) => {
    const key = `${port.protocol} ${port.port}`;
    if (numbers.has(key)) found.push(duplicate(at(index), goSyntaxPort(port)));
    numbers.add(key);
  });
  return found;
}

/** Prints a duplicate port as Go's `%#v`. As in the reference server, only protocol and port are set. */
function goSyntaxPort({ protocol, port }: ServicePort) {
  const fields = [
    'Name:""',
    `Protocol:${quote(protocol)}`,
    'AppProtocol:(*string)(nil)',
    `Port:${port}`,
    `TargetPort:${dumpIntOrString(0).verbatim}`,
    'NodePort:0',
  ];
  return verbatim(`core.ServicePort{${fields.join(', ')}}`);
}

/** The capital letter in the path is the reference server's. */
const RANGES_PATH = 'spec.LoadBalancerSourceRanges';

function sourceRangeProblems({ metadata }: ApiObject, spec: ServiceSpec, dialect: Dialect): FieldError[] {
  const { type, loadBalancerSourceRanges: ranges = [] } = spec;
  const wrongType = (path: string) => (type === 'LoadBalancer' ? [] : [forbidden(path, ONLY_LOAD_BALANCER)]);
  const rangeProblems = (path: string, range: string) =>
    invalidEach(path, range.trim(), validCidrProblems(range.trim()));
  if (ranges.length > 0) {
    return [
      ...wrongType(RANGES_PATH),
      ...ranges.flatMap((range, index) => rangeProblems(keyPath(RANGES_PATH, index), range)),
    ];
  }
  const key = dialect.subkey('service.beta', 'load-balancer-source-ranges');
  const annotation = own(metadata.annotations ?? {}, key);
  if (annotation === undefined) return [];
  const path = keyPath('metadata.annotations', key);
  const listed = annotation.trim() === '' ? [] : annotation.split(',');
  return [...wrongType(path), ...listed.flatMap((range) => rangeProblems(path, range))];
}

function loadBalancerProblems(spec: ServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== 'LoadBalancer') {
    found.push(forbidden('spec.allocateLoadBalancerNodePorts', ONLY_LOAD_BALANCER));
  }
  return [...found, ...classProblems(spec)];
}

function classProblems({ type, loadBalancerClass }: ServiceSpec): FieldError[] {
  if (loadBalancerClass === undefined) return [];
  if (type !== 'LoadBalancer') return [forbidden('spec.loadBalancerClass', ONLY_LOAD_BALANCER)];
  return invalidEach('spec.loadBalancerClass', loadBalancerClass, qualifiedNameProblems(loadBalancerClass));
}

const TRAFFIC_POLICIES = ['Cluster', 'Local'];

function trafficPolicyProblems(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: external = '', internalTrafficPolicy: internal, healthCheckNodePort: port = 0 } = spec;
  const found: FieldError[] = [];
  if (isExternallyAccessible(spec)) {
    append(found, valueErrors('spec.externalTrafficPolicy', external, TRAFFIC_POLICIES));
  } else if (external !== '') {
    const detail = 'may only be set for externally-accessible services';
    found.push(invalid('spec.externalTrafficPolicy', external, detail));
  }
  if (needsHealthCheck(spec)) {
    append(found, portNumberProblems('spec.healthCheckNodePort', port));
  } else if (port !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    found.push(invalid('spec.healthCheckNodePort', port, detail));
  }
  if (internal === undefined) return found;
  return [...found, ...valueErrors('spec.internalTrafficPolicy', internal, TRAFFIC_POLICIES)];
}

function trafficDistributionProblems({ trafficDistribution }: ServiceSpec, { features }: HookContext): FieldError[] {
  if (trafficDistribution === undefined) return [];
  const supported = features.enabled('PreferSameTrafficDistribution')
    ? ['PreferClose', 'PreferSameNode', 'PreferSameZone']
    : ['PreferClose'];
  return valueErrors('spec.trafficDistribution', trafficDistribution, supported);
}

function invalidEach(path: string, value: string, details: readonly string[]): FieldError[] {
  return details.map((detail) => invalid(path, value, detail));
}
