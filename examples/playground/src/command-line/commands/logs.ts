/**
 * `logs`: prints what a container has written, or follows it.
 */
import { type Command, type CommandContext, SELECTOR_FLAGS } from '../command.js';
import { millisecondsOf } from '../duration.js';
import { type Json, textAt } from '../json.js';
import { containerOf, podNamed, podsWithLabels } from '../pods.js';
import type { Server } from '../server.js';
import { LineError } from '../split-words.js';

/** With a selector kubectl prints only the end of each log. */
const LINES_PER_SELECTED_POD = '10';

export const logs: Command = {
  name: 'logs',
  summary: 'Print the log of a container',
  usage: '(POD | TYPE/NAME | -l LABELS) [-c CONTAINER] [flags]',
  kindAt: 0,
  namesPod: true,
  flags: {
    follow: { type: 'switch', short: 'f', help: 'print new lines until the container ends or Ctrl+C' },
    previous: { type: 'switch', short: 'p', help: 'the log of the container before its last restart' },
    container: { type: 'text', short: 'c', help: 'the container; the first one by default' },
    tail: { type: 'text', help: 'only this many lines from the end' },
    since: { type: 'text', help: "only lines since this time on the cluster's clock: 30s, 5m" },
    timestamps: { type: 'switch', help: 'begin each line with its time' },
    selector: SELECTOR_FLAGS['selector'] ?? { type: 'text', help: '' },
  },
  examples: ['logs web-0 -f', 'logs deployment/web --tail=20 --timestamps', 'logs web-0 --previous', 'logs -l app=web'],
  async run(context) {
    const { args, flags } = context;
    const selector = flags.text('selector');
    if (selector === undefined && args.length === 0) {
      throw new LineError('error: expected POD, TYPE/NAME or a selector (-l)');
    }
    if (selector !== undefined && args.length > 0)
      throw new LineError('error: only a selector (-l) or a POD name is allowed');
    const [word = '', container] = args;
    const pods = selector === undefined ? [await podNamed(context, word)] : await podsWithLabels(context, selector);
    if (pods.length === 0) context.note(`No resources found in ${context.namespace} namespace.`);
    const print = (pod: Json) => printLog(context, pod, container ?? containerOf(context, pod));
    if (flags.isOn('follow')) await Promise.all(pods.map(print));
    else for (const pod of pods) await print(pod);
    return 0;
  },
};

async function printLog(context: CommandContext, pod: Json, container: string): Promise<void> {
  const { flags, namespace, server, signal } = context;
  const since = flags.text('since');
  const tail = flags.text('tail') ?? (flags.has('selector') ? LINES_PER_SELECTED_POD : undefined);
  if (tail !== undefined && !/^-?\d+$/.test(tail))
    throw new LineError(`error: invalid argument "${tail}" for "--tail" flag`);
  const lines = logLines(server, {
    namespace,
    pod: textAt(pod, 'metadata', 'name'),
    signal,
    query: {
      container,
      follow: isOn(flags.isOn('follow')),
      previous: isOn(flags.isOn('previous')),
      timestamps: isOn(flags.isOn('timestamps')),
      tailLines: tail?.startsWith('-') === true ? undefined : tail,
      sinceSeconds: since === undefined ? undefined : String(Math.ceil(millisecondsOf(since, 'since') / 1_000)),
    },
  });
  for await (const line of lines) context.print(line);
}

function isOn(value: boolean): string | undefined {
  return value ? 'true' : undefined;
}

export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  /** `container`, `follow`, `previous`, … */
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** The lines of a log; with `follow`, until the container ends or the signal aborts. */
export function logLines(server: Server, { namespace, pod, query, signal }: LogRequest): AsyncGenerator<string> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  return server.textLines({ path, query, signal, accept: '*/*' });
}
