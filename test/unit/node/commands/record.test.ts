/** `orchplane record` and `orchplane replay`. */
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, createClient, createCluster } from 'orchplane';
import { ConfigMap, Pod, ServiceAccount } from 'orchplane/kinds';
import { kubeconfigTransport, serve } from 'orchplane/node';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parseRecording, RECORDING_HEADER, type RecordedExchange } from '../../../../src/http/recording.js';
import { RecordedAnswers } from '../../../../src/node/commands/replay-server.js';
import { kubeconfigBackend } from '../../../../src/node/kubeconfig-transport.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { switchingServer } from '../sockets.js';
import { type CommandResult, run } from './run.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orchplane-record-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

function newCluster(): Cluster {
  const cluster = createCluster({ dialect: 'kubernetes' });
  onTestFinished(() => cluster.close());
  return cluster;
}

async function served(cluster: Cluster): Promise<string> {
  const server = await serve(cluster, { token: 'the-admin-token', tls: true });
  onTestFinished(() => server.close());
  return server.kubeconfig;
}

interface Running {
  /** The kubeconfig that the command prints. */
  readonly kubeconfig: string;
  /** Stops the command. */
  end(): Promise<CommandResult>;
}

/** Starts a command that prints a kubeconfig and runs until it is stopped. */
async function started(args: readonly string[]): Promise<Running> {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  let result: Promise<CommandResult> | undefined;
  let isStarted = false;
  const kubeconfig = await new Promise<string>((resolve, reject) => {
    result = run(args, {
      stop: stopped,
      onOutput(out) {
        const [, path] = /KUBECONFIG='([^']+)'/.exec(out) ?? [];
        if (path === undefined || isStarted) return;
        isStarted = true;
        resolve(readFileSync(path, 'utf8'));
      },
    });
    void result.then(({ err }) => reject(new Error(`the command ended: ${err}`)));
  });
  return {
    kubeconfig,
    end() {
      stop();
      return result as Promise<CommandResult>;
    },
  };
}

async function recorded(
  file: string,
  cluster: Cluster,
  work: (kubeconfig: string) => Promise<void>,
): Promise<CommandResult> {
  const command = await started(['record', '-o', file, '--kubeconfig', await served(cluster)]);
  await work(command.kubeconfig);
  return command.end();
}

const kubeconfigFor = (server: string): string =>
  JSON.stringify({
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'c' } }],
    clusters: [{ name: 'c', cluster: { server } }],
  });

const clientOf = (kubeconfig: string) => createClient({ transport: kubeconfigTransport(kubeconfig) });

const exchangesIn = (file: string): readonly RecordedExchange[] => parseRecording(readFileSync(file, 'utf8'));

/** Creates, changes, watches and deletes objects. */
async function useCluster(kubeconfig: string): Promise<void> {
  const configMaps = clientOf(kubeconfig).api(ConfigMap);
  const watched: string[] = [];
  const { resourceVersion } = (await configMaps.list()).metadata;
  const watching = (async () => {
    for await (const event of configMaps.watch({ resourceVersion })) {
      watched.push(event.type);
      if (event.type === 'DELETED') break;
    }
  })();
  const created = await configMaps.create({ metadata: { generateName: 'a-' }, data: { x: '1' } });
  await configMaps.update({ ...created, data: { x: '2' } });
  await configMaps.get(created.metadata.name);
  await expect(configMaps.get('missing')).rejects.toMatchObject({ reason: 'NotFound' });
  await configMaps.list();
  await configMaps.delete(created.metadata.name);
  await watching;
  expect(watched).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
}

