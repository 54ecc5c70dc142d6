/**
 * Lines to containers, nodes and services. The reference server hands them on to what runs there; here nothing runs, and
 * every line ends with the reason that it would give, or with ours.
 */
import { errors, failure } from '../../../meta/errors.js';
import { type FieldError, forbidden, invalid, notSupported } from '../../../meta/field-error.js';
import { classifyIp, parseIpSloppy } from '../../../meta/ip.js';
import type { ApiObject } from '../../../meta/object.js';
import { readInteger, readSwitch, readTimeValue } from '../../../meta/query-values.js';
import { quote } from '../../../text/go/go-text.js';
import type { ObjectAddress } from '../../objects.js';
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

export const podConnections: Readonly<Record<string, ConnectSubresource>> = {
  attach: {
    verbs: ['create', 'get'],
    optionsKind: 'PodAttachOptions',
    options: streamOptions,
    open: (line) => toContainer(line, streamOptions(line.query).container),
  },
  exec: {
    verbs: ['create', 'get'],
    optionsKind: 'PodExecOptions',
    options: execOptions,
    open: (line) => toContainer(line, execOptions(line.query).container),
  },
  log: { verbs: ['get'], optionsKind: 'Pod', options: logOptions, open: readLog },
  portforward: {
    verbs: ['create', 'get'],
    optionsKind: 'PodPortForwardOptions',
    options: forwardOptions,
    open: (line) => toNodeOf(podOf(line), line),
  },
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'PodProxyOptions',
    allowsSubpaths: true,
    options: proxyOptions,
    open: toPod,
  },
};

export const nodeConnections: Readonly<Record<string, ConnectSubresource>> = {
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'NodeProxyOptions',
    allowsSubpaths: true,
    options: proxyOptions,
    open: (line) => toNode(splitName(line, 'node').name, line),
  },
};

export const serviceConnections: Readonly<Record<string, ConnectSubresource>> = {
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'ServiceProxyOptions',
    allowsSubpaths: true,
    options: proxyOptions,
    open: toService,
  },
};

function nobodyThere(what: string): never {
  throw failure({
    code: 500,
    message: `orchplane runs no ${what}, so there is nothing to connect to (see docs/fidelity.md)`,
  });
}

function toContainer(line: ConnectRequest, container: string | undefined): void {
  const pod = podOf(line);
  checkContainer(pod, container);
  toNodeOf(pod, line);
}

function readLog(line: ConnectRequest): void {
  const options = logOptions(line.query);
  checkLogOptions(line.name, options, line.features.enabled('PodLogsQuerySplitStreams'));
  const pod = podOf(line);
  checkContainer(pod, options.container);
  // A pod that was never placed has said nothing yet.
  if (nodeOf(pod) !== '') toNodeOf(pod, line);
}

/** With one container it need not be named. */
function checkContainer(pod: ApiObject, container = ''): void {
  const { name } = pod.metadata;
  const { containers, initContainers = [], ephemeralContainers = [] } = (pod as unknown as PodParts).spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((each) => each.name);
  if (container !== '') {
    if (!names.includes(container)) throw errors.badRequest(`container ${container} is not valid for pod ${name}`);
  } else if (containers.length !== 1) {
    const which = `choose one of: [${names.join(' ')}]`;
    throw errors.badRequest(`a container name must be specified for pod ${name}, ${which}`);
  }
}

/** A line to a container needs a node first. */
function toNodeOf(pod: ApiObject, line: ConnectRequest): void {
  const node = nodeOf(pod);
  if (node === '') throw errors.badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  requireNode(node, line, 'pods');
  nobodyThere('containers');
}

function nodeOf(pod: ApiObject): string {
  return (pod as unknown as PodParts).spec.nodeName ?? '';
}

function toNode(name: string, line: ConnectRequest): void {
  requireNode(name, line);
  nobodyThere('nodes');
}

/** What is asked of a kubelet goes to an address of its node. */
function requireNode(name: string, line: ConnectRequest, asked = 'nodes'): void {
  const node = find(line, { group: '', resource: 'nodes', namespace: '', name }, asked) as unknown as NodeParts;
  if ((node.status?.addresses ?? []).length > 0) return;
  throw failure({ code: 500, message: 'no preferred addresses found; known addresses: []' });
}

