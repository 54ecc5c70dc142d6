/** The in-process agent: HTTP without sockets. */
import { Agent, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { createInProcessConnection } from '../../../src/node/in-process-agent.js';
import {
  connectKubeConfig,
  createInProcessAgent,
  type InProcessAgent,
  type InProcessAgentOptions,
  type RequestContextLike,
} from '../../../src/node/index.js';

const NAMESPACES = '/api/v1/namespaces';
const CONFIG_MAPS = `${NAMESPACES}/default/configmaps`;

function sendRequest(url: string, options: RequestOptions, body?: string): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? secureRequest : plainRequest;
  return new Promise((resolve, reject) => send(url, options, resolve).on('error', reject).end(body));
}

/** The number of connections of the agent, in use and idle. */
function connections({ sockets, freeSockets }: InProcessAgent): [number, number] {
  const count = (all: NodeJS.ReadOnlyDict<unknown[]>): number => Object.values(all).flat().length;
  return [count(sockets), count(freeSockets)];
}

describe('createInProcessAgent', () => {
  test('serves every host, for http and https URLs', async () => {
    const agent = createInProcessAgent(createCluster());
    for (const origin of [agent.url, 'http://127.0.0.1:6443', 'https://production.example', 'https://[::1]:1']) {
      const response = await sendRequest(origin + NAMESPACES, { agent });
      expect([origin, response.statusCode]).toEqual([origin, 200]);
      expect(JSON.parse(await textOf(response))).toMatchObject({ kind: 'NamespaceList' });
    }
  });

  test('returns an agent of Node that keeps connections alive', async () => {
    const agent = createInProcessAgent(createCluster());
    expect(agent).toBeInstanceOf(Agent);
    for (let count = 0; count < 3; count++) {
      const response = await sendRequest(agent.url + NAMESPACES, { agent });
      await textOf(response);
      await new Promise(setImmediate);
      expect(connections(agent)).toEqual([0, 1]);
    }
    agent.destroy();
    await new Promise(setImmediate);
    expect(connections(agent)).toEqual([0, 0]);
    expect((await sendRequest(agent.url + NAMESPACES, { agent })).statusCode).toBe(200);
  });

  test('transfers bodies of any size in both directions', async () => {
    const cluster = createCluster();
    const agent = createInProcessAgent(cluster);
    const data = { big: 'ü'.repeat(400_000) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'big' }, data };
    const headers = { 'content-type': 'application/json' };
    const sent = await sendRequest(agent.url + CONFIG_MAPS, { agent, method: 'POST', headers }, JSON.stringify(object));
    expect(sent.statusCode).toBe(201);
    expect(JSON.parse(await textOf(sent))).toMatchObject({ data });
    expect((await cluster.api(ConfigMap).get('big')).data).toEqual(data);
  });

  test('authenticates clients by their tokens', async () => {
    const groups = ['system:masters'];
    const tokens = { a: { user: 'alice', groups }, b: { user: 'bob', groups } };
    const agent = createInProcessAgent(createCluster(), { tokens });
    const status = async (token: string): Promise<unknown> =>
      (await sendRequest(agent.url + NAMESPACES, { agent, headers: { authorization: `Bearer ${token}` } })).statusCode;
    expect(agent.token).toBe('a');
    expect(agent.kubeconfig).toContain('token: "a"');
    expect([await status('a'), await status('b'), await status('c')]).toEqual([200, 200, 401]);
    expect((await sendRequest(agent.url + NAMESPACES, { agent })).statusCode).toBe(403);
    expect(createInProcessAgent(createCluster()).token).toBeUndefined();
  });

  test('rejects unknown options and tokens without users', () => {
    const misspelt = { token: 'secret' } as InProcessAgentOptions;
    expect(() => createInProcessAgent(createCluster(), misspelt)).toThrow(
      'createInProcessAgent has no option "token"; it has tokens, authenticate, flowControl, pacing, log, codecs, aggregate, showHiddenMetricsForVersion, onError',
    );
    const invalid = { tokens: { secret: 'alice' } } as unknown as InProcessAgentOptions;
    expect(() => createInProcessAgent(createCluster(), invalid)).toThrow(TypeError);
  });

  test('logs a line for each request when logging is enabled', async () => {
    const lines: string[] = [];
    const agent = createInProcessAgent(createCluster(), { log: (line) => lines.push(line) });
    await textOf(await sendRequest(agent.url + NAMESPACES, { agent }));
    expect(lines).toEqual([expect.stringMatching(/ GET \/api\/v1\/namespaces 200 \d+B /)]);
  });

  test('streams a watch and ends it on both sides when the agent is destroyed', async () => {
    const cluster = createCluster();
    let over: (line: string) => void = () => undefined;
    const line = new Promise<string>((resolve) => {
      over = resolve;
    });
    const agent = createInProcessAgent(cluster, { log: (each) => over(each) });
    const watching = await sendRequest(`${agent.url}${CONFIG_MAPS}?watch=true`, { agent });
    const events = watching[Symbol.asyncIterator]();
    await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
    expect(String((await events.next()).value)).toMatch(/^\{"type":"ADDED"/);
    const rest = events.next();
    agent.destroy();
    await expect(rest).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await line).toMatch(/ 200 \d+B \S+ms cut/);
  });

  test('ends the watch of a client that disconnects', async () => {
    let over: (line: string) => void = () => undefined;
    const line = new Promise<string>((resolve) => {
      over = resolve;
    });
    const agent = createInProcessAgent(createCluster(), { log: (each) => over(each) });
    const watching = await sendRequest(`${agent.url}${CONFIG_MAPS}?watch=true`, { agent });
    watching.destroy();
    expect(await line).toContain('cut');
  });
});

