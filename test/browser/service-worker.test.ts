/** Which requests a service worker answers, and when it takes control, with a fake worker scope. */
import { createCluster } from 'orchplane';
import {
  createResponder,
  type FireOptions,
  fire,
  type WorkerEvent,
  type WorkerFetchEvent,
} from 'orchplane/service-worker';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';

const ORIGIN = 'http://page.example';

/** A fake worker scope, and what a browser would do with it. */
class FakeWorker {
  readonly location = { origin: ORIGIN };
  readonly clients = { claim: async () => void this.calls.push('claim') };
  readonly calls: string[] = [];
  readonly #listeners = new Map<string, (event: WorkerFetchEvent) => void>();

  async skipWaiting(): Promise<void> {
    this.calls.push('skipWaiting');
  }

  addEventListener(type: string, listener: (event: WorkerFetchEvent) => void): void {
    this.#listeners.set(type, listener);
  }

  async start(): Promise<void> {
    for (const type of ['install', 'activate']) {
      const waits: Promise<unknown>[] = [];
      const event: WorkerEvent = { waitUntil: (promise) => void waits.push(promise) };
      this.#listeners.get(type)?.(event as WorkerFetchEvent);
      await Promise.all(waits);
    }
  }

  /** Undefined if the request goes to the network. */
  fetch(url: string, init?: RequestInit): Promise<Response> | undefined {
    let response: Promise<Response> | undefined;
    this.#listeners.get('fetch')?.({
      request: new Request(new URL(url, ORIGIN), init),
      respondWith: (given) => {
        response = given;
      },
      waitUntil: () => undefined,
    });
    return response;
  }
}

function fired(options: FireOptions = {}): FakeWorker {
  const worker = new FakeWorker();
  fire(createCluster(), { ...options, worker });
  return worker;
}

async function codesOf(worker: FakeWorker, paths: readonly string[]): Promise<Record<string, number | 'network'>> {
  const codes = paths.map(async (path) => [path, (await worker.fetch(path))?.status ?? 'network'] as const);
  return Object.fromEntries(await Promise.all(codes));
}

describe('the requests that a worker answers', () => {
  test('answers only API paths at the root', async () => {
    const answered = [
      '/api',
      '/api/v1/pods?limit=1',
      '/apis/apps/v1/deployments',
      '/openapi/v2',
      '/version',
      '/readyz/ping',
    ];
    const passed = ['/', '/index.html', '/apiary', '/api.html', '/versions', '/app/api/v1/pods', '//api/v1/pods'];
    expect(await codesOf(fired(), [...answered, ...passed])).toEqual({
      ...Object.fromEntries(answered.map((path) => [path, 200])),
      ...Object.fromEntries(passed.map((path) => [path, 'network'])),
    });
  });

  test('answers all paths below a base, as if they were at the root', async () => {
    for (const base of ['/cluster', '/cluster/']) {
      expect(await codesOf(fired({ base }), ['/cluster', '/cluster/', '/cluster/api/v1/pods', '/cluster/x'])).toEqual({
        '/cluster': 200,
        '/cluster/': 200,
        '/cluster/api/v1/pods': 200,
        '/cluster/x': 404,
      });
      expect(await codesOf(fired({ base }), ['/', '/api/v1/pods', '/clusters/api'])).toEqual({
        '/': 'network',
        '/api/v1/pods': 'network',
        '/clusters/api': 'network',
      });
    }
  });

  test('answers only paths of the scope', async () => {
    const paths = ['/apis/apps/v1/deployments', '/api/v1/pods', '/version'];
    expect(await codesOf(fired({ scope: '/apis' }), paths)).toEqual({
      '/apis/apps/v1/deployments': 200,
      '/api/v1/pods': 'network',
      '/version': 'network',
    });
    const worker = fired({ base: '/c', scope: ['/api/', '/version'] });
    expect(await codesOf(worker, ['/c/api/v1/pods', '/c/version', '/c/apis', '/c'])).toEqual({
      '/c/api/v1/pods': 200,
      '/c/version': 200,
      '/c/apis': 'network',
      '/c': 'network',
    });
  });

  test('does not answer requests to another origin', () => {
    expect(fired().fetch('https://page.example/api/v1/pods')).toBeUndefined();
    expect(fired().fetch('http://elsewhere.example/api/v1/pods')).toBeUndefined();
  });

  test('keeps body and query below a base', async () => {
    const worker = fired({ base: '/cluster/' });
    const made = await worker.fetch('/cluster/api/v1/namespaces/default/configmaps?fieldManager=page', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'a' }, data: { size: 'm' } }),
    });
    expect(made?.status).toBe(201);
    expect(await made?.json()).toMatchObject({
      data: { size: 'm' },
      metadata: { managedFields: [{ manager: 'page' }] },
    });
  });

  test('uses the options of the handler', async () => {
    const worker = fired({ tokens: { secret: { user: 'alice', groups: ['system:masters'] } } });
    expect((await worker.fetch('/api/v1/pods'))?.status).toBe(403);
    expect((await worker.fetch('/api/v1/pods', { headers: { authorization: 'Bearer secret' } }))?.status).toBe(200);
  });
});

describe('taking control', () => {
  test('takes control of pages at once by default', async () => {
    const worker = fired();
    await worker.start();
    expect(worker.calls).toEqual(['skipWaiting', 'claim']);
  });

  test('leaves control to the rules of the browser when claim is false', async () => {
    const worker = fired({ claim: false });
    await worker.start();
    expect(worker.calls).toEqual([]);
    expect((await worker.fetch('/healthz'))?.status).toBe(200);
  });
});

describe('invalid use', () => {
  test.each(['', 'cluster', '/a/../b', '/a?b', '/ä', 'http://host/a'])('rejects %j as a base or a scope', (path) => {
    expect(() => fired({ base: path })).toThrow(new TypeError(`orchplane: base is not a valid path: ${path}`));
    expect(() => fired({ scope: path })).toThrow(new TypeError(`orchplane: scope is not a valid path: ${path}`));
  });

  test('rejects fire outside of a service worker', () => {
    expect(() => fire(createCluster())).toThrow('orchplane: fire works only in a service worker');
  });

  test('rejects a missing origin', () => {
    expect(() => createResponder(createCluster())).toThrow('give the option origin');
  });
});

test('accepts ServiceWorkerGlobalScope as a WorkerScope', () => {
  const file = `${root}test/browser/scope.ts`;
  const text = `
    import type { WorkerScope } from '../../src/service-worker/worker-scope.js';
    declare const self: ServiceWorkerGlobalScope;
    export const scope: WorkerScope = self;
  `;
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    types: [],
    lib: ['lib.es2023.d.ts', 'lib.webworker.d.ts'],
    target: ts.ScriptTarget.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    module: ts.ModuleKind.ESNext,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.getSourceFile = (name, version, ...rest) =>
    name === file ? ts.createSourceFile(name, text, version) : getSourceFile.call(host, name, version, ...rest);
  const program = ts.createProgram([file], options, host);
  const found = ts.getPreEmitDiagnostics(program);
  expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});
