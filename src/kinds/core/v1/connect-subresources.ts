/**
 * The connect subresources of pods, nodes and services (exec, attach, log, portforward, proxy). The reference server
 * forwards these requests to kubelets and pods. Here the options are parsed and validated, and a valid request is passed to
 * the node runtime. Without a runtime it ends with an error of our own.
 */
import { errors, failure } from '../../../meta/errors.js';
import { type FieldError, forbidden, invalid } from '../../../meta/field-error.js';
import { classifyIp, parseIpSloppy } from '../../../meta/ip.js';
import type { ApiObject } from '../../../meta/object.js';
import { readInteger, readSwitch, readTimeValue } from '../../../meta/query-values.js';
import type { Connection, RuntimeRequest } from '../../../protocol/connection.js';
import { quote } from '../../../text/go/go-text.js';
import type { MaybePromise } from '../../../util/maybe-promise.js';
import type { ObjectAddress } from '../../objects.js';
import { nonNegative, valueErrors } from '../../shared/field-rules.js';
import type { ConnectQuery, ConnectRequest, ConnectSubresource } from '../../subresource.js';
import { EMPTY_PATH } from './pod-spec/annotations.js';

const MAX_PORT = 65_535n;

const STREAMS = ['All', 'Stderr', 'Stdout'];

interface Named {
  readonly name: string;
}

interface PodParts {
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly Named[];
    readonly initContainers?: readonly Named[];
    readonly ephemeralContainers?: readonly Named[];
  };
  readonly status?: { readonly podIP?: string; readonly podIPs?: readonly { readonly ip: string }[] };
}

interface NodeParts {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

interface ServiceParts {
  readonly spec: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] };
}

interface EndpointsParts {
  readonly subsets?: readonly {
    readonly addresses?: readonly unknown[];
    readonly ports?: readonly { readonly name?: string }[];
  }[];
}

export const podConnectSubresources: Readonly<Record<string, ConnectSubresource>> = {
  attach: {
    verbs: ['create', 'get'],
    optionsKind: 'PodAttachOptions',
    options: streamOptions,
    open: (request) => connectToContainer(request, 'attach', streamOptions(request.query).container),
  },
  exec: {
    verbs: ['create', 'get'],
    optionsKind: 'PodExecOptions',
    options: execOptions,
    open: (request) => connectToContainer(request, 'exec', execOptions(request.query).container),
  },
  log: { verbs: ['get'], optionsKind: 'Pod', options: logOptions, open: readLog },
  portforward: {
    verbs: ['create', 'get'],
    optionsKind: 'PodPortForwardOptions',
    options: forwardOptions,
    open: (request) => connectToNodeOf(podOf(request), request, 'portforward'),
  },
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'PodProxyOptions',
    allowsSubpaths: true,
    options: proxyOptions,
    open: connectToPod,
  },
};

export const nodeConnectSubresources: Readonly<Record<string, ConnectSubresource>> = {
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'NodeProxyOptions',
    allowsSubpaths: true,
    options: proxyOptions,
    open: (request) => {
      const { name, ...target } = splitName(request, 'node');
      return connectTo(requireNode(name, request), request, { subresource: 'proxy', ...target });
    },
  },
};

export const serviceConnectSubresources: Readonly<Record<string, ConnectSubresource>> = {
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'ServiceProxyOptions',
    allowsSubpaths: true,
    options: proxyOptions,
    open: connectToService,
  },
};

/** What a request connects to, besides the object. */
interface Target {
  readonly subresource: RuntimeRequest['subresource'];
  readonly scheme?: string;
  readonly port?: string;
}

function connectTo(object: ApiObject, { runtime, query }: ConnectRequest, target: Target): MaybePromise<Connection> {
  if (runtime !== undefined) return runtime.connect({ object, query, scheme: '', port: '', ...target });
  throw failure({
    code: 500,
    message: 'orchplane runs no containers here, so there is nothing to connect to (see docs/fidelity.md)',
  });
}

function connectToContainer(
  request: ConnectRequest,
  subresource: 'attach' | 'exec',
  container: string | undefined,
): MaybePromise<Connection> {
  const pod = podOf(request);
  checkContainer(pod, container);
  return connectToNodeOf(pod, request, subresource);
}

