/**
 * Responses of node:http and node:http2, with the members that both have.
 */
import { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

/** The response to a request over HTTP/1.1 or HTTP/2. */
export type Outgoing = ServerResponse | Http2Response;

/** The members of an Http2ServerResponse that are used, with the types that it shares with a ServerResponse. */
type Http2Response = Pick<Http2ServerResponse, 'stream' | 'appendHeader'> &
  Pick<
    ServerResponse,
    | 'destroy'
    | 'end'
    | 'flushHeaders'
    | 'headersSent'
    | 'off'
    | 'on'
    | 'statusCode'
    | 'write'
    | 'writeContinue'
    | 'writeHead'
  >;

export function isDestroyed(outgoing: Outgoing): boolean {
  return outgoing instanceof ServerResponse ? outgoing.destroyed : outgoing.stream.destroyed;
}

/** After it was closed: whether the client did not cancel it. A cancelled response over HTTP/2 counts as finished in Node. */
export function isComplete(outgoing: Outgoing): boolean {
  return outgoing instanceof ServerResponse ? outgoing.writableFinished : !outgoing.stream.aborted;
}

/** Writes the status code and a flat list of header names and values. */
export function writeHead(outgoing: Outgoing, code: number, head: string[]): void {
  if (outgoing instanceof ServerResponse) {
    outgoing.writeHead(code, head);
    return;
  }
  for (let at = 0; at < head.length; at += 2) outgoing.appendHeader(head[at] ?? '', head[at + 1] ?? '');
  outgoing.writeHead(code);
}

export function hasNonAscii(text: string): boolean {
  return /[\x80-\xff]/.test(text);
}
