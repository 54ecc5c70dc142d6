/**
 * The bridge that connects the network namespaces of pods, and the addresses of Services and of cluster DNS on it.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import type { ByteConnection, SocketAddress, Sockets } from '../../protocol/connection.js';
import { nodeSockets } from '../pod-sockets.js';
import { answerQuery } from './dns-message.js';

const run = promisify(execFile);

export const BRIDGE = 'orchplane0';
/** The last address of the range of pods. */
const BRIDGE_ADDRESS = '10.244.255.254';
const DNS_ADDRESS = '10.0.0.10';
const DNS_PORT = 53;

let created: Promise<void> | undefined;

/** Creates the bridge. It stays when the process ends, because another process may use it. */
export function createBridge(): Promise<void> {
  created ??= addBridge().catch((error: unknown) => {
    created = undefined;
    throw error;
  });
  return created;
}

async function addBridge(): Promise<void> {
  await addUnlessPresent(['link', 'add', BRIDGE, 'type', 'bridge']);
  await addUnlessPresent(['addr', 'add', `${BRIDGE_ADDRESS}/16`, 'dev', BRIDGE]);
  await run('ip', ['link', 'set', BRIDGE, 'up']);
}

/** Whether it was added. */
async function addUnlessPresent(args: readonly string[]): Promise<boolean> {
  try {
    await run('ip', args);
    return true;
  } catch (error) {
    if (!/File exists|already assigned/.test(String(error))) throw error;
    return false;
  }
}

/** The number of listeners by address. An address that this process added is removed with its last listener. */
const listeners = new Map<string, { count: number; isOwn: boolean }>();

async function addAddress(host: string): Promise<void> {
  const known = listeners.get(host) ?? { count: 0, isOwn: false };
  known.count++;
  listeners.set(host, known);
  if (await addUnlessPresent(['addr', 'add', `${host}/32`, 'dev', BRIDGE])) known.isOwn = true;
}

/** Synchronous, so that nothing is left when the cluster is closed. */
function removeAddress(host: string): void {
  const known = listeners.get(host);
  if (known === undefined || --known.count > 0) return;
  listeners.delete(host);
  if (!known.isOwn) return;
  try {
    execFileSync('ip', ['addr', 'del', `${host}/32`, 'dev', BRIDGE], { stdio: 'pipe' });
  } catch (error) {
    console.error(`orchplane: the address ${host} is left: ${String(error)}`);
  }
}

/** Creates a network namespace with an interface on the bridge. */
export async function addNetwork(name: string, address: string): Promise<void> {
  await createBridge();
  // Left by a process that was killed.
  await run('ip', ['netns', 'del', name]).catch(() => undefined);
  await run('ip', ['netns', 'add', name]);
  await run('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
  await run('ip', ['link', 'set', name, 'master', BRIDGE, 'up']);
  await run('ip', ['-n', name, 'addr', 'add', `${address}/16`, 'dev', 'eth0']);
  await run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
  await run('ip', ['-n', name, 'link', 'set', 'eth0', 'up']);
  await run('ip', ['-n', name, 'route', 'add', 'default', 'via', BRIDGE_ADDRESS]);
}

/**
 * The option `sockets` of a runtime whose images are processes in namespaces: they reach Services, node ports and cluster
 * DNS at their addresses.
 */
export const bridgeSockets: Sockets = Object.freeze({ ...nodeSockets, publish, publishDns });

function publish(
  { host, port }: SocketAddress,
  accept: (connection: ByteConnection, remoteAddress: string) => void,
): () => void {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const { remoteAddress = '' } = socket;
    // A reset is reported to the readers of the connection, too.
    socket.on('error', () => socket.destroy());
    accept(Duplex.toWeb(socket) as ByteConnection, remoteAddress);
  });
  return listenAt(
    host,
    () => server.listen({ host, port }),
    () => server.close(),
    server,
  );
}

function publishDns(resolve: (name: string, remoteAddress: string) => readonly string[]): () => void {
  const undoTcp = publishDnsOverTcp(resolve);
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const answer = answerQuery(query, (name) => resolve(name, address));
    if (answer !== undefined) socket.send(answer, port, address);
  });
  const undoUdp = listenAt(
    DNS_ADDRESS,
    () => socket.bind({ address: DNS_ADDRESS, port: DNS_PORT }),
    () => socket.close(),
    socket,
  );
  return () => {
    undoTcp();
    undoUdp();
  };
}

/** Over TCP, each message has its length in front. */
function publishDnsOverTcp(resolve: (name: string, remoteAddress: string) => readonly string[]): () => void {
  const server = createServer((socket) => {
    const { remoteAddress = '' } = socket;
    let received = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    // A client that does not read its answers cannot send more questions.
    socket.on('drain', () => socket.resume());
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const answer = answerQuery(received.subarray(2, end), (name) => resolve(name, remoteAddress));
        received = received.subarray(end);
        if (answer === undefined) return socket.destroy();
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        if (!socket.write(Buffer.concat([length, answer]))) socket.pause();
      }
      return socket;
    });
  });
  const listen = () => server.listen({ host: DNS_ADDRESS, port: DNS_PORT });
  return listenAt(DNS_ADDRESS, listen, () => server.close(), server);
}

/** Adds the address to the bridge and listens there. Errors are printed: the rest of the cluster works without. */
function listenAt(
  host: string,
  listen: () => unknown,
  close: () => unknown,
  events: { on(event: 'error', listener: (error: Error) => void): unknown },
): () => void {
  const print = (error: unknown) => console.error(`orchplane: nothing listens on ${host}: ${String(error)}`);
  let isClosed = false;
  let isListening = false;
  events.on('error', print);
  const start = async (): Promise<void> => {
    await createBridge();
    if (isClosed) return;
    await addAddress(host);
    if (isClosed) {
      removeAddress(host);
      return;
    }
    isListening = true;
    listen();
  };
  start().catch(print);
  return () => {
    isClosed = true;
    if (!isListening) return;
    close();
    removeAddress(host);
  };
}
