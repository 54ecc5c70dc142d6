/**
 * Connections to running pods: logs, commands, attached streams, ports and HTTP servers.
 */

import { isPodFinished, type StoredPod } from '../../controllers/workloads/pod-state.js';
import { checkContainer } from '../../kinds/core/v1/connect-subresources.js';
import { errors } from '../../meta/errors.js';
import { readInteger, readSwitch, readTimeValue } from '../../meta/query-values.js';
import type {
  Connection,
  ContainerStreams,
  ExecResult,
  LogConnection,
  PodExecOptions,
  PodExecResult,
  PodLog,
  PodLogOptions,
  PodReference,
  PortConnection,
  ProxyConnection,
  RuntimeRequest,
  StreamConnection,
} from '../../protocol/connection.js';
import { timeToMs } from '../../text/time/time.js';
import { onAbort } from '../../util/abort.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { answerConnection } from '../http/answer-connection.js';
import type { ClusterNetwork, ServiceName } from '../network/types.js';
import { ClientOutput } from './client-output.js';
import type { KubeletContainer } from './container.js';
import type { LogReadOptions } from './container-log.js';
import { runWithStreams } from './execute.js';
import type { PodWorker } from './pod-worker.js';

type Query = RuntimeRequest['query'];
type Connected = LogConnection | StreamConnection | PortConnection | ProxyConnection;

export interface ConnectionServices {
  readonly network: ClusterNetwork;
  /** Undefined: the runtime does not run the pod. */
  workerOf(namespace: string, name: string): PodWorker | undefined;
  /** Answers a request to the kubelet of a node. */
  nodeFetch(node: string, request: Request): Promise<Response>;
}

/** Opens a connection for a request to a connect subresource. Throws the StatusError of a failed one. */
export function openConnection(services: ConnectionServices, request: RuntimeRequest): Connection {
  const connected = connect(services, request);
  return { ...connected, answer: (http, onEnd) => answerConnection(connected, http, onEnd) };
}

function connect(services: ConnectionServices, request: RuntimeRequest): Connected {
  const { subresource, object, query, port, scheme } = request;
  const { name, namespace = '' } = object.metadata;
  const { network } = services;
  if (subresource === 'proxy') {
    const path = query['path']?.[0] ?? '';
    if (object.kind === 'Node') return { type: 'proxy', path, fetch: (http) => services.nodeFetch(name, http) };
    const address =
      object.kind === 'Service'
        ? serviceEndpoint(network, { namespace, name }, port)
        : podAddress(object, services.workerOf(namespace, name), port);
    return { type: 'proxy', path, fetch: (http) => network.fetch(redirected(http, { scheme, ...address })) };
  }
  const worker = services.workerOf(namespace, name);
  if (subresource === 'portforward') {
    const forwarded = requireNetwork(worker, name);
    const toPort = async (port: number) => {
      // The pod may have ended since, and another one may have its name.
      requireNetwork(forwarded === services.workerOf(namespace, name) ? forwarded : undefined, name);
      return network.connectToPod({ namespace, podName: name }, port);
    };
    return { type: 'ports', connect: toPort };
  }
  const container = containerOf(requireWorker(worker, name), query);
  if (subresource === 'log') return logOf(worker as PodWorker, container, query);
  const on = (key: string) => query[key]?.[0] !== undefined && readSwitch(query[key]?.[0] ?? '');
  const streams = { stdin: on('stdin'), stdout: on('stdout'), stderr: on('stderr') && !on('tty'), tty: on('tty') };
  const isStdinOnce = requireWorker(worker, name).containerSpec(container.name).stdinOnce === true;
  const run = (opened: ContainerStreams): Promise<ExecResult> =>
    subresource === 'exec'
      ? runWithStreams(worker as PodWorker, container, query['command'] ?? [], { ...opened, tty: streams.tty })
      : attach(container, { ...opened, tty: streams.tty, isStdinOnce });
  if (!container.isRunning) {
    throw errors.internal(`unable to upgrade connection: container not found (${JSON.stringify(container.name)})`);
  }
  return { type: 'streams', ...streams, run };
}

/** The server checked that the Service has an endpoint for the port. */
function serviceEndpoint(network: ClusterNetwork, service: ServiceName, port: string) {
  const endpoint = network.endpointOf(service, /^[0-9]+$/.test(port) ? Number(port) : port);
  if (endpoint === undefined)
    throw errors.serviceUnavailable(`no endpoints available for service ${JSON.stringify(service.name)}`);
  return { host: endpoint.host, port: String(endpoint.port) };
}