function toPod(line: ConnectRequest): void {
  const { name } = splitName(line, 'pod');
  const { status } = podOf({ ...line, name }) as unknown as PodParts;
  const ip = parseIpSloppy(status?.podIPs?.[0]?.ip ?? status?.podIP ?? '');
  if (ip === undefined || classifyIp(ip) !== 'globalUnicast') throw errors.badRequest('address not allowed');
  nobodyThere('containers');
}

/** A port by number is one of the service, which is not looked at otherwise; a name is one of the endpoints. */
function toService(line: ConnectRequest): void {
  const { namespace } = line;
  const { name, port } = splitName(line, 'service');
  const portName = /^[+-]?[0-9]+$/.test(port) ? portNamed(Number(port), { ...line, name }) : port;
  const endpoints = find(line, { group: '', resource: 'endpoints', namespace, name }, 'services');
  const { subsets = [] } = endpoints as unknown as EndpointsParts;
  const nobody = (whose: string) => errors.serviceUnavailable(`no endpoints available for service ${quote(whose)}`);
  if (subsets.length === 0) throw nobody(name);
  const isThere = subsets.some(
    ({ addresses = [], ports = [] }) => addresses.length > 0 && ports.some((each) => (each.name ?? '') === portName),
  );
  if (!isThere) throw nobody(line.name);
  nobodyThere('containers');
}

function portNamed(port: number, line: ConnectRequest): string {
  const { namespace, name } = line;
  const service = find(line, { group: '', resource: 'services', namespace, name }) as unknown as ServiceParts;
  const found = (service.spec.ports ?? []).find((each) => each.port === port);
  if (found !== undefined) return found.name ?? '';
  throw errors.serviceUnavailable(`no service port ${port} found for service ${quote(name)}`);
}

/** `name`, `name:port` or `scheme:name:port`. */
function splitName({ name: asked }: ConnectRequest, kind: string): { readonly name: string; readonly port: string } {
  const parts = asked.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length > 3 || name === '' || !['', 'http', 'https'].includes(scheme)) {
    throw errors.badRequest(`invalid ${kind} request ${quote(asked)}`);
  }
  return { name, port };
}

function podOf(line: ConnectRequest): ApiObject {
  return find(line, { group: '', resource: 'pods', namespace: line.namespace, name: line.name });
}

/** Whatever is missing on the way, it is the resource of the request that is said to be. */
function find({ objects }: ConnectRequest, address: ObjectAddress, asked = address.resource): ApiObject {
  const found = objects.get(address);
  if (found !== undefined) return found;
  throw errors.notFound({ group: '', resource: asked }, address.name);
}

interface StreamOptions {
  readonly stdin?: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty?: boolean;
  readonly container?: string;
}

/** Both ways out are open, whatever was asked: so the reference server fills them in. */
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
  const fault = (why: string) =>
    errors.badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${why}`);
  if (!/^[0-9]+$/.test(text)) throw fault('invalid syntax');
  if (BigInt(text) > MAX_PORT) throw fault('value out of range');
  return Number(text);
}

function proxyOptions(query: ConnectQuery): { readonly path?: string } {
  const path = query['path']?.[0];
  return path ? { path } : {};
}

interface LogOptions {
  readonly container?: string;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
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
    sinceTime: since === undefined ? undefined : readTimeValue(since),
    tailLines: integer('tailLines'),
    limitBytes: integer('limitBytes'),
    stream: text('stream'),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as LogOptions;
}

/** Throws where the options contradict themselves. */
function checkLogOptions(name: string, options: LogOptions, choosesStreams: boolean): void {
  const problems = [...amountProblems(options), ...streamProblems(options, choosesStreams)];
  if (problems.length > 0) throw errors.invalid({ group: '', kind: 'PodLogOptions' }, name, problems);
}

function amountProblems({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogOptions): FieldError[] {
  const problems: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    problems.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
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

function streamProblems({ stream, tailLines }: LogOptions, mayChoose: boolean): FieldError[] {
  if (!mayChoose) return stream === undefined ? [] : [forbidden('stream', 'may not be specified')];
  const chosen = stream ?? 'All';
  const problems = STREAMS.includes(chosen) ? [] : [notSupported('stream', chosen, STREAMS)];
  if (tailLines !== undefined && chosen !== 'All') {
    problems.push(forbidden(EMPTY_PATH, '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return problems;
}

function isOn(query: ConnectQuery, name: string): boolean {
  const value = query[name]?.[0];
  return value !== undefined && readSwitch(value);
}
