/**
 * The compressed headers of SPDY/3. All header blocks of a connection are one zlib stream, which is flushed after each block.
 * A flush ends on a whole byte, so each block can be decompressed on its own, with the end of the earlier text as dictionary.
 */
import { errors } from '../../meta/errors.js';
import { nodeModules } from '../../webhook/node-connection.js';
import { wordAt } from './words.js';

/** Decompresses raw deflate data without its end. Throws if it is malformed or too long. */
export type Inflate = (block: Uint8Array, dictionary: Uint8Array) => Uint8Array;

/** The longest text of a header block. Port forwarding needs a hundred bytes, and each open stream keeps its headers. */
const MAX_TEXT_BYTES = 4 * 1024;
/** The window of deflate. */
const WINDOW_BYTES = 32 * 1024;
/** In the second byte of a zlib stream: it begins with a dictionary, whose checksum follows. */
const HAS_DICTIONARY = 0x20;

/** Decompression as Node has it: browsers have none with a dictionary, but they accept no WebSockets either. */
export function requireInflate(): Inflate {
  const zlib = nodeModules()?.zlib;
  if (zlib === undefined) throw errors.internal('this platform cannot decompress the headers of SPDY');
  const { Z_SYNC_FLUSH } = zlib.constants;
  return (block, dictionary) =>
    zlib.inflateRawSync(block, { dictionary, finishFlush: Z_SYNC_FLUSH, maxOutputLength: MAX_TEXT_BYTES });
}

/** Reads the header blocks of a connection. */
export class SpdyHeaders {
  readonly #inflate: Inflate;
  #window: Uint8Array | undefined;

  constructor(inflate: Inflate) {
    this.#inflate = inflate;
  }

  /** Names are in lower case. Undefined if the block is malformed; no other can be read after it. */
  read(block: Uint8Array): ReadonlyMap<string, string> | undefined {
    try {
      const isFirst = this.#window === undefined;
      const hasDictionary = ((block[1] ?? 0) & HAS_DICTIONARY) !== 0;
      const window = this.#window ?? (hasDictionary ? dictionary() : new Uint8Array());
      const text = this.#inflate(isFirst ? block.subarray(hasDictionary ? 6 : 2) : block, window);
      const all = new Uint8Array(window.length + text.length);
      all.set(window);
      all.set(text, window.length);
      this.#window = all.subarray(-WINDOW_BYTES);
      return readPairs(text);
    } catch {
      // The client's fault, whatever it is.
      return undefined;
    }
  }
}

/** Throws RangeError if a length exceeds the text. */
function readPairs(text: Uint8Array): Map<string, string> {
  const headers = new Map<string, string>();
  const decoder = new TextDecoder();
  let at = 4;
  const next = (): string => {
    const length = wordAt(text, at);
    const start = at + 4;
    at = start + length;
    if (at > text.length) throw new RangeError('a header is longer than its block');
    return decoder.decode(text.subarray(start, at));
  };
  for (let left = wordAt(text, 0); left > 0; left--) headers.set(next().toLowerCase(), next());
  return headers;
}

/**
 * Blocks without headers, in the zlib stream of one connection: the first one begins the stream. They are not compressed. The
 * last five bytes are a flush, without which kubectl would wait for more.
 */
const NO_HEADERS = [0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
export const EMPTY_HEADER_BLOCKS = { first: [0x78, 0x01, ...NO_HEADERS], next: NO_HEADERS } as const;

let cachedDictionary: Uint8Array | undefined;

/** Words with their lengths, then text. spec of SPDY/3: Name/Value Header Block */
export function dictionary(): Uint8Array {
  if (cachedDictionary === undefined) {
    const encoder = new TextEncoder();
    const words = WORDS.split('|').flatMap((word) => [0, 0, 0, word.length, ...encoder.encode(word)]);
    cachedDictionary = Uint8Array.from([...words, ...encoder.encode(TEXT)]);
  }
  return cachedDictionary;
}

const WORDS =
  'options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|accept-ranges|age|allow|' +
  'authorization|cache-control|connection|content-base|content-encoding|content-language|content-length|' +
  'content-location|content-md5|content-range|content-type|date|etag|expect|expires|from|host|if-match|' +
  'if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|' +
  'proxy-authenticate|proxy-authorization|range|referer|retry-after|server|te|trailer|transfer-encoding|upgrade|' +
  'user-agent|vary|via|warning|www-authenticate|method|get|status|200 OK|version|HTTP/1.1|url|public|set-cookie|' +
  'keep-alive|origin';

const TEXT =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505' +
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden' +
  '404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable' +
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT' +
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,' +
  'publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';