/** Without a port, the first one of the pod's containers. */
function podAddress(object: unknown, worker: PodWorker | undefined, port: string) {
  const { spec } = object as StoredPod;
  const [first] = spec.containers.flatMap(({ ports = [] }) => ports);
  return {
    host: worker?.podIPs()[0] ?? '',
    port: port === '' && first !== undefined ? String(first.containerPort) : port,
  };
}

/** The request with another host. The port defaults to that of the scheme. */
function redirected(
  request: Request,
  target: { readonly scheme: string; readonly host: string; readonly port: string },
): Request {
  const { pathname, search } = new URL(request.url);
  const scheme = target.scheme === '' ? 'http' : target.scheme;
  // Other characters would end the host of the URL.
  if (!/^[0-9]{0,5}$/.test(target.port)) throw errors.badRequest(`invalid port ${JSON.stringify(target.port)}`);
  const port = target.port === '' ? '' : `:${target.port}`;
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  return new Request(`${scheme}://${host}${port}${pathname}${search}`, request);
}

function requireWorker(worker: PodWorker | undefined, name: string): PodWorker {
  if (worker !== undefined) return worker;
  throw errors.badRequest(`pod ${name} is not running`);
}

/** A pod that has an address, and has not ended. */
function requireNetwork(worker: PodWorker | undefined, name: string): PodWorker {
  const pod = worker?.current();
  const isUp = pod?.status.podIP !== undefined && !isPodFinished(pod);
  return requireWorker(isUp ? worker : undefined, name);
}

/** The container that the query names, or the only one. */
function containerOf(worker: PodWorker, query: Query): KubeletContainer {
  const { spec, metadata } = worker.current();
  const name = query['container']?.[0] || (spec.containers[0]?.name ?? '');
  const container = worker.container(name);
  if (container !== undefined) return container;
  throw errors.badRequest(
    `container ${JSON.stringify(name)} in pod ${JSON.stringify(metadata.name)} is waiting to start: ContainerCreating`,
  );
}

function logOf(worker: PodWorker, container: KubeletContainer, query: Query): LogConnection {
  const text = (key: string) => query[key]?.[0];
  const integer = (key: string) => (text(key) === undefined ? undefined : readInteger(text(key) ?? ''));
  const on = (key: string) => text(key) !== undefined && readSwitch(text(key) ?? '');
  const pod = JSON.stringify(worker.current().metadata.name);
  const name = JSON.stringify(container.name);
  const log = on('previous') ? container.previousLog : container.log;
  if (log === undefined) {
    if (on('previous')) throw errors.badRequest(`previous terminated container ${name} in pod ${pod} not found`);
    const { reason, message } = container.status().state?.waiting ?? {};
    const isPull = reason === 'ErrImagePull' || reason === 'ImagePullBackOff';
    const why = isPull ? `trying and failing to pull image` : message === undefined ? reason : `${message}`;
    throw errors.badRequest(`container ${name} in pod ${pod} is waiting to start: ${why}`);
  }
  const sinceTime = text('sinceTime');
  const sinceSeconds = integer('sinceSeconds');
  const since = sinceTime === undefined ? undefined : readTimeValue(sinceTime);
  const options: LogReadOptions = {
    follow: on('follow'),
    timestamps: on('timestamps'),
    tailLines: integer('tailLines'),
    sinceMs:
      sinceSeconds === undefined
        ? since === undefined
          ? undefined
          : timeToMs(since)
        : worker.clock.now() - sinceSeconds * 1000,
    limitBytes: integer('limitBytes'),
    stream: (text('stream') ?? 'All') as LogReadOptions['stream'],
  };
  return { type: 'log', read: () => log.read(options) };
}

interface AttachStreams extends ContainerStreams {
  readonly tty: boolean;
  /** The container's input ends with that of its first client. */
  readonly isStdinOnce: boolean;
}