function readLog(request: ConnectRequest): MaybePromise<Connection> | undefined {
  const options = logOptions(request.query);
  checkLogOptions(request.name, options, request.features.enabled('PodLogsQuerySplitStreams'));
  const pod = podOf(request);
  checkContainer(pod, options.container);
  // The log of a pod that is not scheduled is empty.
  return nodeOf(pod) === '' ? undefined : connectToNodeOf(pod, request, 'log');
}

/** Throws an error if the pod has no such container. The name is optional if the pod has one container. */
export function checkContainer(pod: ApiObject, container = ''): void {
  const { name } = pod.metadata;
  const { containers, initContainers = [], ephemeralContainers = [] } = (pod as ApiObject & PodParts).spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((container) => container.name);
  if (container !== '') {
    if (!names.includes(container)) throw errors.badRequest(`container ${container} is not valid for pod ${name}`);
  } else if (containers.length !== 1) {
    const which = `choose one of: [${names.join(' ')}]`;
    throw errors.badRequest(`a container name must be specified for pod ${name}, ${which}`);
  }
}

/** A connection to a container goes through the kubelet of its node. */
function connectToNodeOf(
  pod: ApiObject,
  request: ConnectRequest,
  subresource: RuntimeRequest['subresource'],
): MaybePromise<Connection> {
  const node = nodeOf(pod);
  if (node === '') throw errors.badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  requireNode(node, request, 'pods');
  return connectTo(pod, request, { subresource });
}

function nodeOf(pod: ApiObject): string {
  return (pod as ApiObject & PodParts).spec.nodeName ?? '';
}

/** Returns the node, which must exist and have an address. `resource` is the resource in the error. */
function requireNode(name: string, request: ConnectRequest, resource = 'nodes'): ApiObject {
  const node = find(request, { group: '', resource: 'nodes', namespace: '', name }, resource) as ApiObject & NodeParts;
  if ((node.status?.addresses ?? []).length > 0) return node;
  throw failure({ code: 500, message: 'no preferred addresses found; known addresses: []' });
}

function connectToPod(request: ConnectRequest): MaybePromise<Connection> {
  const { name, ...target } = splitName(request, 'pod');
  const pod = podOf({ ...request, name }) as ApiObject & PodParts;
  const ip = parseIpSloppy(pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? '');
  if (ip === undefined || classifyIp(ip) !== 'globalUnicast') throw errors.badRequest('address not allowed');
  return connectTo(pod, request, { subresource: 'proxy', ...target });
}

/** A port number is looked up in the service, a port name in the endpoints. */
function connectToService(request: ConnectRequest): MaybePromise<Connection> {
  const { namespace } = request;
  const { name, port, scheme } = splitName(request, 'service');
  const portName = /^[+-]?[0-9]+$/.test(port) ? portNameOf(Number(port), { ...request, name }) : port;
  const endpoints = find(request, { group: '', resource: 'endpoints', namespace, name }, 'services');
  const { subsets = [] } = endpoints as ApiObject & EndpointsParts;
  const noEndpoints = (service: string) =>
    errors.serviceUnavailable(`no endpoints available for service ${quote(service)}`);
  if (subsets.length === 0) throw noEndpoints(name);
  const isAvailable = subsets.some(
    ({ addresses = [], ports = [] }) => addresses.length > 0 && ports.some((each) => (each.name ?? '') === portName),
  );
  if (!isAvailable) throw noEndpoints(request.name);
  const service = find(request, { group: '', resource: 'services', namespace, name });
  return connectTo(service, request, { subresource: 'proxy', scheme, port });
}

function portNameOf(port: number, request: ConnectRequest): string {
  const { namespace, name } = request;
  const service = find(request, { group: '', resource: 'services', namespace, name }) as ApiObject & ServiceParts;
  const found = (service.spec.ports ?? []).find((each) => each.port === port);
  if (found !== undefined) return found.name ?? '';
  throw errors.serviceUnavailable(`no service port ${port} found for service ${quote(name)}`);
}

