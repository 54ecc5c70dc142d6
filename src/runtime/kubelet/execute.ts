/**
 * Runs commands in running containers, for `exec`, probes and hooks.
 */
import { errors } from '../../meta/errors.js';
import type { ContainerStreams, ExecResult } from '../../protocol/connection.js';
import { onAbort } from '../../util/abort.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import { commandBudget } from '../commands.js';
import type { RunningProcess } from '../program.js';
import { ClientOutput } from './client-output.js';
import type { KubeletContainer } from './container.js';
import { type CommandResult, inBackground, type PodEnvironment } from './pod-environment.js';

/** The output of a probe or hook is cut at this length. */
const MAX_OUTPUT_BYTES = 10 * 1024;

interface CommandStreams {
  readonly stdin: ReadableStream<Uint8Array>;
  readonly stdout: (bytes: Uint8Array) => MaybePromise<void>;
  readonly stderr: (bytes: Uint8Array) => MaybePromise<void>;
}

/** Throws if the container does not run or the command cannot be started. */
function startCommand(
  pod: PodEnvironment,
  container: KubeletContainer,
  command: readonly string[],
  streams: CommandStreams,
): RunningProcess {
  const { run, name } = container;
  if (run === undefined)
    throw errors.internal(`unable to upgrade connection: container not found (${JSON.stringify(name)})`);
  const started = run.image.start({
    pod: pod.current(),
    container: pod.containerSpec(name),
    exec: command,
    command: [],
    args: [],
    env: run.env,
    files: run.files,
    ...streams,
    network: pod.network,
    client: pod.client,
    clock: pod.clock,
    onUsage: (usage) => {
      container.usage = usage;
    },
  });
  // It ends with its container.
  const undo = onAbort(run.ended, () => started.kill('SIGKILL'));
  inBackground(pod, started.exit.then(undo));
  return started;
}

/** Runs a command and collects its output. */
export async function executeCommand(
  pod: PodEnvironment,
  container: KubeletContainer,
  command: readonly string[],
  timeoutMs: number | undefined,
): Promise<CommandResult> {
  let output = '';
  const decoder = new TextDecoder();
  const collect = (bytes: Uint8Array): void => {
    const left = MAX_OUTPUT_BYTES - output.length;
    if (left > 0) output += decoder.decode(bytes.subarray(0, left), { stream: true });
  };
  const stdin = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  let process: RunningProcess;
  await commandBudget.untilFree(pod.clock);
  try {
    process = startCommand(pod, container, command, { stdin, stdout: collect, stderr: collect });
  } catch (error) {
    return { exitCode: undefined, output: messageOf(error), isStartError: true };
  }
  const { exit } = process;
  if (timeoutMs === undefined) return { exitCode: (await exit).exitCode, output };
  let isLate = false;
  const undo = pod.clock.after(timeoutMs, () => {
    isLate = true;
    process.kill('SIGKILL');
  });
  const { exitCode } = await exit;
  undo();
  if (isLate)
    return {
      exitCode: undefined,
      output: `command timed out: ${command.join(' ')} timed out after ${timeoutMs / 1000}s`,
    };
  return { exitCode, output };
}

/** Runs a command with the streams of a client; a terminal has one for all output. The command is killed when the client disconnects. */
export async function runWithStreams(
  pod: PodEnvironment,
  container: KubeletContainer,
  command: readonly string[],
  { stdin, stdout, stderr, signal, tty }: ContainerStreams & { readonly tty: boolean },
): Promise<ExecResult> {
  const writers = { stdout: stdout?.getWriter(), stderr: stderr?.getWriter() };
  const output = new ClientOutput(() => process?.kill('SIGKILL'));
  const empty = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  let process: RunningProcess | undefined;
  try {
    process = startCommand(pod, container, command, {
      stdin: stdin ?? empty,
      stdout: (bytes) => output.write(writers.stdout, bytes),
      stderr: (bytes) => output.write(tty ? writers.stdout : writers.stderr, bytes),
    });
  } catch (error) {
    throw errors.internal(`error executing command in container: failed to exec in container: ${messageOf(error)}`);
  }
  const { exit } = process;
  const kill = (): void => process?.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  pod.busyFor(exit);
  const { exitCode } = await exit;
  signal.removeEventListener('abort', kill);
  await output.finished();
  return { exitCode };
}
