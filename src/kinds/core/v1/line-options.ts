/**
 * What a line (exec, log, proxy …) is opened with: the parameters of its address, read into options of a kind of their
 * own, which plugins see too.
 */
import { errors } from '../../../meta/errors.js';
import { type FieldError, forbidden, invalid, notSupported } from '../../../meta/field-error.js';
import { readInteger, readSwitch, readTimeValue } from '../../../meta/query-values.js';
import { quote } from '../../../text/go/go-text.js';
import type { LineQuery } from '../../subresource.js';
import { NOWHERE } from './pod-spec/annotations.js';

export interface StreamOptions {
  readonly stdin?: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty?: boolean;
  readonly container?: string;
}

/** Both ways out are open, whatever was asked: so the reference server fills them in. */
export function streamOptions(query: LineQuery): StreamOptions {
  const container = query['container']?.[0];
  return {
    ...(isOn(query, 'stdin') ? { stdin: true } : {}),
    stdout: true,
    stderr: true,
    ...(isOn(query, 'tty') ? { tty: true } : {}),
    ...(container ? { container } : {}),
  };
}

export function execOptions(query: LineQuery): StreamOptions & { readonly command: readonly string[] | null } {
  return { ...streamOptions(query), command: query['command'] ?? null };
}

export function forwardOptions(query: LineQuery): { readonly ports?: readonly number[] } {
  const { ports } = query;
  return ports === undefined ? {} : { ports: ports.flatMap((list) => list.split(',')).map(readPort) };
}

const MAX_PORT = 65_535n;

function readPort(text: string): number {
  const fault = (why: string) =>
    errors.badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${why}`);
  if (!/^[0-9]+$/.test(text)) throw fault('invalid syntax');
  if (BigInt(text) > MAX_PORT) throw fault('value out of range');
  return Number(text);
}

export function proxyOptions(query: LineQuery): { readonly path?: string } {
  const path = query['path']?.[0];
  return path ? { path } : {};
}

export interface LogOptions {
  readonly container?: string;
  readonly sinceSeconds?: number;
  readonly sinceTime?: string;
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly stream?: string;
}

export function logOptions(query: LineQuery): LogOptions {
  const text = (name: string) => query[name]?.[0];
  const integer = (name: string) => {
    const value = text(name);
    return value === undefined ? undefined : readInteger(value);
  };
  const since = text('sinceTime');
  const read = {
    container: text('container'),
    sinceSeconds: integer('sinceSeconds'),
    sinceTime: since === undefined ? undefined : readTimeValue(since),
    tailLines: integer('tailLines'),
    limitBytes: integer('limitBytes'),
    stream: text('stream'),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as LogOptions;
}

/** Throws where the options contradict themselves. */
export function checkLogOptions(name: string, options: LogOptions, choosesStreams: boolean): void {
  const problems = [...amountProblems(options), ...streamProblems(options, choosesStreams)];
  if (problems.length > 0) throw errors.invalid({ group: '', kind: 'PodLogOptions' }, name, problems);
}

function amountProblems({ tailLines, limitBytes, sinceSeconds, sinceTime }: LogOptions): FieldError[] {
  const problems: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    problems.push(invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1) {
    problems.push(invalid('limitBytes', limitBytes, 'must be greater than 0'));
  }
  if (sinceSeconds === undefined) return problems;
  if (sinceTime !== undefined) {
    problems.push(forbidden(NOWHERE, 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds < 1) {
    problems.push(invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  return problems;
}

const STREAMS = ['All', 'Stderr', 'Stdout'];

function streamProblems({ stream, tailLines }: LogOptions, mayChoose: boolean): FieldError[] {
  if (!mayChoose) return stream === undefined ? [] : [forbidden('stream', 'may not be specified')];
  const chosen = stream ?? 'All';
  const problems = STREAMS.includes(chosen) ? [] : [notSupported('stream', chosen, STREAMS)];
  if (tailLines !== undefined && chosen !== 'All') {
    problems.push(forbidden(NOWHERE, '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return problems;
}

function isOn(query: LineQuery, name: string): boolean {
  const value = query[name]?.[0];
  return value !== undefined && readSwitch(value);
}
