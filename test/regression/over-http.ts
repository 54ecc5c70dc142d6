/** A cluster in the kubernetes dialect and helpers that call it over HTTP. */
import { createFetchHandler } from 'orchplane/http';
import { testCluster } from 'orchplane/testing';
import { expect } from 'vitest';

export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
export const METADATA = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

export function start(options: Parameters<typeof testCluster>[0] = {}) {
  const cluster = testCluster({ dialect: 'kubernetes', ...options });
  const handle = createFetchHandler(cluster);

  /** Sends strings unchanged and other bodies as JSON; patches are merge patches unless the headers say otherwise. */
  const send = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
    if (body === undefined) return handle(new Request(`http://cluster${path}`, { method, headers }));
    const type = method === 'PATCH' ? MERGE : 'application/json';
    return handle(
      new Request(`http://cluster${path}`, {
        method,
        headers: { 'content-type': type, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  };

  /** Sends a request and reads the response; a body that is not JSON is returned as text. */
  const call = async (...request: Parameters<typeof send>) => {
    const response = await send(...request);
    const text = await response.text();
    const body = text.startsWith('{') ? JSON.parse(text) : text;
    return { status: response.status, body, warning: response.headers.get('warning') };
  };

  /** The fields in the causes of a rejected write. */
  const refusedFields = async (method: string, path: string, body: object): Promise<string[]> => {
    const response = await call(method, path, body);
    expect(response.status).toBe(422);
    return response.body.details.causes.map(({ field }: { field: string }) => field);
  };

  /** Columns and cells of the table at a path. */
  const rows = async (path: string) => {
    const { body: table } = await call('GET', path, undefined, { accept: TABLE });
    return { columns: table.columnDefinitions, cells: table.rows.map(({ cells }: { cells: unknown }) => cells) };
  };

  return { cluster, send, call, refusedFields, rows };
}
