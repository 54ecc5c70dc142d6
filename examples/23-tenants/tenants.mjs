/**
 * One cluster per tenant. A new tenant is a fork of a template, so it shares the template's objects in memory until it
 * changes them. A tenant without requests is written to a file and closed; its next request opens it again.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCluster, errors } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { captureCluster, captureJson, parseCapture } from 'orchplane/testing';

/** Also a safe name of a file and of a host. */
const NAME = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

/**
 * The options of the template. Each tenant is the administrator of its cluster; webhooks would make this process send
 * requests to machines of its network.
 */
export const TENANT_OPTIONS = {
  dialect: 'kubernetes',
  webhooks() {
    throw new Error('a tenant has no webhooks');
  },
};

export class Tenants {
  #template;
  #folder;
  #limits;
  /** The names of all tenants. */
  #names;
  /** Promises of open tenants by name. */
  #open = new Map();
  /** Promises of tenants that are being written, by name. */
  #closing = new Map();

  /** Reads the names of the tenants of a folder. */
  static async in(folder, template, limits = {}) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const files = (await readdir(folder)).filter((file) => file.endsWith('.json'));
    return new Tenants(
      folder,
      template,
      { requestsPerSecond: 50, maxObjects: 1_000, idleMs: 60_000, ...limits },
      files,
    );
  }

  constructor(folder, template, limits, files) {
    this.#folder = folder;
    this.#template = template;
    this.#limits = limits;
    this.#names = new Set(files.map((file) => file.slice(0, -'.json'.length)));
  }

  get size() {
    return this.#names.size;
  }

  get openCount() {
    return this.#open.size;
  }

  /** Adds a tenant; it is stored at once. */
  async add(name) {
    if (!NAME.test(name)) throw new TypeError(`"${name}" is not a name of a tenant`);
    if (this.#names.has(name)) throw new Error(`the tenant ${name} exists`);
    this.#names.add(name);
    const tenant = this.#start(this.#template.fork());
    this.#open.set(name, Promise.resolve(tenant));
    await this.#write(name, tenant.cluster);
  }

  async remove(name) {
    this.#names.delete(name);
    const tenant = await this.#open.get(name);
    this.#open.delete(name);
    await tenant?.cluster.close();
    await this.#closing.get(name);
    await rm(this.#file(name), { force: true });
  }

  /** The first label of the host is the tenant: http://blue.clusters.example/api/v1/namespaces */
  async fetch(request) {
    const [name] = new URL(request.url).hostname.split('.');
    if (!this.#names.has(name)) return Response.json({ message: `no tenant ${name}` }, { status: 404 });
    let tenant = await this.#tenant(name);
    // It may have been closed while this request waited.
    while (tenant.isClosing) tenant = await this.#tenant(name);
    tenant.lastUsed = Date.now();
    tenant.requests++;
    try {
      const response = await tenant.handler(request);
      // A watch is in use until its stream ends.
      if (response.body === null) tenant.requests--;
      else
        return new Response(
          whenDone(response.body, () => tenant.requests--),
          response,
        );
      return response;
    } catch (error) {
      tenant.requests--;
      throw error;
    }
  }

  /** Writes and closes the tenants that were not used for a while. Call it from a timer. */
  async closeIdle(now = Date.now()) {
    const opened = await Promise.all([...this.#open].map(async ([name, tenant]) => [name, await tenant]));
    const idle = opened.filter(([, tenant]) => tenant.requests === 0 && now - tenant.lastUsed >= this.#limits.idleMs);
    await Promise.all(idle.map(([name, tenant]) => this.#close(name, tenant)));
    return idle.length;
  }

  /** Writes and closes all tenants. */
  async close() {
    for (const [name, tenant] of [...this.#open]) await this.#close(name, await tenant);
  }

  #tenant(name) {
    const opening = this.#open.get(name) ?? this.#read(name);
    this.#open.set(name, opening);
    // A file that cannot be read is tried again by the next request.
    opening.catch(() => this.#open.delete(name));
    return opening;
  }

  async #read(name) {
    await this.#closing.get(name);
    const state = parseCapture(await readFile(this.#file(name), 'utf8'));
    return this.#start(createCluster({ ...TENANT_OPTIONS, dialect: this.#template.dialect.name, from: state }));
  }

  #start(cluster) {
    cluster.use(limitObjects(cluster, this.#limits.maxObjects));
    cluster.use(limitRate(this.#limits.requestsPerSecond));
    // A tenant has no aggregated APIs: this process would send their requests.
    const handler = createFetchHandler(cluster, { aggregate: () => () => new Response('', { status: 503 }) });
    return { cluster, handler, lastUsed: Date.now(), requests: 0, isClosing: false };
  }

  #close(name, tenant) {
    const { cluster } = tenant;
    tenant.isClosing = true;
    this.#open.delete(name);
    const closing = this.#write(name, cluster).then(() => cluster.close());
    this.#closing.set(name, closing);
    return closing.finally(() => this.#closing.delete(name));
  }

  /** Under another name first, so that the file is complete whenever the process ends. */
  async #write(name, cluster) {
    const file = this.#file(name);
    await writeFile(`${file}.new`, captureJson(cluster), { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  #file(name) {
    return join(this.#folder, `${name}.json`);
  }
}

/** A middleware that rejects objects beyond a number. */
function limitObjects(cluster, max) {
  // Counted by the first request, and again when it seems too large, because deletions are not counted.
  let count = max;
  // Requests that arrive together may each create an object.
  let pending = 0;
  return async (request, next) => {
    const mayCreate = request.verb === 'create' || request.verb === 'patch' || request.verb === 'update';
    if (!mayCreate) return next();
    if (count + pending >= max) count = captureCluster(cluster).objects.length;
    if (count + pending >= max) {
      const { group, resource } = request.resource;
      throw errors.forbidden({ group, resource }, request.name ?? '', `a tenant may have ${max} objects`);
    }
    pending++;
    try {
      const response = await next();
      if (response.type === 'object' && response.code === 201) count++;
      return response;
    } finally {
      pending--;
    }
  };
}

/** A middleware that rejects requests beyond a rate, after a burst of two seconds. */
function limitRate(perSecond) {
  let tokens = perSecond * 2;
  let last = Date.now();
  return (_request, next) => {
    const now = Date.now();
    tokens = Math.min(perSecond * 2, tokens + ((now - last) / 1_000) * perSecond);
    last = now;
    if (tokens < 1) throw errors.tooManyRequests('the tenant has sent too many requests', 1);
    tokens--;
    return next();
  };
}

function whenDone(body, done) {
  let isDone = false;
  const once = () => {
    if (!isDone) done();
    isDone = true;
  };
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const part = await reader.read().catch((error) => {
        once();
        throw error;
      });
      if (!part.done) return controller.enqueue(part.value);
      once();
      controller.close();
    },
    cancel(reason) {
      once();
      return reader.cancel(reason);
    },
  });
}
