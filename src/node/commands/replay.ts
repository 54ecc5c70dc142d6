/**
 * The command `orchplane replay`: checks the answers of a cluster against a recording, or serves the recorded answers.
 */
import { readFile } from 'node:fs/promises';
import { AnswerComparison, type AnswerDifference } from '../../http/compare-recording.js';
import {
  isResourcePath,
  isWatchPath,
  parseRecording,
  type RecordedBody,
  type RecordedExchange,
  RecordingError,
} from '../../http/recording.js';
import { isRecord } from '../../util/json.js';
import { within } from '../../util/within.js';
import {
  type CommandEnvironment,
  type CommandOptions,
  type CommandValues,
  defineCommand,
  refuseBeside,
  refuseWithout,
  UsageError,
} from './command.js';
import { errorLine } from './manifest-input.js';
import {
  addressIn,
  type ClusterConnection,
  KUBECONFIG_OPTIONS,
  kubeconfigConnection,
  unreachable,
} from './open-cluster.js';
import { counted, OUTPUT_OPTION, tornNote, valueText } from './output.js';
import { progressBar } from './progress.js';
import { LISTENER_OPTIONS } from './proxy-listener.js';

const OPTIONS = {
  serve: { type: 'boolean', help: 'serve the recorded answers until Ctrl-C' },
  from: {
    type: 'string',
    value: 'FILE',
    help: 'the state of the new cluster: a file of "orchplane import", a snapshot',
  },
  ...OUTPUT_OPTION,
  ...KUBECONFIG_OPTIONS,
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    help: 'send the requests to this running cluster; default: to a new cluster, also if KUBECONFIG is set',
  },
  dialect: { ...KUBECONFIG_OPTIONS.dialect, help: 'the dialect of the new or running cluster; default: kubernetes' },
  ...LISTENER_OPTIONS,
} as const satisfies CommandOptions;

type ReplayValues = CommandValues<typeof OPTIONS>;

export const command = defineCommand({
  usage: ['replay FILE [--from FILE | --kubeconfig FILE] [options]', 'replay FILE --serve [--port N] [options]'],
  summary:
    'Sends the recorded requests to a new orchplane cluster, or to the one of --kubeconfig, and reports answers that differ from the recorded ones, apart from uids, versions, generated names and times. The exit code is 1 if there are some. With --serve it answers requests as recorded.',
  options: OPTIONS,
  async run({ values, positionals }, environment) {
    const file = checkValues(values, positionals);
    const exchanges = await readRecording(file, environment);
    if (values.serve === true) {
      const { serveRecording } = await import('./replay-server.js');
      return serveRecording(file, exchanges, values, environment);
    }
    await using connection = await openConnection(values, environment);
    const checked = await checkExchanges(connection, exchanges, environment);
    report(checked, values, environment);
    return checked.some(({ differences }) => differences.length > 0) ? 1 : 0;
  },
});

/** Returns the file. Throws UsageError. */
function checkValues(values: ReplayValues, [file = '', ...others]: readonly string[]): string {
  if (file === '' || others.length > 0) throw new UsageError('replay takes one file');
  if (values.serve === true) {
    refuseBeside('--serve', values, ['from', 'output', 'kubeconfig', 'context', 'token', 'dialect']);
    return file;
  }
  refuseWithout('--serve', values, ['port', 'host', 'client-kubeconfig']);
  if (values.from !== undefined) refuseBeside('--from', values, ['kubeconfig']);
  if (values.kubeconfig === undefined) refuseWithout('--kubeconfig', values, ['context', 'token']);
  return file;
}

