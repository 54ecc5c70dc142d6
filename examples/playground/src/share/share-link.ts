/**
 * Encodes and decodes a shared state in the fragment of an address. The address contains the whole state; no server
 * stores anything.
 *
 *   #s1.<base64url of deflate-raw of JSON>
 *
 * The digit is the version of the format. Links are untrusted input: an invalid link is rejected with a reason before
 * the page changes.
 */
import type { ApiObject } from 'orchplane';

export interface SharedState {
  /** The text of the editor. */
  readonly text: string;
  /** The open panel. */
  readonly panel?: string;
  /** Absent if only the text is shared. */
  readonly objects?: readonly ApiObject[];
  readonly resourceVersion?: string;
}

export class ShareError extends Error {
  override readonly name = 'ShareError';
}

/** Mail programs and chats cut longer addresses. Browsers accept more. */
export const MAX_LINK_LENGTH = 32_000;

/** The limit of the decompressed size, against compression bombs. */
const MAX_STATE_BYTES = 16_000_000;

const MARK = 's1.';

/** Returns the fragment without `#`. Throws a ShareError if it would be too long. */
export async function encodeShare(state: SharedState): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify(state));
  const bytes = await collect(streamOf(json).pipeThrough(new CompressionStream('deflate-raw')));
  const fragment = MARK + toBase64Url(bytes);
  if (fragment.length > MAX_LINK_LENGTH) {
    throw new ShareError(
      `The link would be too long: ${fragment.length} characters, the limit is ${MAX_LINK_LENGTH}. Delete some objects, or share only the editor's text.`,
    );
  }
  return fragment;
}

/** Returns undefined if a fragment is not a shared state. Throws a ShareError if it is an invalid one. */
export async function decodeShare(fragment: string): Promise<SharedState | undefined> {
  const bare = fragment.replace(/^#/, '');
  if (!/^s\d+\./.test(bare)) return undefined;
  if (!bare.startsWith(MARK)) {
    throw new ShareError('This link was made by another version of the playground, which this version cannot read.');
  }
  const bytes = fromBase64Url(bare.slice(MARK.length));
  let json: Uint8Array;
  try {
    json = await collect(streamOf(bytes).pipeThrough(new DecompressionStream('deflate-raw')), MAX_STATE_BYTES);
  } catch (error) {
    if (error instanceof ShareError) throw error;
    throw damaged(error);
  }
  return checked(parsed(json));
}

function damaged(cause?: unknown): ShareError {
  return new ShareError('This link is damaged: a part of it is missing or changed.', { cause });
}

function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json));
  } catch (error) {
    throw damaged(error);
  }
}

/** Checks the shape of a decoded value. The cluster validates the objects. */
function checked(value: unknown): SharedState {
  if (!isRecord(value) || typeof value['text'] !== 'string') throw damaged();
  const { text, panel, objects, resourceVersion } = value;
  if (panel !== undefined && typeof panel !== 'string') throw damaged();
  if (objects === undefined) return panel === undefined ? { text } : { text, panel };
  if (!Array.isArray(objects) || !objects.every(isObject) || typeof resourceVersion !== 'string') throw damaged();
  if (!/^\d{1,15}$/.test(resourceVersion)) throw damaged();
  return { text, ...(panel === undefined ? {} : { panel }), objects, resourceVersion };
}

function isObject(value: unknown): value is ApiObject {
  if (!isRecord(value) || typeof value['apiVersion'] !== 'string' || typeof value['kind'] !== 'string') return false;
  const { metadata } = value;
  return isRecord(metadata) && typeof metadata['name'] === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([new Uint8Array(bytes)]).stream();
}

async function collect(stream: ReadableStream<Uint8Array>, most = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new ShareError('This link contains more data than the playground accepts.');
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function toBase64Url(bytes: Uint8Array): string {
  let text = '';
  // In chunks, because the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromBase64Url(text: string): Uint8Array {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) throw damaged();
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(bytes, (character) => character.charCodeAt(0));
}
