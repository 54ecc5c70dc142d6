/** A cluster that emulates a release, with an HTTP client. */
import { type ClusterOptions, createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';

/** All releases that can be emulated. */
export const RELEASES = Array.from({ length: 12 }, (_, index) => `1.${22 + index}` as `1.${number}`);

export interface Reply {
  readonly code: number;
  /** The warning texts without code and quotes. */
  readonly warnings: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped documents.
  readonly body: any;
}

export function emulate(release: `1.${number}`, options: ClusterOptions = {}) {
  const cluster = createCluster({ release, dialect: 'kubernetes', ...options });
  const handle = createFetchHandler(cluster);
  const send = async (method: string, path: string, body?: object, type = 'application/json'): Promise<Reply> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } };
    const response = await handle(new Request(`http://c${path}`, { method, ...init }));
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { code: response.status, warnings: warningsOf(response), body: isJson ? JSON.parse(text) : text };
  };
  return { cluster, send };
}

function warningsOf(response: Response): string[] {
  const header = response.headers.get('warning') ?? '';
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}