/** Splits `name`, `name:port` or `scheme:name:port`. */
function splitName(
  { name: requested }: ConnectRequest,
  kind: string,
): { readonly name: string; readonly port: string; readonly scheme: string } {
  const parts = requested.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !['', 'http', 'https'].includes(scheme)) {
    throw errors.badRequest(`invalid ${kind} request ${quote(requested)}`);
  }
  return { name, port, scheme };
}

function podOf(request: ConnectRequest): ApiObject {
  return find(request, { group: '', resource: 'pods', namespace: request.namespace, name: request.name });
}

/** Returns the object or throws NotFound. `reported` is the resource in the error. */
function find({ objects }: ConnectRequest, address: ObjectAddress, reported = address.resource): ApiObject {
  const found = objects.get(address);
  if (found !== undefined) return found;
  throw errors.notFound({ group: '', resource: reported }, address.name);
}

interface StreamOptions {
  readonly stdin?: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty?: boolean;
  readonly container?: string;
}

/** As in the reference server, stdout and stderr are always true. */
function streamOptions(query: ConnectQuery): StreamOptions {
  const container = query['container']?.[0];
  return {
    ...(isOn(query, 'stdin') ? { stdin: true } : {}),
    stdout: true,
    stderr: true,
    ...(isOn(query, 'tty') ? { tty: true } : {}),
    ...(container ? { container } : {}),
  };
}

function execOptions(query: ConnectQuery): StreamOptions & { readonly command: readonly string[] | null } {
  return { ...streamOptions(query), command: query['command'] ?? null };
}

function forwardOptions(query: ConnectQuery): { readonly ports?: readonly number[] } {
  const { ports } = query;
  return ports === undefined ? {} : { ports: ports.flatMap((list) => list.split(',')).map(readPort) };
}

function readPort(text: string): number {
  const parseError = (why: string) =>
    errors.badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${why}`);
  if (!/^[0-9]+$/.test(text)) throw parseError('invalid syntax');
  if (BigInt(text) > MAX_PORT) throw parseError('value out of range');
  return Number(text);
}

function proxyOptions(query: ConnectQuery): { readonly path?: string } {
  const path = query['path']?.[0];
  return path ? { path } : {};
}

interface LogOptions {
  readonly container?: string;
  readonly sinceSeconds?: number;
  /** Null for an empty value: the zero time. */
  readonly sinceTime?: string | null;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly stream?: string;
}

function logOptions(query: ConnectQuery): LogOptions {
  const text = (name: string) => query[name]?.[0];
  const integer = (name: string) => {
    const value = text(name);
    return value === undefined ? undefined : readInteger(value);
  };
  const since = text('sinceTime');
  const read = {
    container: text('container'),
    sinceSeconds: integer('sinceSeconds'),
    sinceTime: since === undefined ? undefined : (readTimeValue(since) ?? null),
    tailLines: integer('tailLines'),
    limitBytes: integer('limitBytes'),
    stream: text('stream'),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as LogOptions;
}

/** Throws a 422 StatusError for invalid log options. */
function checkLogOptions(name: string, options: LogOptions, isStreamSupported: boolean): void {
  const problems = [...amountProblems(options), ...streamProblems(options, isStreamSupported)];
  if (problems.length > 0) throw errors.invalid({ group: '', kind: 'PodLogOptions' }, name, problems);
}

function amountProblems({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogOptions): FieldError[] {
  const problems = nonNegative('tailLines', tailLines);
  if (limitBytes !== undefined && limitBytes < 1) {
    problems.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  }
  if (sinceSeconds === undefined) return problems;
  if (sinceTime !== undefined) {
    problems.push(forbidden(EMPTY_PATH, 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds < 1) {
    problems.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  return problems;
}

function streamProblems({ stream, tailLines }: LogOptions, isStreamSupported: boolean): FieldError[] {
  if (!isStreamSupported) return stream === undefined ? [] : [forbidden('stream', 'may not be specified')];
  const selected = stream ?? 'All';
  const problems = valueErrors('stream', selected, STREAMS);
  if (tailLines !== undefined && selected !== 'All') {
    problems.push(forbidden(EMPTY_PATH, '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return problems;
}

function isOn(query: ConnectQuery, name: string): boolean {
  const value = query[name]?.[0];
  return value !== undefined && readSwitch(value);
}
