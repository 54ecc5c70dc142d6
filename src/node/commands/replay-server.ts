/**
 * `orchplane replay --serve`: answers requests with recorded answers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exchangeKey, type RecordedExchange } from '../../http/recording.js';
import { systemClock } from '../../util/clock.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { CommandEnvironment, CommandValues } from './command.js';
import { type LISTENER_OPTIONS, sendStatus, startListener } from './proxy-listener.js';

export async function serveRecording(
  file: string,
  exchanges: readonly RecordedExchange[],
  values: CommandValues<typeof LISTENER_OPTIONS>,
  environment: CommandEnvironment,
): Promise<number> {
  const stopped = environment.untilStopped();
  const answers = new RecordedAnswers(exchanges);
  await using listener = await startListener(values, {
    request(request, response) {
      const exchange = answers.next(request.method ?? 'GET', request.url ?? '/');
      if (exchange !== undefined) return sendRecorded(exchange, request, response);
      environment.writeError(`orchplane: not recorded: ${request.method} ${request.url}\n`);
      sendStatus(response, 404, `the recording has no answer to ${request.method} ${request.url}`);
    },
  });
  environment.writeOut(
    `serves the answers of ${file}; in another terminal:\n\n  export KUBECONFIG='${listener.kubeconfig}'\n\nCtrl-C ends it.\n`,
  );
  await stopped;
  return 0;
}

/** Answers by request: each is given once, in the recorded order; the last one is repeated. */
export class RecordedAnswers {
  readonly #exact = new Map<string, Answers>();
  /** For requests with other versions and timeouts than the recorded ones. */
  readonly #loose = new Map<string, Answers>();

  constructor(exchanges: readonly RecordedExchange[]) {
    for (const exchange of exchanges.filter(({ isUpgrade }) => isUpgrade !== true)) {
      for (const [map, isLoose] of [
        [this.#exact, false],
        [this.#loose, true],
      ] as const) {
        const key = exchangeKey(exchange, isLoose);
        getOrInsertComputed(map, key, () => ({ list: [], next: 0 })).list.push(exchange);
      }
    }
  }

  next(method: string, path: string): RecordedExchange | undefined {
    const found =
      this.#exact.get(exchangeKey({ method, path }, false)) ?? this.#loose.get(exchangeKey({ method, path }, true));
    if (found === undefined) return undefined;
    const { list, next } = found;
    if (next < list.length - 1) found.next++;
    return list[next];
  }
}

interface Answers {
  readonly list: RecordedExchange[];
  /** The index of the next answer. */
  next: number;
}

function sendRecorded(exchange: RecordedExchange, request: IncomingMessage, response: ServerResponse): void {
  const { status, responseHeaders, responseBody = '', stream, isCut } = exchange;
  request.resume();
  const { 'content-encoding': _encoding, ...headers } = responseHeaders;
  response.writeHead(status, headers);
  response.flushHeaders();
  if (stream === undefined) {
    response.end(typeof responseBody === 'string' ? responseBody : Buffer.from(responseBody.base64, 'base64'));
    return;
  }
  const timers = stream.map(([ms, text]) => systemClock.after(ms, () => void response.write(text)));
  // A watch that the client has ended would have stayed open.
  if (isCut !== true) timers.push(systemClock.after(stream.at(-1)?.[0] ?? 0, () => void response.end()));
  response.on('close', () => {
    for (const stop of timers) stop();
  });
}
