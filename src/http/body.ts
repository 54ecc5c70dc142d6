/**
 * The bytes of a request, up to a limit.
 */

import { errors } from '../meta/errors.js';
import type { HttpRequest } from './answer.js';
import { Chunk } from './chunk.js';

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
  const chunk = new Chunk();
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunk.add(part.value);
    if (chunk.length <= MAX_BODY_BYTES) continue;
    await reader.cancel();
    throw tooLarge();
  }
  return chunk.bytes();
}

function withinLimit(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_BODY_BYTES) throw tooLarge();
  return bytes;
}

function tooLarge() {
  return errors.requestTooLarge(`limit is ${MAX_BODY_BYTES}`);
}
