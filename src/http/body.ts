/**
 * The bytes of a request, up to a limit.
 */

import { errors } from '../meta/errors.js';
import type { HttpRequest } from './answer.js';

/** spec: Limits. 3 MiB. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

const NOTHING = new Uint8Array();

/** All bytes of the body; empty when there is none. Throws 413, without reading on, when there are too many. */
export async function readBytes(request: HttpRequest): Promise<Uint8Array> {
  if (request.readUpTo !== undefined) {
    const bytes = await request.readUpTo(MAX_BODY_BYTES);
    if (bytes === undefined) throw tooLarge();
    return bytes;
  }
  // Some browsers have no stream for a request's body; there it can only be taken whole.
  const stream = request.body;
  if (stream === null) return NOTHING;
  if (stream === undefined) return withinLimit(new Uint8Array(await request.arrayBuffer()));
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    chunks.push(chunk.value);
    length += chunk.value.length;
    if (length <= MAX_BODY_BYTES) continue;
    await reader.cancel();
    throw tooLarge();
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : join(chunks, length);
}

function withinLimit(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_BODY_BYTES) throw tooLarge();
  return bytes;
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function tooLarge() {
  return errors.requestTooLarge(`limit is ${MAX_BODY_BYTES}`);
}
