/**
 * A fetch that answers from a script and records its requests, and requests to send through it.
 */
import { type HttpTransportOptions, httpTransport } from '../../../../src/http/index.js';
import type { ApiRequest } from '../../../../src/protocol/request.js';

type Answer = Response | Error | ((request: Request) => Response | Promise<Response>);

export function scripted(script: readonly Answer[], options: Partial<HttpTransportOptions> = {}) {
  const left = [...script];
  const requests: Request[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    requests.push(request);
    const answer = left.shift();
    if (answer === undefined) throw new Error('the script has no answer');
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(request) : answer;
  };
  const transport = httpTransport({ baseUrl: 'http://cluster', fetch, ...options });
  return { transport, requests, send: (request: ApiRequest) => transport.send(request) };
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

export const getRequest: ApiRequest = {
  verb: 'get',
  resource: configMaps,
  namespace: 'default',
  name: 'a',
  options: {},
};

export const listRequest: ApiRequest = { verb: 'list', resource: configMaps, options: {} };

export const watchRequest: ApiRequest = { verb: 'watch', resource: configMaps, options: {} };

export const configMap = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', resourceVersion: '1' } };

export function json(value: unknown, init: ResponseInit = {}): Response {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const headers = { 'content-type': 'application/json', ...(init.headers as Record<string, string>) };
  return new Response(text, { ...init, headers });
}

/** A body whose chunks the test sends, and which records how it ended. */
export function openBody() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const state = { cancelled: false, pulls: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
      },
      pull: () => {
        state.pulls++;
      },
      cancel: () => {
        state.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const encoder = new TextEncoder();
  return {
    body,
    state,
    send: (text: string) => controller?.enqueue(encoder.encode(text)),
    end: () => controller?.close(),
    break: (error: unknown) => controller?.error(error),
  };
}

export function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`;
}