async function readRecording(file: string, { writeError }: CommandEnvironment): Promise<readonly RecordedExchange[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file}: ${error.code === 'ENOENT' ? 'no such file' : error.message}`);
  });
  try {
    let torn = 0;
    const exchanges = parseRecording(text, () => torn++);
    if (torn > 0) writeError(errorLine(tornNote(file, torn)));
    return exchanges;
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    throw new UsageError(`${file} ${error.message}`);
  }
}

async function openConnection(values: ReplayValues, environment: CommandEnvironment): Promise<ClusterConnection> {
  if (values.kubeconfig !== undefined) return kubeconfigConnection(values, environment);
  const [{ createCluster }, { createFetchHandler }, { protobuf }, { createFrom, readState }] = await Promise.all([
    import('../../cluster/full-cluster.js'),
    import('../../http/handler.js'),
    import('../../codec/protobuf/index.js'),
    import('./restore.js'),
  ]);
  const dialect = values.dialect ?? 'kubernetes';
  const cluster =
    values.from === undefined
      ? createCluster({ dialect })
      : createFrom(await readState(values.from, { dialect }), { dialect });
  return {
    url: 'http://replay',
    namespace: 'default',
    dialect,
    // As "orchplane serve".
    fetch: createFetchHandler(cluster, { codecs: [protobuf] }),
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

interface CheckedExchange {
  readonly exchange: RecordedExchange;
  /** Why it was not compared. */
  readonly skipped?: string;
  readonly differences: readonly AnswerDifference[];
}

/** Sends the requests one after the other. Watches run until all requests are answered. */
async function checkExchanges(
  connection: ClusterConnection,
  exchanges: readonly RecordedExchange[],
  environment: CommandEnvironment,
): Promise<readonly CheckedExchange[]> {
  using bar = progressBar(environment);
  const comparison = new AnswerComparison();
  const checked: CheckedExchange[] = [];
  const watches: { readonly exchange: RecordedExchange; readonly response: Response }[] = [];
  for (const [index, exchange] of exchanges.entries()) {
    bar.update(index, exchanges.length, `${exchange.method} ${exchange.path}`);
    const skipped = skipReason(exchange);
    if (skipped !== undefined) {
      checked.push({ exchange, skipped, differences: [] });
      continue;
    }
    const response = await send(connection, exchange, comparison);
    if (isWatchPath(exchange.path) && response.ok && exchange.status === 200) watches.push({ exchange, response });
    else
      checked.push({
        exchange,
        differences: compareAnswers(comparison, exchange, response.status, await response.text()),
      });
  }
  for (const { exchange, response } of watches) {
    checked.push({ exchange, differences: await compareWatch(comparison, exchange, response) });
  }
  return checked.sort((left, right) => left.exchange.id - right.exchange.id);
}

/** What cannot be compared. */
function skipReason({ path, isUpgrade, stream, responseBody, isCut }: RecordedExchange): string | undefined {
  if (!isResourcePath(path)) return 'not an object';
  if (isUpgrade === true) return 'an upgraded connection';
  if (stream !== undefined && !isWatchPath(path)) return 'a stream';
  if (isCut === true && stream === undefined) return 'an exchange that is cut';
  if (typeof responseBody === 'object') return 'not JSON';
  return undefined;
}

async function send(
  connection: ClusterConnection,
  { method, path, requestHeaders, requestBody }: RecordedExchange,
  comparison: AnswerComparison,
): Promise<Response> {
  const headers = new Headers(requestHeaders);
  const token = typeof connection.token === 'function' ? await connection.token() : connection.token;
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const body = typeof requestBody === 'string' ? comparison.translate(requestBody) : bytesOf(requestBody);
  const actual = comparison.translate(path);
  // Recorded names stand for others. What they stand for must not change the host, which gets the token.
  if (!isResourcePath(actual)) throw new UsageError(`the recording has a request to ${actual}`);
  const url = addressIn(connection.url, actual);
  const request = new Request(url, { method, headers, ...(body === undefined ? {} : { body }) });
  return connection.fetch(request).catch((cause: unknown) => {
    throw unreachable(url, cause);
  });
}

function bytesOf(body: RecordedBody | undefined): Uint8Array<ArrayBuffer> | undefined {
  return typeof body === 'object' ? Uint8Array.from(Buffer.from(body.base64, 'base64')) : undefined;
}

function textOf(body: RecordedBody): string {
  return typeof body === 'string' ? body : Buffer.from(body.base64, 'base64').toString();
}

function compareAnswers(
  comparison: AnswerComparison,
  { status, responseBody = '' }: RecordedExchange,
  actualStatus: number,
  actualBody: string,
): readonly AnswerDifference[] {
  const [recorded, actual] = [parsed(textOf(responseBody)), parsed(actualBody)];
  if (status === actualStatus) return comparison.compare(recorded, actual);
  const messageOf = (body: unknown): unknown => (isRecord(body) ? body['message'] : undefined);
  return [
    { path: 'status code', recorded: status, actual: actualStatus },
    ...(status >= 400 || actualStatus >= 400
      ? [{ path: '.message', recorded: messageOf(recorded), actual: messageOf(actual) }]
      : comparison.compare(recorded, actual)),
  ];
}

/** A JSON value, or the text if it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

/** How long an event may take that the recording has. */
const EVENT_TIMEOUT_MS = 1_000;

async function compareWatch(
  comparison: AnswerComparison,
  { stream = [] }: RecordedExchange,
  response: Response,
): Promise<readonly AnswerDifference[]> {
  // A cut recording ends with a part of an event.
  const recorded = eventsIn(stream.map(([, text]) => text).join(''));
  const actual: unknown[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (reader !== undefined && actual.length < recorded.length) {
    const next = await within(EVENT_TIMEOUT_MS, reader.read());
    if (next === undefined || next.done) break;
    text += next.value;
    actual.splice(0, actual.length, ...eventsIn(text));
  }
  await reader?.cancel();
  return recorded.flatMap((event, index) =>
    comparison.compare(event, actual[index]).map((each) => ({ ...each, path: `event ${index + 1}${each.path}` })),
  );
}

/** The events of complete lines, without bookmarks, whose times a server chooses. */
function eventsIn(text: string): unknown[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.flatMap((line) => (line.trim() === '' || line.includes('"type":"BOOKMARK"') ? [] : [parsed(line)]));
}

/** Differences of one answer that are printed. */
const SHOWN = 10;

function report(
  checked: readonly CheckedExchange[],
  { output = 'table' }: ReplayValues,
  environment: CommandEnvironment,
): void {
  const different = checked.filter(({ differences }) => differences.length > 0);
  const skipped = checked.filter((each) => each.skipped !== undefined).length;
  const compared = checked.length - skipped;
  if (output !== 'table') {
    const answers = different.map(({ exchange: { id, method, path }, differences }) => ({
      id,
      method,
      path,
      differences,
    }));
    environment.writeOut(valueText(output, { compared, skipped, different: answers }));
    return;
  }
  for (const { exchange, differences } of different) {
    environment.writeOut(`#${exchange.id} ${exchange.method} ${exchange.path}\n`);
    for (const { path, recorded, actual } of differences.slice(0, SHOWN)) {
      environment.writeOut(`  ${path || 'the body'}: recorded ${shown(recorded)}, answered ${shown(actual)}\n`);
    }
    if (differences.length > SHOWN) environment.writeOut(`  and ${differences.length - SHOWN} more\n`);
  }
  environment.writeOut(
    `compared ${counted(compared, 'answer')}: ${different.length} different; ${skipped} not compared\n`,
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)} …` : text;
}
