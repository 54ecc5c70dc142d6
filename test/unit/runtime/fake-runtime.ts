/**
 * A node runtime without nodes, to test connections over HTTP. Some commands are part of it, others are programs of this
 * machine.
 */
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { Duplex, Readable, Writable } from 'node:stream';
import { errors } from '../../../src/meta/errors.js';
import type {
  ByteConnection,
  Connection,
  ContainerStreams,
  ExecResult,
  LogConnection,
  NodeRuntime,
  PortConnection,
  ProxyConnection,
  RuntimeRequest,
  StreamConnection,
} from '../../../src/protocol/connection.js';
import { answerConnection } from '../../../src/runtime/http/answer-connection.js';

export interface FakeRuntime extends NodeRuntime {
  /** The requests so far. */
  readonly requests: RuntimeRequest[];
  /** The number of open logs, processes and connections to ports. */
  readonly open: { logs: number; processes: number; ports: number };
  /** The bytes that the command `flood` has written. */
  floodBytes: number;
  /** Adds a line to the logs that clients follow. */
  writeLog(line: string): void;
  /** Ends the logs that clients follow. */
  endLogs(): void;
  /** Ports of this machine by the ports of pods. */
  readonly ports: Map<number, number>;
  /** The HTTP server of all pods, services and nodes. */
  serveHttp: (request: Request) => Promise<Response> | Response;
  /** Called before a process starts, which may be after the client has disconnected. */
  beforeStart: () => Promise<void>;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

export function createFakeRuntime(): FakeRuntime {
  const followers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const fake: FakeRuntime = {
    requests: [],
    open: { logs: 0, processes: 0, ports: 0 },
    floodBytes: 0,
    ports: new Map(),
    serveHttp: () => new Response('hello\n'),
    beforeStart: async () => undefined,
    writeLog(line) {
      for (const controller of followers) controller.enqueue(encode(`${line}\n`));
    },
    endLogs() {
      for (const controller of followers) controller.close();
      fake.open.logs -= followers.size;
      followers.clear();
    },
    connect(request): Connection {
      fake.requests.push(request);
      const connection = connectionFor(request);
      return { ...connection, answer: (http, onEnd) => answerConnection(connection, http, onEnd) } as Connection;
    },
    logs: () => {
      throw new Error('not part of the fake');
    },
    exec: () => {
      throw new Error('not part of the fake');
    },
  };
  const connectionFor = (request: RuntimeRequest) => {
    switch (request.subresource) {
      case 'log':
        return logOf(request);
      case 'portforward':
        return portsOf(fake);
      case 'proxy':
        return {
          type: 'proxy',
          path: request.query['path']?.[0] ?? '',
          fetch: async (sent) => fake.serveHttp(sent),
        } satisfies ProxyConnection;
      default:
        return streamsOf(fake, request);
    }
  };
  const logOf = ({ query }: RuntimeRequest): LogConnection => ({
    type: 'log',
    read() {
      let own: ReadableStreamDefaultController<Uint8Array>;
      return new ReadableStream<Uint8Array>({
        start(controller) {
          own = controller;
          controller.enqueue(encode('one\ntwo\n'));
          if (query['follow']?.[0] !== 'true') return controller.close();
          fake.open.logs++;
          followers.add(controller);
        },
        cancel() {
          if (followers.delete(own)) fake.open.logs--;
        },
      });
    },
  });
  return fake;
}

function streamsOf(fake: FakeRuntime, { subresource, query }: RuntimeRequest): StreamConnection {
  const isOn = (name: string): boolean => ['true', '1'].includes(query[name]?.[0] ?? '');
  const command = subresource === 'attach' ? ['attach'] : (query['command'] ?? []);
  return {
    type: 'streams',
    stdin: isOn('stdin'),
    stdout: true,
    stderr: true,
    tty: isOn('tty'),
    async run(streams) {
      fake.open.processes++;
      try {
        await fake.beforeStart();
        return { exitCode: await (command[0] === 'flood' ? flood(fake, streams) : runCommand(command, streams)) };
      } finally {
        fake.open.processes--;
      }
    },
  };
}

async function runCommand([name = '', ...args]: readonly string[], streams: ContainerStreams): Promise<number> {
  const { stdin, stdout, stderr, sizes, signal } = streams;
  const print = writerOf(stdout);
  switch (name) {
    case 'hello':
      await print('out\n');
      await writerOf(stderr)('err\n');
      return 0;
    case 'echo-input':
    case 'attach': {
      if (name === 'attach') await print('attached\n');
      for await (const bytes of stdin ?? []) await print(bytes);
      return 0;
    }
    case 'exit':
      return Number(args[0]);
    case 'show-sizes':
      for await (const { width, height } of sizes ?? []) {
        await print(`${width}x${height}\n`);
        if (width === 1) return 0;
      }
      return 0;
    case 'sleep-without-reading':
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      return 0;
    case 'missing':
      throw errors.badRequest('there is no such command');
    case 'crash':
      throw new Error('the runtime failed');
    default:
      return runProgram([name, ...args], streams);
  }
}

/** Writes until the client disconnects. */
async function flood(fake: FakeRuntime, { stdout, signal }: ContainerStreams): Promise<number> {
  const print = writerOf(stdout);
  const chunk = new Uint8Array(64 * 1024);
  while (!signal.aborted) {
    await print(chunk);
    fake.floodBytes += chunk.length;
  }
  return 0;
}

function writerOf(stream: WritableStream<Uint8Array> | undefined): (data: string | Uint8Array) => Promise<void> {
  let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  return async (data) => {
    writer ??= stream?.getWriter();
    await writer?.write(typeof data === 'string' ? encode(data) : data);
  };
}

async function runProgram([name = '', ...args]: readonly string[], streams: ContainerStreams): Promise<number> {
  const { stdin, stdout, stderr, signal } = streams;
  const child = spawn(name, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  signal.addEventListener('abort', () => child.kill('SIGKILL'));
  if (stdin === undefined) child.stdin.end();
  else stdin.pipeTo(Writable.toWeb(child.stdin) as WritableStream<Uint8Array>).catch(() => undefined);
  const ended = new Promise<ExecResult['exitCode']>((resolve, reject) => {
    child.once('error', (error) => reject(error));
    child.once('exit', (code) => resolve(code ?? 137));
  });
  const copy = (from: Readable, to: WritableStream<Uint8Array> | undefined): Promise<void> | undefined =>
    to && (Readable.toWeb(from) as ReadableStream<Uint8Array>).pipeTo(to).catch(() => undefined);
  await Promise.all([copy(child.stdout, stdout), copy(child.stderr, stderr)]);
  return ended;
}

function portsOf(fake: FakeRuntime): PortConnection {
  return {
    type: 'ports',
    connect: (port) =>
      new Promise<ByteConnection>((resolve, reject) => {
        const real = fake.ports.get(port);
        if (real === undefined) return reject(new Error('connection refused'));
        const socket = connect(real, '127.0.0.1');
        socket.once('error', reject);
        socket.once('connect', () => {
          fake.open.ports++;
          socket.once('close', () => fake.open.ports--);
          socket.on('error', () => undefined);
          const { readable, writable } = Duplex.toWeb(socket);
          resolve({ readable, writable } as ByteConnection);
        });
      }),
  };
}
