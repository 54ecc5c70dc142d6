/** The clients of a run: writers, whose operations are recorded, and watchers. */
import { Agent, type IncomingMessage, request } from 'node:http';
import type { SeededRandom } from 'orchplane/testing';
import { Replica, type Report, type Stored, type StoredEvent, type StoredList } from '../soak/checks.js';
import { eventsOf } from '../soak/readers.js';
import { isConnectionError, pause } from '../soak/server.js';
import type { Operation } from './checker.js';
import { type Instance, TOKEN } from './processes.js';

export const MAPS = '/api/v1/namespaces/default/configmaps';
const KEYS = ['a', 'b', 'c', 'd'];
/** After this time the result of a request is unknown. */
const TIMEOUT_MS = 5_000;

export interface Run {
  readonly servers: readonly Instance[];
  readonly report: Report;
  readonly history: Operation[];
  /** Aborted when the writers end. */
  readonly written: AbortSignal;
  readonly hasQuorum: () => boolean;
}

export interface Answer<Body> {
  /** 0: no response arrived; -1: the request was not sent. */
  readonly status: number;
  readonly body: Body;
}

const agent = new Agent({ keepAlive: true });

/** Resolves with the response as soon as its head arrives. */
function open(server: Instance, method: string, path: string, body?: unknown): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const isWatch = path.includes('watch=true');
    const text = body === undefined ? '' : JSON.stringify(body);
    // Node sends no length with the body of a DELETE by itself.
    const length = text === '' ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const headers = { authorization: `Bearer ${TOKEN}`, ...length };
    const sent = request({
      ...{ host: '127.0.0.1', port: server.port, method, path, headers },
      ...{ agent: isWatch ? false : agent, timeout: isWatch ? 0 : TIMEOUT_MS },
    });
    sent.on('response', resolve).on('error', reject);
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('no response'), { code: 'ETIMEDOUT' })));
    sent.end(text);
  });
}

export async function send<Body>(
  server: Instance,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<Body>> {
  try {
    const response = await open(server, method, path, body);
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode ?? 0, body: JSON.parse(text) as Body };
  } catch (error) {
    if (!isConnectionError(error)) throw error;
    return { status: 'code' in error && error.code === 'ECONNREFUSED' ? -1 : 0, body: {} as Body };
  }
}

export const pick = <Item>(random: SeededRandom, items: readonly Item[]): Item =>
  items[random.below(items.length)] as Item;

type Planned = Pick<Operation, 'key' | 'kind' | 'value' | 'expected'> & { readonly version?: string | undefined };

interface Status {
  readonly reason?: string;
  readonly message?: string;
}

