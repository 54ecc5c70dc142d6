/**
 * Connections to what runs on the nodes of a cluster: the logs and streams of containers, ports and HTTP servers of pods. The
 * server checks a request to a connect subresource and passes it to the node runtime, if the cluster has one
 * (`orchplane/runtime`).
 */

import type { ApiObject } from '../meta/object.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Answer, HttpRequest } from './http.js';

/** Runs the pods of a cluster. */
export interface NodeRuntime {
  /** Opens a connection. Throws the StatusError of a failed one. */
  connect(request: RuntimeRequest): MaybePromise<Connection>;
  logs(pod: PodReference, options?: PodLogOptions): PodLog;
  exec(pod: PodReference, command: readonly string[], options?: PodExecOptions): Promise<PodExecResult>;
  /** What the containers of the running pods of a namespace use. Absent: there is no metrics server. */
  usage?(namespace: string): readonly PodUsage[];
  /** How webhooks and aggregated API servers at an address are reached; undefined: no pod or node has the address. */
  serverAt?(address: SocketAddress): ServerAccess | undefined;
}

/** A running pod and what its containers use. */
export interface PodUsage {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
}

/** Resources that a container uses, as quantities. */
export interface Usage {
  readonly cpu?: string | number | undefined;
  readonly memory?: string | number | undefined;
}

/** A function that sends requests to a server, or the address of its socket of this machine. */
export type ServerAccess = ((request: Request) => Promise<Response>) | SocketAddress;

export interface SocketAddress {
  readonly host: string;
  readonly port: number;
}

/** A pod or its name, in the namespace `default` unless the pod or the options name one. */
export type PodReference =
  | string
  | { readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined } };

export interface PodLogOptions {
  readonly namespace?: string | undefined;
  /** Optional if the pod has one container. */
  readonly container?: string | undefined;
  /** True: continues until the container ends. */
  readonly follow?: boolean | undefined;
  /** True: the log of the container's previous run. */
  readonly previous?: boolean | undefined;
  /** True: each line begins with its time. */
  readonly timestamps?: boolean | undefined;
  readonly tailLines?: number | undefined;
  readonly sinceSeconds?: number | undefined;
  readonly limitBytes?: number | undefined;
}

/** The lines of a log. */
export interface PodLog extends AsyncIterable<string> {
  /** The whole log; with `follow`, when the container has ended. */
  text(): Promise<string>;
}

export interface PodExecOptions {
  readonly namespace?: string | undefined;
  /** Optional if the pod has one container. */
  readonly container?: string | undefined;
  /** What the command reads from its standard input. */
  readonly stdin?: string | Uint8Array | ReadableStream<Uint8Array> | undefined;
  /** Called with each piece of output, for a command that runs for long. */
  readonly onOutput?: ((text: string, stream: 'stdout' | 'stderr') => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PodExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The node runtime of a cluster, which registers itself when it starts. */
export interface RuntimeSlot {
  runtime: NodeRuntime | undefined;
}

/** The runtime of a cluster. Throws TypeError if it has none. */
export function runtimeIn({ runtime }: RuntimeSlot): NodeRuntime {
  if (runtime !== undefined) return runtime;
  throw new TypeError(
    'orchplane: the cluster runs no pods; runtime() of orchplane/runtime is the controller that does',
  );
}

/** A valid request to a connect subresource of an existing object. */
export interface RuntimeRequest {
  readonly subresource: 'attach' | 'exec' | 'log' | 'portforward' | 'proxy';
  /** A Pod, Node or Service. */
  readonly object: ApiObject;
  /** For proxies, the scheme and the port in the name of the request: `https:web:443`; empty if it has none. */
  readonly scheme: string;
  readonly port: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
}

export type Connection = (LogConnection | StreamConnection | PortConnection | ProxyConnection) & {
  /**
   * Answers an HTTP request with this connection. If the answer has a body or a WebSocket, `onEnd` is called at its end.
   */
  answer(request: HttpRequest, onEnd: () => void): MaybePromise<Answer>;
};

export interface LogConnection {
  readonly type: 'log';
  /** Reads the lines; with `follow`, until the container ends. Cancelling the stream ends it. */
  read(): ReadableStream<Uint8Array>;
}

/** The streams of a process in a container. */
export interface StreamConnection {
  readonly type: 'streams';
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
  /** Runs the process, or attaches to it, until it ends. Rejects with StatusError if it cannot be started. */
  run(streams: ContainerStreams): Promise<ExecResult>;
}

export interface ContainerStreams {
  /** Absent: the process reads the end of its input at once. */
  readonly stdin?: ReadableStream<Uint8Array> | undefined;
  readonly stdout?: WritableStream<Uint8Array> | undefined;
  readonly stderr?: WritableStream<Uint8Array> | undefined;
  /** The size of the client's terminal, first and after each change. */
  readonly sizes?: ReadableStream<TerminalSize> | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

export interface ExecResult {
  readonly exitCode: number;
}

export interface PortConnection {
  readonly type: 'ports';
  /** Connects to a port of the pod. Rejects if nothing listens there. */
  connect(port: number): Promise<ByteConnection>;
}

/** A connection that carries bytes in both directions. */
export interface ByteConnection {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** Sockets of this machine, and HTTP/1.1 over connections. Browsers have neither. */
export interface Sockets {
  /** Connects over TCP. */
  dial(address: SocketAddress): Promise<ByteConnection>;
  /** Answers the HTTP requests of a connection until it closes. */
  serveHttp(connection: ByteConnection, answer: (request: Request) => Promise<Response>): void;
  /** Sends a request over a connection, with TLS if its URL begins with `https:`. `isUnverified`: any certificate is accepted. The connection serves this request only. */
  sendHttp(connection: ByteConnection, request: Request, isUnverified?: boolean): Promise<Response>;
  /** Listens on an address of the cluster, so that processes can reach it. Absent: processes cannot. */
  publish?(address: SocketAddress, accept: (connection: ByteConnection, remoteAddress: string) => void): () => void;
  /** Answers DNS queries of processes. */
  publishDns?(resolve: (name: string, remoteAddress: string) => readonly string[]): () => void;
}

export interface ProxyConnection {
  readonly type: 'proxy';
  /** The path behind the proxy, decoded, as it was admitted; empty if the path of the request ends with `proxy`. */
  readonly path: string;
  /** Sends a request to the HTTP server. The path of its URL is the path behind the proxy. */
  fetch(request: Request): Promise<Response>;
}
