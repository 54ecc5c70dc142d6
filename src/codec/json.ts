/**
 * The JSON codec, the default encoding.
 */

import type { RequestBody } from '../protocol/body.js';
import { BodyError, SUMMARY_LENGTH } from '../protocol/body.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import { toHex } from '../util/bytes.js';
import { resultOf } from '../util/clock.js';
import type { ParsedBody } from '../util/json.js';
import type { Codec, Document, EncodeOptions } from './codec.js';
import { encodeCached, encodeDocument, indentJson } from './json-encoder.js';

export const jsonCodec: Codec = {
  mediaType: () => 'application/json',
  carries: 'all kinds',
  tables: true,
  stream: {
    mediaType: () => 'application/json;stream=watch',
    contentType: () => 'application/json',
    encode: ({ type, object }) => `{"type":"${type}","object":${encodeCached(object)}}\n`,
  },
  // A byte order mark is not JSON white space, so it is kept and rejected by the parser.
  body: (bytes) => jsonBody(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)),
  // A compact body ends with a line feed, an indented one does not.
  encode: (document, options) => resultOf(encodeSteps(document, options)).join(''),
  encodeSteps,
};

function* encodeSteps(document: Document, { pretty }: EncodeOptions): Generator<undefined, readonly string[]> {
  const pieces = yield* encodeDocument(document);
  // The rows of a table are not shared by responses.
  if (!pretty) return 'rows' in document ? [`${pieces.join('')}\n`] : [...pieces, '\n'];
  const nesting = { depth: 0 };
  let text = '';
  for (const piece of pieces) {
    text += indentJson(piece, nesting);
    yield;
  }
  return [text];
}

/** A request body of JSON text. `read` throws BodyError with the syntax error, to which the caller adds a prefix. */
export function jsonBody(text: string): RequestBody {
  let parsed: ParsedBody | undefined;
  return {
    read() {
      parsed ??= parseBody(text);
      return parsed;
    },
    summary: () => bodySummary(text),
    text: () => text,
  };
}

/** A summary for messages: `<empty>`, the first bytes of text that starts with `{`, else their hex digits. */
export function bodySummary(text: string): string {
  if (text === '') return '<empty>';
  // A character has at least one byte, so this prefix contains all bytes of the summary and one more to detect the cut.
  const bytes = new TextEncoder().encode(text.slice(0, SUMMARY_LENGTH + 1));
  const shown = bytes.subarray(0, SUMMARY_LENGTH);
  const mark = bytes.length > SUMMARY_LENGTH ? ' ...' : '';
  return (text.startsWith('{') ? decodeCut(shown) : toHex(shown)) + mark;
}

/** Decodes bytes; each byte of an incomplete last character becomes U+FFFD. */
function decodeCut(bytes: Uint8Array): string {
  let whole = bytes.length;
  while (whole > 0 && isInside(bytes, whole)) whole--;
  return new TextDecoder().decode(bytes.subarray(0, whole)) + '\ufffd'.repeat(bytes.length - whole);
}

/** Whether the last character before `end` is incomplete. */
function isInside(bytes: Uint8Array, end: number): boolean {
  for (let length = 1; length <= 4 && length <= end; length++) {
    const byte = bytes[end - length] ?? 0;
    if (byte >= 0x80 && byte < 0xc0) continue;
    const needed = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return needed !== length;
  }
  return true;
}

function parseBody(text: string): ParsedBody {
  try {
    return parseJson(text, { keepSpelling: true });
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new BodyError(error.message);
    throw error;
  }
}