/** Sends one operation and records its result. Returns what a read has returned. */
export async function execute(
  { report, history, hasQuorum }: Run,
  server: Instance,
  planned: Planned,
): Promise<Stored | undefined> {
  const { version, ...operation } = planned;
  const { key, kind, value } = operation;
  const path = kind === 'create' ? MAPS : `${MAPS}/${key}`;
  const resourceVersion = version === undefined ? {} : { resourceVersion: version };
  const bodies = {
    read: undefined,
    create: { metadata: { name: key }, data: { value } },
    replace: { metadata: { name: key, ...resourceVersion }, data: { value } },
    delete: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: resourceVersion },
  };
  const method = { read: 'GET', create: 'POST', replace: 'PUT', delete: 'DELETE' }[kind];
  const hadQuorum = hasQuorum();
  const call = performance.now();
  const { status, body } = await send<Stored & Status>(server, method, path, bodies[kind]);
  const end = performance.now();
  report.count(`${kind}: status ${status}`);
  if (status >= 500) report.count(`${status}: ${body.message}`);
  if (!hadQuorum) report.count(`without quorum: status ${status}, ${Math.floor((end - call) / 1_000)} s`);
  if (status === -1) return undefined;
  const result = resultOf(status, body);
  if (result === undefined || (result === 'conflict' && operation.expected === undefined)) {
    report.violation(`${server.name}: ${JSON.stringify(operation)}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
  }
  const read = kind === 'read' && result === 'ok' ? { value: body.data?.['value'] } : {};
  const times = { call, return: result === 'unknown' ? Number.POSITIVE_INFINITY : end };
  history.push({ ...operation, ...read, result: result ?? 'unknown', ...times });
  if (result === 'ok' && kind !== 'delete' && kind !== 'read' && body.data?.['value'] !== value) {
    report.violation(`${server.name}: the response to ${kind} ${value} has ${JSON.stringify(body.data)}`);
  }
  return kind === 'read' && result === 'ok' ? body : undefined;
}

/** Undefined: a result that is never correct. */
function resultOf(status: number, { reason }: Status): Operation['result'] | undefined {
  if (status === 200 || status === 201) return 'ok';
  if (status === 404) return 'missing';
  if (status === 409) return reason === 'AlreadyExists' ? 'exists' : reason === 'Conflict' ? 'conflict' : undefined;
  return status === 0 || status === 429 || status >= 500 ? 'unknown' : undefined;
}

/** Reads, creates, replaces and deletes objects, with and without a condition, through random servers. */
export async function write(run: Run, id: number, random: SeededRandom): Promise<void> {
  for (let count = 0; !run.written.aborted; count++) {
    const key = pick(random, KEYS);
    const value = `${id}-${count}`;
    const via = () => pick(random, run.servers);
    const choice = random.below(10);
    if (choice < 2) await execute(run, via(), { key, kind: 'create', value });
    else if (choice < 3) await execute(run, via(), { key, kind: 'delete' });
    else if (choice < 4) await execute(run, via(), { key, kind: 'replace', value });
    else {
      const before = await execute(run, via(), { key, kind: 'read' });
      const condition = { expected: before?.data?.['value'], version: before?.metadata.resourceVersion };
      if (before === undefined || choice < 6) await pause(random.below(20));
      else if (choice < 7) await execute(run, via(), { key, kind: 'delete', ...condition });
      else await execute(run, via(), { key, kind: 'replace', value, ...condition });
    }
    await pause(random.below(30));
  }
}

/** Reads all objects through all servers. */
export async function readAll(run: Run): Promise<void> {
  for (const server of run.servers) for (const key of KEYS) await execute(run, server, { key, kind: 'read' });
}

/** Compares with a list after so many events. */
const COMPARE_EVERY = 20;

/** Follows the collection through random servers: lists, watches, resumes, and lists again when the version is expired. */
export class Watcher {
  readonly replica = new Replica();
  readonly #run: Run;
  readonly #random: SeededRandom;
  #isListed = false;
  #events = 0;

  constructor(run: Run, random: SeededRandom) {
    this.#run = run;
    this.#random = random;
  }

  async follow(): Promise<void> {
    const { report } = this.#run;
    while (!report.stopped.aborted) {
      if (this.#isListed) await this.#watch();
      else await this.#list();
      await pause(this.#random.below(100));
    }
  }

  async #list(): Promise<void> {
    const { report, servers } = this.#run;
    const { status, body } = await send<StoredList>(pick(this.#random, servers), 'GET', MAPS);
    if (status !== 200) return;
    report.count('lists of watchers');
    const { resourceVersion } = body.metadata;
    if (Number(resourceVersion) < Number(this.replica.version)) {
      report.violation(`a list of version ${resourceVersion} follows version ${this.replica.version}`);
    }
    this.replica.reset(body);
    this.#isListed = true;
  }

  async #watch(): Promise<void> {
    const { report, servers } = this.#run;
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${this.replica.version}`;
    const server = pick(this.#random, servers);
    let response: IncomingMessage | undefined;
    const close = (): unknown => response?.destroy();
    const timer = setTimeout(close, 500 + this.#random.below(8_000));
    report.stopped.addEventListener('abort', close);
    try {
      response = await open(server, 'GET', `${MAPS}?${query}`);
      report.count(`watches: status ${response.statusCode}`);
      if (response.statusCode === 410) this.#isListed = false;
      if (response.statusCode === 200) for await (const event of eventsOf(response)) await this.#take(server, event);
    } catch (error) {
      // The connection ended: the watch continues from the last event.
      if (!isConnectionError(error)) throw error;
    } finally {
      clearTimeout(timer);
      report.stopped.removeEventListener('abort', close);
      close();
    }
  }

  async #take(server: Instance, event: StoredEvent): Promise<void> {
    const { report } = this.#run;
    if (event.type === 'ERROR') {
      const { code = 0 } = event.object;
      report.count(`watch errors: ${code}`);
      if (code === 410) this.#isListed = false;
      else if (code < 500) report.violation(`${server.name}: watch: ${JSON.stringify(event)}`);
      return;
    }
    report.count('watch events');
    const problem = this.replica.apply(event);
    if (problem !== undefined) report.violation(`${server.name}: ${problem}`);
    if (event.type !== 'BOOKMARK' && ++this.#events % COMPARE_EVERY === 0) {
      await this.compare(pick(this.#random, this.#run.servers));
    }
  }

  /** Compares with the list at the version of the watch. Returns whether there was one. */
  async compare(server: Instance): Promise<boolean> {
    const exact = `resourceVersion=${this.replica.version}&resourceVersionMatch=Exact`;
    const { status, body } = await send<StoredList & Status>(server, 'GET', `${MAPS}?${exact}`);
    this.#run.report.count(`lists at a version: status ${status}${status >= 500 ? `: ${body.message}` : ''}`);
    if (status === 200) this.#run.report.check('watches', this.replica.compare(body));
    return status === 200;
  }
}