/** Connects streams to the main process of a container until it ends or the client disconnects. */
async function attach(
  container: KubeletContainer,
  { stdin, stdout, stderr, signal, tty, isStdinOnce }: AttachStreams,
): Promise<ExecResult> {
  const { run, log } = container;
  if (run === undefined || log === undefined) throw errors.internal('the container has ended');
  const writers = { stdout: stdout?.getWriter(), stderr: stderr?.getWriter() };
  let disconnect = (_result: ExecResult): void => undefined;
  const ended = new Promise<ExecResult>((resolve) => {
    disconnect = resolve;
    signal.addEventListener('abort', () => resolve({ exitCode: 0 }), { once: true });
  });
  const undo = onAbort(run.ended, () => void run.process.exit.then(disconnect));
  const output = new ClientOutput(() => disconnect({ exitCode: 0 }));
  const untap = log.tap((stream, bytes) => {
    void output.write(tty ? writers.stdout : writers[stream], bytes);
  });
  const reader = stdin?.getReader();
  const pump = async (): Promise<void> => {
    if (reader === undefined) return;
    for (let next = await reader.read(); !next.done; next = await reader.read())
      await run.input.write(next.value, signal);
  };
  // The end of one client's input ends the input of the container only with stdinOnce. An aborted input ends the pump.
  const closeInput = () => (isStdinOnce ? run.input.close() : undefined);
  pump().then(closeInput, closeInput);
  const { exitCode } = await ended;
  undo();
  untap();
  await output.finished();
  return { exitCode };
}

const LOG_OPTIONS = [
  'namespace',
  'container',
  'follow',
  'previous',
  'timestamps',
  'tailLines',
  'sinceSeconds',
  'limitBytes',
] as const satisfies readonly (keyof PodLogOptions)[];

const EXEC_OPTIONS = [
  'namespace',
  'container',
  'stdin',
  'onOutput',
  'signal',
] as const satisfies readonly (keyof PodExecOptions)[];

/** `cluster.logs` and `cluster.exec`. */
export class LocalConnections {
  readonly #open: (request: RuntimeRequest) => Connection;
  readonly #podOf: (reference: PodReference, namespace: string | undefined) => Promise<RuntimeRequest['object']>;

  constructor(
    open: (request: RuntimeRequest) => Connection,
    podOf: (reference: PodReference, namespace: string | undefined) => Promise<RuntimeRequest['object']>,
  ) {
    this.#open = open;
    this.#podOf = podOf;
  }

  logs(pod: PodReference, options: PodLogOptions = {}): PodLog {
    refuseUnknownOptions('logs', options, LOG_OPTIONS);
    const { namespace, ...rest } = options;
    const open = async (): Promise<ReadableStream<Uint8Array>> => {
      const object = await this.#podOf(pod, namespace);
      checkContainer(object, options.container);
      const connection = this.#open({ subresource: 'log', object, scheme: '', port: '', query: queryOf(rest) });
      return (connection as LogConnection).read();
    };
    return {
      text: async () => new Response(await open()).text(),
      [Symbol.asyncIterator]: () => linesOf(open),
    };
  }

  async exec(pod: PodReference, command: readonly string[], options: PodExecOptions = {}): Promise<PodExecResult> {
    refuseUnknownOptions('exec', options, EXEC_OPTIONS);
    if (!Array.isArray(command)) throw new TypeError("orchplane: exec takes a list of words: ['ls', '/']");
    const { namespace, container, stdin, onOutput, signal = new AbortController().signal } = options;
    const object = await this.#podOf(pod, namespace);
    checkContainer(object, container);
    const query = { command, ...queryOf({ container, stdin: stdin !== undefined, stdout: true, stderr: true }) };
    const connection = this.#open({ subresource: 'exec', object, scheme: '', port: '', query }) as StreamConnection;
    const collect = (stream: 'stdout' | 'stderr') => collector((text) => onOutput?.(text, stream));
    const outputs = { stdout: collect('stdout'), stderr: collect('stderr') };
    const input = stdin === undefined ? undefined : (new Response(stdin as BodyInit).body ?? undefined);
    const { exitCode } = await connection.run({
      stdin: input,
      stdout: outputs.stdout.stream,
      stderr: outputs.stderr.stream,
      signal,
    });
    return { exitCode, stdout: outputs.stdout.text(), stderr: outputs.stderr.text() };
  }
}

function queryOf(options: Readonly<Record<string, unknown>>): Query {
  const given = Object.entries(options).filter(([, value]) => value !== undefined && value !== false);
  return Object.fromEntries(given.map(([key, value]) => [key, [String(value)]]));
}

function collector(onText: (text: string) => void) {
  const decoder = new TextDecoder();
  let collected = '';
  const stream = new WritableStream<Uint8Array>({
    write(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      collected += text;
      onText(text);
    },
  });
  return { stream, text: () => collected };
}

async function* linesOf(open: () => Promise<ReadableStream<Uint8Array>>): AsyncGenerator<string> {
  const reader = (await open()).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + decoder.decode(next.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel();
  }
}
