/**
 * `exec`: runs a command in a container, with `-i` on the lines that the user types.
 */
import { StatusError } from 'orchplane';
import type { Command, CommandContext } from '../command.js';
import { at, type Json, textAt } from '../json.js';
import { containerOf, podNamed } from '../pods.js';
import { ServerError } from '../server.js';
import { LineError } from '../split-words.js';
import { review } from './auth.js';

export const exec: Command = {
  name: 'exec',
  summary: 'Run a command in a container',
  usage: '(POD | TYPE/NAME) [-c CONTAINER] [-it] -- COMMAND [ARGUMENTS…]',
  kindAt: 0,
  namesPod: true,
  flags: {
    container: { type: 'text', short: 'c', help: 'the container; the first one by default' },
    stdin: { type: 'switch', short: 'i', help: 'pass the lines that you type to the command' },
    tty: { type: 'switch', short: 't', help: 'accepted; the terminal works line by line' },
  },
  examples: ['exec web-0 -- ls /etc', 'exec -it web-0 -- sh', 'exec deployment/web -- wget -qO- http://web'],
  async run(context) {
    const [word, ...command] = context.args;
    if (word === undefined) throw new LineError('error: pod, type/name or --filename must be specified');
    if (command.length === 0) throw new LineError('error: you must specify at least one command for the container');
    const pod = await podNamed(context, word);
    const name = textAt(pod, 'metadata', 'name');
    await checkPermission(context, name);
    const exitCode = await execute(context, { pod: name, container: containerOf(context, pod), command });
    if (context.signal.aborted) return 130;
    if (exitCode !== 0) context.note(`command terminated with exit code ${exitCode}`);
    return exitCode;
  },
};

interface Execution {
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
}

async function execute(context: CommandContext, { pod, container, command }: Execution): Promise<number> {
  const { shell, namespace, signal, flags } = context;
  const stdin = flags.isOn('stdin') ? context.input?.(`${pod} #`) : undefined;
  try {
    return await shell.exec({
      pod,
      namespace,
      container,
      command,
      signal,
      ...(stdin === undefined ? {} : { stdin }),
      onOutput(text, stream) {
        const lines = text.replace(/\n$/, '');
        if (stream === 'stdout') context.print(lines);
        else context.note(lines);
      },
    });
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    throw new ServerError({ ...error.status } as Json, error.code);
  }
}

/** The page executes commands without a request, so the server is asked whether the user may do it. */
async function checkPermission(context: CommandContext, name: string): Promise<void> {
  const { namespace, identity } = context;
  const resourceAttributes = { namespace, verb: 'create', resource: 'pods', subresource: 'exec', name };
  const answer = await review(context, 'selfsubjectaccessreviews', { resourceAttributes });
  if (at(answer, 'status', 'allowed') === true) return;
  throw new LineError(
    `Error from server (Forbidden): pods "${name}" is forbidden: User "${identity.user}" cannot create resource "pods/exec" in API group "" in the namespace "${namespace}"`,
  );
}
