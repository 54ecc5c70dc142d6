/**
 * Recordings of HTTP exchanges with an API server: one JSON value for each line. `orchplane record` writes them.
 */
import { isRecord } from '../util/json.js';
import { getOrInsertComputed } from '../util/once.js';
import { percentDecode } from './path.js';

/** A request and its answer. */
export interface RecordedExchange {
  /** The position of the request, from one. Exchanges are written when they end, so lines are in another order. */
  readonly id: number;
  /** When the request arrived. */
  readonly time: string;
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  /** Without credentials. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody?: RecordedBody;
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** Absent for a stream, and for a body that is too long to be recorded. */
  readonly responseBody?: RecordedBody;
  /** The parts of a watch or of another stream, with the milliseconds since the answer began. */
  readonly stream?: readonly (readonly [ms: number, text: string])[];
  /** The client or the end of the recording ended the exchange, not the server; or a body is not recorded. */
  readonly isCut?: true;
  /** More of the stream follows, on a later line with the same id. */
  readonly isContinued?: true;
  /** An upgraded connection, such as exec. Its content is not recorded. */
  readonly isUpgrade?: true;
}

/** A text, or bytes that are none. */
export type RecordedBody = string | { readonly base64: string };

/** The first line of a recording. */
const HEADER = { kind: 'Recording', apiVersion: 'orchplane/v1' };

/** The first line of a recording, with its line feed. */
export const RECORDING_HEADER = `${JSON.stringify(HEADER)}\n`;

/** An exchange as a line. */
export function recordingLine(exchange: RecordedExchange): string {
  return `${JSON.stringify(exchange)}\n`;
}

/** A text that is not a recording. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/**
 * The exchanges in the order of their requests. A line is incomplete if the recorder was killed: `onTorn` is called, and the
 * line is left out. Throws RecordingError.
 */
export function parseRecording(text: string, onTorn = (): void => undefined): readonly RecordedExchange[] {
  const [first = '', ...lines] = text.split('\n');
  const header = parseLine(first);
  if (!isRecord(header) || header['kind'] !== HEADER.kind || header['apiVersion'] !== HEADER.apiVersion) {
    throw new RecordingError('is not a recording of "orchplane record"');
  }
  const exchanges = lines.flatMap((line, index) => {
    if (line === '') return [];
    const value = parseLine(line);
    if (value === undefined) {
      onTorn();
      return [];
    }
    if (!isExchange(value)) throw new RecordingError(`has a line that is not an exchange: line ${index + 2}`);
    return [value];
  });
  return joined(exchanges).sort((left, right) => left.id - right.id);
}

/** A long stream has several lines. Without the last one it is cut. */
function joined(lines: readonly RecordedExchange[]): RecordedExchange[] {
  const begun = new Map<number, RecordedExchange[]>();
  const complete = lines.flatMap((line) => {
    const parts = getOrInsertComputed(begun, line.id, () => []);
    parts.push(line);
    if (line.isContinued === true) return [];
    begun.delete(line.id);
    return [joinedParts(parts)];
  });
  return [...complete, ...Array.from(begun.values(), (parts) => ({ ...joinedParts(parts), isCut: true }) as const)];
}

/** The last line has what is known at the end. */
function joinedParts(parts: readonly RecordedExchange[]): RecordedExchange {
  const { isContinued: _, ...last } = parts.at(-1) as RecordedExchange;
  return parts.length === 1 ? last : { ...last, stream: parts.flatMap(({ stream = [] }) => stream) };
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isExchange(value: unknown): value is RecordedExchange {
  return (
    isRecord(value) &&
    typeof value['id'] === 'number' &&
    typeof value['method'] === 'string' &&
    typeof value['path'] === 'string' &&
    /^[/*]/.test(value['path']) &&
    isStatus(value['status']) &&
    isHeaders(value['requestHeaders']) &&
    isHeaders(value['responseHeaders']) &&
    [value['requestBody'], value['responseBody']].every(isBody) &&
    (value['stream'] === undefined || (Array.isArray(value['stream']) && value['stream'].every(isPart)))
  );
}

function isStatus(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 999;
}

function isHeaders(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const isHeader = ([name, text]: [string, unknown]) =>
    /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof text === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
  return Object.entries(value).every(isHeader);
}

function isBody(value: unknown): boolean {
  return value === undefined || typeof value === 'string' || (isRecord(value) && typeof value['base64'] === 'string');
}

/** The longest time of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function isPart(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [ms, text] = value as readonly unknown[];
  return typeof ms === 'number' && ms >= 0 && ms <= MAX_TIMER_MS && typeof text === 'string';
}

/** Relative to a host, a path that begins with two slashes would be another host. Clients also send `*` and other texts. */
function urlOf(path: string): URL {
  return new URL(`http://recording${path.startsWith('/') ? '' : '/'}${path}`);
}

/** The path of a request as servers see it: decoded, without a trailing slash. */
export function resolvedPath(path: string): string {
  const { pathname } = urlOf(path);
  return (percentDecode(pathname) ?? pathname).replace(/\/+/g, '/').replace(/\/$/, '');
}

/** Parameters of reads that clients choose anew each time. */
const VARYING = ['timeoutSeconds', 'resourceVersion', 'resourceVersionMatch', 'continue', 'timeout'];

/** What the answer to a request depends on. `isLoose`: also requests with other versions and timeouts have this key. */
export function exchangeKey({ method, path }: Pick<RecordedExchange, 'method' | 'path'>, isLoose: boolean): string {
  const url = urlOf(path);
  url.searchParams.delete('timeoutSeconds');
  if (isLoose) for (const name of VARYING) url.searchParams.delete(name);
  url.searchParams.sort();
  return `${method} ${url.pathname}?${url.searchParams}`;
}

/** Whether a request is for objects, in contrast to discovery, versions, health and schemas. */
export function isResourcePath(path: string): boolean {
  return /^\/(?:api\/[^/?]+|apis\/[^/?]+\/[^/?]+)\/[^?]+/.test(path);
}

/** Whether the answer to a request is a watch. */
export function isWatchPath(path: string): boolean {
  const { searchParams, pathname } = urlOf(path);
  const watch = searchParams.get('watch');
  return watch === 'true' || watch === '1' || /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/watch\//.test(pathname);
}