describe('connect of an in-process agent', () => {
  /** An agent of the undici that Node contains. Node creates the global one with the first `fetch`. */
  async function undiciAgent(agent: InProcessAgent): Promise<object> {
    await fetch('data:,');
    const symbol = Symbol.for('undici.globalDispatcher.1');
    const { constructor: Agent } = (globalThis as unknown as Record<symbol, object>)[symbol] ?? {};
    return new (Agent as new (options: object) => object)({ connect: agent.connect });
  }

  test('serves undici, whatever the protocol and host, until the agent is destroyed', async () => {
    const cluster = createCluster();
    const agent = createInProcessAgent(cluster);
    const init = { dispatcher: await undiciAgent(agent) } as RequestInit;
    for (const origin of [agent.url, 'https://production.example']) {
      expect(await (await fetch(origin + NAMESPACES, init)).json()).toMatchObject({ kind: 'NamespaceList' });
    }
    const { body } = await fetch(`${agent.url}${CONFIG_MAPS}?watch=true`, init);
    const reader = body?.getReader();
    await cluster.api(ConfigMap).create({ metadata: { name: 'web' } });
    expect(String(Buffer.from((await reader?.read())?.value ?? []))).toMatch(/^\{"type":"ADDED"/);
    const rest = reader?.read();
    agent.destroy();
    await expect(rest).rejects.toThrow(TypeError);
    expect((await fetch(agent.url + NAMESPACES, init)).status).toBe(200);
  });
});

describe('an in-process connection', () => {
  test('transfers bytes in both directions and ends cleanly', async () => {
    const [client, server] = createInProcessConnection();
    client.end('question');
    const [question] = await Promise.all([textOf(server), textOf(client)]);
    expect(question).toBe('question');
    expect([client.destroyed, server.destroyed]).toEqual([true, true]);
  });

  test('applies back pressure to the writer', async () => {
    const [client, server] = createInProcessConnection();
    const chunk = Buffer.alloc(16 * 1024);
    let written = 0;
    while (client.write(chunk)) written += 1;
    expect(written).toBeLessThan(8);
    const drained = new Promise<void>((resolve) => client.once('drain', resolve));
    server.resume();
    await drained;
    expect(client.writableLength).toBe(0);
  });

  test('delivers data that was written before it is destroyed', async () => {
    const [client, server] = createInProcessConnection();
    server.write('last bytes');
    server.destroy();
    expect(await textOf(client)).toBe('last bytes');
  });

  test('reports a destroyed end to the peer and to pending writes', async () => {
    const [client, server] = createInProcessConnection();
    const closed = new Promise<void>((resolve) => server.once('close', resolve));
    while (client.write(Buffer.alloc(16 * 1024)));
    client.destroy();
    server.resume();
    await closed;
    expect([client.destroyed, server.destroyed]).toEqual([true, true]);
  });
});

describe('connectKubeConfig', () => {
  /** The parts of a KubeConfig that the library reads. */
  class Config {
    loaded = '';
    cluster: object | null = null;
    readonly calls: string[] = [];

    getCurrentCluster(): object | null {
      return this.cluster;
    }
    loadFromString(text: string): void {
      this.loaded = text;
    }
    async applyToHTTPSOptions(options: { agent?: unknown; headers?: object }): Promise<void> {
      this.calls.push('options');
      options.agent = 'its own';
      options.headers = { authorization: 'Bearer mine' };
    }
    async applySecurityAuthentication(context: RequestContextLike): Promise<void> {
      this.calls.push('context');
      context.setAgent?.(createInProcessAgent(createCluster()));
    }
  }

  test('loads the kubeconfig of the agent only when there is none', () => {
    const agent = createInProcessAgent(createCluster());
    const empty = new Config();
    expect(connectKubeConfig(empty, agent)).toBe(empty);
    expect(empty.loaded).toBe(agent.kubeconfig);
    const full = new Config();
    full.cluster = { server: 'https://production.example' };
    expect(connectKubeConfig(full, agent).loaded).toBe('');
  });

  test('connects the dispatchers of a KubeConfig that uses undici, and shares the first', async () => {
    const agent = createInProcessAgent(createCluster());
    /** Release 2: creates a dispatcher from the described options for each request. */
    class UndiciConfig extends Config {
      createDispatcherOptions(): object {
        return { type: 'none' };
      }
      override async applySecurityAuthentication(context: RequestContextLike): Promise<void> {
        context.setDispatcher?.({ options: this.createDispatcherOptions() });
      }
    }
    const config = connectKubeConfig(new UndiciConfig(), agent);
    const dispatchers: unknown[] = [];
    for (let count = 0; count < 2; count++) {
      let current: object | undefined;
      await config.applySecurityAuthentication({
        setHeaderParam: () => undefined,
        getDispatcher: () => current,
        setDispatcher: (each) => {
          current = each;
        },
      });
      dispatchers.push(current);
    }
    expect(dispatchers[0]).toEqual({ options: { type: 'agent', connect: agent.connect } });
    expect(dispatchers[1]).toBe(dispatchers[0]);
  });

  test('replaces only the agent of a KubeConfig', async () => {
    const agent = createInProcessAgent(createCluster());
    const config = connectKubeConfig(new Config(), agent);
    const options: { agent?: unknown } = {};
    await config.applyToHTTPSOptions(options);
    expect(options).toEqual({ agent, headers: { authorization: 'Bearer mine' } });
    const agents: unknown[] = [];
    await config.applySecurityAuthentication({
      setHeaderParam: () => undefined,
      setAgent: (each) => agents.push(each),
    });
    expect(agents.at(-1)).toBe(agent);
    expect(config.calls).toEqual(['options', 'context']);
  });
});