describe('record', () => {
  test('forwards requests and writes every exchange, without credentials', async () => {
    const file = join(folder, 'r.jsonl');
    const { code, out, err } = await recorded(file, newCluster(), useCluster);
    const exchanges = exchangesIn(file);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`wrote ${exchanges.length} exchanges to ${file}\n$`));
    expect(exchanges.map(({ method, status }) => `${method} ${status}`)).toEqual(
      expect.arrayContaining(['POST 201', 'PUT 200', 'GET 404', 'GET 200', 'DELETE 200']),
    );
    const created = exchanges.find(({ method }) => method === 'POST');
    expect(created).toMatchObject({ path: '/api/v1/namespaces/default/configmaps', status: 201 });
    expect(JSON.parse(String(created?.requestBody))).toMatchObject({ kind: 'ConfigMap', data: { x: '1' } });
    expect(JSON.parse(String(created?.responseBody))).toMatchObject({ metadata: { generateName: 'a-' } });
    const watch = exchanges.find(({ path }) => path.includes('watch=true'));
    expect(watch?.stream?.map(([, text]) => text).join('')).toMatch(/ADDED.*MODIFIED.*DELETED/s);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/authorization|Bearer|the-admin-token/i);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test('writes no tokens of service accounts', async () => {
    const file = join(folder, 'r.jsonl');
    const cluster = newCluster();
    await cluster.api(ServiceAccount).create({ metadata: { name: 'robot' } });
    let token = '';
    await recorded(file, cluster, async (kubeconfig) => {
      const { url, token: bearer, fetch } = kubeconfigBackend(kubeconfig);
      const response = await fetch(
        new Request(`${url}/api/v1/namespaces/default/serviceaccounts/robot/token`, {
          method: 'POST',
          headers: { authorization: `Bearer ${String(bearer)}`, 'content-type': 'application/json' },
          body: JSON.stringify({ kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} }),
        }),
      );
      ({
        status: { token },
      } = (await response.json()) as { status: { token: string } });
    });
    expect(token.length).toBeGreaterThan(100);
    expect(readFileSync(file, 'utf8')).not.toContain(token);
    expect(readFileSync(file, 'utf8')).toContain('\\"token\\":\\"redacted\\"');
  });

  test.each(['%74oken', 'token/', '/token', 'x/../token'])('writes no tokens for the path %s either', async (last) => {
    const file = join(folder, 'r.jsonl');
    const backend = createServer((_incoming, response) => {
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"status": {"token": "the-secret"}}');
    });
    await listening(backend);
    const config = kubeconfigFor(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
    const command = await started(['record', '-o', file, '--kubeconfig', config]);
    const { url, token, agent } = kubeconfigBackend(command.kubeconfig);
    const options = { agent, method: 'POST', headers: { authorization: `Bearer ${String(token)}` } };
    const path = `/api/v1/namespaces/default/serviceaccounts/robot/${last}`;
    await new Promise((resolve, reject) => {
      const onAnswer = (answer: IncomingMessage) => answer.resume().on('end', resolve);
      const outgoing = request(url, { ...options, path }, onAnswer);
      outgoing.on('error', reject).end();
    });
    await command.end();
    expect(readFileSync(file, 'utf8')).not.toContain('the-secret');
    expect(exchangesIn(file)).toMatchObject([{ path, status: 201 }]);
    backend.close();
  });

  test('continues when a server breaks the encoding of an answer', async () => {
    const file = join(folder, 'r.jsonl');
    let breakOff = (): unknown => undefined;
    const backend = createServer((incoming, response) => {
      if (incoming.url !== '/api/v1/odd') return void response.end('{}');
      incoming.socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
      breakOff = () => incoming.socket.write('ZZZ\r\nbad');
    });
    await listening(backend);
    const config = kubeconfigFor(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
    const command = await started(['record', '-o', file, '--kubeconfig', config]);
    const { url, token, fetch } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}` };
    const odd = await fetch(new Request(`${url}/api/v1/odd`, { headers }));
    breakOff();
    await expect(odd.text()).rejects.toThrow();
    expect((await fetch(new Request(`${url}/api/v1/pods`, { headers }))).status).toBe(200);
    expect((await command.end()).code).toBe(0);
    expect(exchangesIn(file)).toMatchObject([{ path: '/api/v1/odd', isCut: true }, { path: '/api/v1/pods' }]);
    backend.close();
  });

  test('passes a body of more than 64 MiB on and records that it is cut', async () => {
    const file = join(folder, 'r.jsonl');
    const part = Buffer.alloc(5 << 20, 'x');
    const backend = createServer((_incoming, response) => {
      for (let at = 0; at < 13; at++) response.write(part);
      response.end();
    });
    await listening(backend);
    const config = kubeconfigFor(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
    const command = await started(['record', '-o', file, '--kubeconfig', config]);
    const { url, token, fetch } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}` };
    const { body } = await fetch(new Request(`${url}/api/v1/long`, { headers }));
    let length = 0;
    for await (const chunk of body as AsyncIterable<Uint8Array>) length += chunk.length;
    expect(length).toBe(13 * part.length);
    expect((await command.end()).code).toBe(0);
    const [exchange] = exchangesIn(file);
    expect(exchange).toMatchObject({ path: '/api/v1/long', status: 200, isCut: true });
    expect(exchange?.responseBody).toBeUndefined();
    backend.close();
  });

  test('passes a request body of more than 3 MiB on and records that it is cut', async () => {
    const file = join(folder, 'r.jsonl');
    const received: number[] = [];
    const backend = createServer(async (incoming, response) => {
      let length = 0;
      for await (const chunk of incoming as AsyncIterable<Buffer>) length += chunk.length;
      received.push(length);
      response.end(String(incoming.headers['content-length']));
    });
    await listening(backend);
    const config = kubeconfigFor(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
    const command = await started(['record', '-o', file, '--kubeconfig', config]);
    const { url, token, agent } = kubeconfigBackend(command.kubeconfig);
    const path = '/api/v1/namespaces/default/services/s/proxy/';
    const authorization = `Bearer ${String(token)}`;
    const send = async (body: string, framing: OutgoingHttpHeaders = { 'content-length': body.length }) => {
      const headers = { authorization, ...framing };
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const outgoing = request(`${url}${path}`, { method: 'DELETE', agent, headers }, resolve).on('error', reject);
        outgoing.end(body);
      });
      return (await answer.toArray()).join('');
    };
    const limit = 3 * 1024 * 1024;
    expect(await send('x'.repeat(limit))).toBe(String(limit));
    expect(await send('x'.repeat(4 * limit))).toBe(String(4 * limit));
    expect(await send('x'.repeat(4 * limit), { 'transfer-encoding': 'chunked' })).toBe('undefined');
    expect(received).toEqual([limit, 4 * limit, 4 * limit]);
    expect((await command.end()).code).toBe(0);
    const [whole, ...long] = exchangesIn(file);
    expect(whole?.requestBody).toHaveLength(limit);
    expect(whole?.isCut).toBeUndefined();
    expect(long).toMatchObject([
      { path, status: 200, isCut: true, responseBody: String(4 * limit) },
      { path, status: 200, isCut: true, responseBody: 'undefined' },
    ]);
    for (const { requestBody } of long) expect(requestBody).toBeUndefined();
    backend.close();
  });

  test('passes on the answer of a server that does not read a long request body', async () => {
    const file = join(folder, 'r.jsonl');
    const command = await started(['record', '-o', file, '--kubeconfig', await served(newCluster())]);
    const { url, token, fetch } = kubeconfigBackend(command.kubeconfig);
    const path = `${url}/api/v1/namespaces/default/configmaps`;
    const headers = { authorization: `Bearer ${String(token)}`, 'content-type': 'application/json' };
    const post = (length: number) =>
      fetch(new Request(path, { method: 'POST', headers, body: '{"data":{}}'.padEnd(length) }));
    const refused = await post(20 * 1024 * 1024);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ message: 'Request entity too large: limit is 3145728' });
    // The longest body that the server reads.
    expect((await post(3 * 1024 * 1024)).status).toBe(422);
    expect((await command.end()).code).toBe(0);
    expect(exchangesIn(file).map(({ status }) => status)).toEqual([413, 422]);
  });

  test('keeps what a watch has received when the recording ends', async () => {
    const file = join(folder, 'r.jsonl');
    const cluster = newCluster();
    await recorded(file, cluster, async (kubeconfig) => {
      const watch = clientOf(kubeconfig).api(ConfigMap).watch({ resourceVersion: '1' });
      await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
      await watch[Symbol.asyncIterator]().next();
    });
    expect(exchangesIn(file)).toMatchObject([
      { isCut: true, stream: [[expect.any(Number), expect.stringContaining('ADDED')]] },
    ]);
  });

  test('refuses clients without the token of its kubeconfig', async () => {
    const command = await started([
      'record',
      '-o',
      join(folder, 'r.jsonl'),
      '--kubeconfig',
      await served(newCluster()),
    ]);
    const { url, fetch } = kubeconfigBackend(command.kubeconfig);
    expect((await fetch(new Request(`${url}/api/v1/secrets`))).status).toBe(401);
    expect((await command.end()).out).toContain('wrote 0 exchanges');
  });

  test('answers with 502 when the recorded server cannot be reached', async () => {
    const config = kubeconfigFor('http://127.0.0.1:1');
    const command = await started(['record', '-o', join(folder, 'r.jsonl'), '--kubeconfig', config]);
    const { url, token, fetch } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}` };
    const response = await fetch(new Request(`${url}/api/v1/pods`, { headers }));
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('the recorded server cannot be reached'),
    });
    expect((await command.end()).err).toContain('GET /api/v1/pods failed');
  });

  test('answers with 502 when the recorded server switches protocols without being asked to', async () => {
    await using server = await switchingServer();
    const command = await started(['record', '-o', join(folder, 'r.jsonl'), '--kubeconfig', kubeconfigFor(server.url)]);
    const { url, token, fetch } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}` };
    const response = await fetch(new Request(`${url}/api/v1/pods`, { headers }));
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ message: expect.stringContaining('socket hang up') });
    await command.end();
  });

  test('forwards upgraded connections and says that their content is not recorded', async () => {
    const backend = createServer();
    backend.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.pipe(socket);
    });
    await listening(backend);
    const { port } = backend.address() as AddressInfo;
    const config = kubeconfigFor(`http://127.0.0.1:${port}`);
    const file = join(folder, 'r.jsonl');
    const command = await started(['record', '-o', file, '--kubeconfig', config]);
    const { url, token, agent } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}`, connection: 'Upgrade', upgrade: 'echo' };
    const outgoing = request(`${url}/api/v1/namespaces/default/pods/p/exec?command=ls`, { agent, headers });
    const echoed = await new Promise<string>((resolve, reject) => {
      outgoing.on('error', reject).on('upgrade', (_answer, socket) => {
        socket.on('data', (data) => {
          resolve(String(data));
          socket.destroy();
        });
        socket.write('hello');
      });
      outgoing.end();
    });
    expect(echoed).toBe('hello');
    expect((await command.end()).err).toContain('/exec?command=ls is forwarded, but its content is not recorded');
    expect(exchangesIn(file)).toMatchObject([{ isUpgrade: true, status: 101 }]);
    backend.close();
  });

  test('ends upgraded connections when it stops', async () => {
    const backend = createServer();
    const remoteClosed = new Promise<void>((resolve) => {
      backend.on('upgrade', (_request, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
        // Sockets of a server stay open for writing.
        socket.on('error', () => undefined).on('end', () => socket.end(resolve));
        socket.resume();
      });
    });
    await listening(backend);
    const config = kubeconfigFor(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
    const command = await started(['record', '-o', join(folder, 'r.jsonl'), '--kubeconfig', config]);
    const { url, token, agent } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}`, connection: 'Upgrade', upgrade: 'echo' };
    const outgoing = request(`${url}/api/v1/namespaces/default/pods/p/attach`, { agent, headers });
    const clientClosed = new Promise<void>((resolve, reject) => {
      outgoing.on('error', reject).on('upgrade', (_answer, socket) => {
        socket.on('error', () => undefined).on('close', () => resolve());
        socket.resume();
        void command.end();
      });
    });
    outgoing.end();
    await Promise.all([clientClosed, remoteClosed]);
    expect((await command.end()).code).toBe(0);
    backend.close();
  });

  test('forwards repeated headers, but not those of the connection', async () => {
    let received: IncomingMessage | undefined;
    const backend = createServer((incoming, response) => {
      received = incoming;
      response.setHeader('warning', ['299 - "a"', '299 - "b"']);
      response.writeHead(200, { connection: 'x-hop', 'x-hop': '1' }).end('{}');
    });
    await listening(backend);
    const config = kubeconfigFor(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
    const command = await started(['record', '-o', join(folder, 'r.jsonl'), '--kubeconfig', config]);
    const { url, token, agent } = kubeconfigBackend(command.kubeconfig);
    const headers = {
      authorization: `Bearer ${String(token)}`,
      'impersonate-group': ['a', 'b'],
      connection: 'keep-alive, x-own',
      'x-own': '1',
      te: 'trailers',
    };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${url}/api/v1/pods`, { agent, headers }, resolve).on('error', reject).end();
    });
    answer.resume();
    expect(received?.headersDistinct['impersonate-group']).toEqual(['a', 'b']);
    expect(received?.headers).not.toHaveProperty('x-own');
    expect(received?.headers).not.toHaveProperty('te');
    expect(received?.headers).not.toHaveProperty('authorization');
    expect(answer.headersDistinct['warning']).toEqual(['299 - "a"', '299 - "b"']);
    expect(answer.headers).not.toHaveProperty('x-hop');
    await command.end();
    backend.close();
  });

  test('writes a long watch in parts while it lasts, and reads it as one exchange', async () => {
    const file = join(folder, 'r.jsonl');
    const event = `${JSON.stringify({ type: 'ADDED', object: { text: 'é'.repeat(600_000) } })}\n`;
    let stream: ServerResponse | undefined;
    const backend = createServer((_incoming, response) => {
      stream = response;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(event + event);
    });
    await listening(backend);
    const config = kubeconfigFor(`http://127.0.0.1:${(backend.address() as AddressInfo).port}`);
    const command = await started(['record', '-o', file, '--kubeconfig', config]);
    const { url, token, agent } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}` };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${url}/api/v1/pods?watch=true`, { agent, headers }, resolve).on('error', reject).end();
    });
    answer.resume();
    await expect.poll(() => readFileSync(file, 'utf8').includes('"isContinued":true')).toBe(true);
    // A recorder that is killed leaves a part of the watch.
    expect(exchangesIn(file)).toMatchObject([{ path: '/api/v1/pods?watch=true', isCut: true }]);
    stream?.end(event);
    await new Promise((resolve) => answer.on('end', resolve));
    expect((await command.end()).out).toContain('wrote 1 exchange to');
    const [exchange, ...others] = exchangesIn(file);
    expect(others).toEqual([]);
    expect(exchange?.isCut).toBeUndefined();
    expect(exchange?.stream?.map(([, text]) => text).join('')).toBe(event + event + event);
    backend.close();
  });

  test('refuses an empty host, for which Node listens on all addresses', async () => {
    const args = ['-o', join(folder, 'f'), '--host', '', '--kubeconfig', await served(newCluster())];
    const err = 'orchplane: --host takes an address, such as 127.0.0.1\n';
    expect(await run(['record', ...args])).toEqual({ code: 2, out: '', err });
    expect(await run(['serve', '--host', ''])).toEqual({ code: 2, out: '', err });
  });

  test('names a host that it cannot listen on', async () => {
    const args = ['-o', join(folder, 'f'), '--host', '203.0.113.1', '--kubeconfig', await served(newCluster())];
    expect((await run(['record', ...args])).err).toMatch(
      /^orchplane: --host 203\.0\.113\.1: [^\n]*EADDRNOTAVAIL[^\n]*\n$/,
    );
  });

  test('does not touch an existing recording when an option is wrong', async () => {
    const file = join(folder, 'old.jsonl');
    writeFileSync(file, 'old');
    const { code, err } = await run(['record', '-o', file, '--port', 'x', '--kubeconfig', await served(newCluster())]);
    expect({ code, err }).toEqual({ code: 2, err: 'orchplane: --port takes a number from 0 to 65535, got "x"\n' });
    expect(readFileSync(file, 'utf8')).toBe('old');
    const link = join(folder, 'link.jsonl');
    symlinkSync(file, link);
    expect(await run(['record', '-o', link, '--kubeconfig', await served(newCluster())])).toMatchObject({
      code: 2,
      err: `orchplane: ${link} is a symbolic link; it is left as it is\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('old');
  });

  test.each([
    ['record', 'record needs --output, the file to write'],
    ['record -o f x', 'unexpected "x"'],
    ['record -o f', 'no cluster is named'],
    ['replay', 'replay takes one file'],
    ['replay a b', 'replay takes one file'],
    ['replay nowhere', 'nowhere: no such file'],
    ['replay src', 'src: EISDIR'],
    ['replay package.json', 'package.json is not a recording of "orchplane record"'],
    ['replay a --port 1', '--port needs --serve'],
    ['replay a --serve --from b', '--serve and --from contradict each other'],
    ['replay a --serve --dialect orch', '--serve and --dialect contradict each other'],
    ['replay a --context c', '--context needs --kubeconfig'],
    ['replay a --token t', '--token needs --kubeconfig'],
    ['replay a --from b --kubeconfig c', '--from and --kubeconfig contradict each other'],
  ])('rejects "%s" with one line and exit code 2', async (line, problem) => {
    const { code, out, err } = await run(line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^orchplane: [^\n]+\n$/);
    expect(err).toContain(problem);
  });
});

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => void server.listen(0, '127.0.0.1', resolve));
}

describe('replay', () => {
  test('finds no differences between two clusters', async () => {
    const file = join(folder, 'r.jsonl');
    await recorded(file, newCluster(), useCluster);
    const { code, out } = await run(['replay', file]);
    expect(out).toMatch(/^compared \d+ answers: 0 different; \d+ not compared\n$/);
    expect(code).toBe(0);
    expect((await run(['replay', file, '--kubeconfig', await served(newCluster())])).code).toBe(0);
  });

  test('reports different answers and exits with 1', async () => {
    const file = join(folder, 'r.jsonl');
    await recorded(file, newCluster(), useCluster);
    const text = readFileSync(file, 'utf8')
      .replaceAll('\\"x\\":\\"2\\"}}', '\\"x\\":\\"3\\"}}')
      .replace('"status":404', '"status":403');
    writeFileSync(file, text);
    const { code, out } = await run(['replay', file]);
    expect(code).toBe(1);
    expect(out).toMatch(/^ {2}status code: recorded 403, answered 404$/m);
    const { different } = JSON.parse((await run(['replay', file, '-o', 'json'])).out);
    expect(different.length).toBeGreaterThan(0);
  });

  test('sends no request to another host, whatever recorded names stand for', async () => {
    const exchange = (id: number, method: string, path: string, requestBody: object, metadata: object) => ({
      ...{ id, time: '', method, path, requestHeaders: { 'content-type': 'application/json' }, status: 201 },
      ...{ requestBody: JSON.stringify(requestBody), responseHeaders: {}, responseBody: JSON.stringify({ metadata }) },
    });
    const [generateName, name] = ['.example.com#', '/api/v1/bbbbb'];
    const lines = [
      { kind: 'Recording', apiVersion: 'orchplane/v1' },
      exchange(
        1,
        'POST',
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        { metadata: { generateName } },
        { generateName, name },
      ),
      exchange(2, 'POST', `${name}/pods`, {}, {}),
    ];
    const file = join(folder, 'r.jsonl');
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const { code, err } = await run(['replay', file, '--kubeconfig', await served(newCluster())]);
    expect(err).toMatch(/^orchplane: the recording has a request to \.example\.com#\w{5}\/pods\n$/);
    expect(code).toBe(2);
  });

  test('names a server that does not answer', async () => {
    const file = join(folder, 'r.jsonl');
    await recorded(file, newCluster(), (kubeconfig) =>
      clientOf(kubeconfig)
        .api(Pod)
        .list()
        .then(() => undefined),
    );
    const { code, err } = await run(['replay', file, '--kubeconfig', kubeconfigFor('http://127.0.0.1:1')]);
    expect(code).toBe(2);
    expect(err).toMatch(/^orchplane: http:\/\/127\.0\.0\.1:1\/api\/v1\/[^\n]+ cannot be reached: [^\n]+\n$/);
  });

  test('starts from the state of an import', async () => {
    const cluster = newCluster();
    await cluster.api(Pod).create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const dump = join(folder, 'dump.json');
    await run(['import', '-o', dump, '--kubeconfig', await served(cluster)]);
    const file = join(folder, 'r.jsonl');
    await recorded(file, cluster, async (kubeconfig) => {
      const pods = clientOf(kubeconfig).api(Pod);
      await pods.get('p');
      await pods.list();
    });
    expect((await run(['replay', file])).code).toBe(1);
    expect(await run(['replay', file, '--from', dump])).toEqual({
      code: 0,
      out: 'compared 2 answers: 0 different; 0 not compared\n',
      err: '',
    });
  });

  test('answers a request for a path that is no URL', async () => {
    const file = join(folder, 'r.jsonl');
    writeFileSync(file, RECORDING_HEADER);
    const command = await started(['replay', file, '--serve']);
    const { url, token, agent } = kubeconfigBackend(command.kubeconfig);
    const headers = { authorization: `Bearer ${String(token)}` };
    for (const path of ['*:99999', '/a']) {
      const status = await new Promise((resolve, reject) => {
        request(url, { agent, headers, path }, ({ statusCode }) => resolve(statusCode))
          .on('error', reject)
          .end();
      });
      expect(status).toBe(404);
    }
    expect((await command.end()).code).toBe(0);
  });

  test.each<[string, object]>([
    ['status', { status: -1 }],
    ['status', { status: 1e9 }],
    ['header', { responseHeaders: { 'a\nb': 'c' } }],
    ['header', { responseHeaders: { a: 'b\nc' } }],
    ['header', { responseHeaders: { a: 5 } }],
    ['body', { responseBody: 5 }],
    ['body', { responseBody: { base64: 5 } }],
    ['stream', { stream: [[1e308, 'x']] }],
    ['stream', { stream: [[1, 5]] }],
    ['stream', { stream: [null] }],
    ['stream', { stream: 'x' }],
  ])('refuses a recording with an impossible %s', (_what, part) => {
    const exchange = {
      id: 1,
      time: '',
      method: 'GET',
      path: '/a',
      requestHeaders: {},
      status: 200,
      responseHeaders: {},
    };
    const text = (line: object) => `${RECORDING_HEADER}${JSON.stringify(line)}\n`;
    expect(parseRecording(text(exchange))).toHaveLength(1);
    expect(() => parseRecording(text({ ...exchange, ...part }))).toThrow('line 2');
  });

  test('reads long recordings in time proportional to their length', () => {
    const exchange = {
      id: 1,
      time: '',
      method: 'GET',
      path: '/a',
      requestHeaders: {},
      status: 200,
      responseHeaders: {},
    };
    const part = JSON.stringify({ ...exchange, stream: [[1, 'x']], isContinued: true });
    const same = Array.from({ length: 30_000 }, (_, id) => ({ ...exchange, id, status: id === 29_999 ? 404 : 200 }));
    const spentMs = cpuTimer();
    const [joined] = parseRecording(`${RECORDING_HEADER}${`${part}\n`.repeat(10_000)}`);
    const answers = new RecordedAnswers(same);
    const statuses = same.map(() => answers.next('GET', '/a')?.status);
    const tookMs = spentMs();
    expect(joined?.stream).toHaveLength(10_000);
    expect(statuses.indexOf(404)).toBe(29_999);
    expect(answers.next('GET', '/a')?.status).toBe(404);
    expect(tookMs).toBeLessThan(3_000);
  });

  test('serves recorded answers', async () => {
    const file = join(folder, 'r.jsonl');
    await recorded(file, newCluster(), async (kubeconfig) => {
      await run(['apply', '-f', '-', '--kubeconfig', kubeconfig], {
        stdin: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
      });
      await run(['get', 'cm', '--kubeconfig', kubeconfig]);
      await useCluster(kubeconfig);
    });
    const command = await started(['replay', file, '--serve']);
    const shown = await run(['get', 'cm', '--kubeconfig', command.kubeconfig]);
    expect(shown.out).toMatch(/^NAME +DATA +AGE\na +0 +\d+s\n$/);
    const watched: string[] = [];
    const configMaps = clientOf(command.kubeconfig).api(ConfigMap);
    for await (const { type } of configMaps.watch({ resourceVersion: '1' })) {
      watched.push(type);
      if (type === 'DELETED') break;
    }
    expect(watched).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    await expect(clientOf(command.kubeconfig).api(Pod).get('p')).rejects.toMatchObject({ code: 404 });
    const { code, err } = await command.end();
    expect({ code, err }).toEqual({
      code: 0,
      err: 'orchplane: not recorded: GET /api/v1/namespaces/default/pods/p\n',
    });
  });
});
