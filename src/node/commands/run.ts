/**
 * The command `orchplane run`: runs another command with a cluster of its own.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import process from 'node:process';
import { type CommandEnvironment, defineCommand, UsageError } from './command.js';
import { runServe } from './serve.js';
import { readServeSettings, SERVE_OPTIONS } from './serve-settings.js';

export const command = defineCommand({
  usage: ['run [options] -- COMMAND [ARGUMENT ...]'],
  summary:
    'Serves a cluster while a command runs, for tests in any language. The environment variable KUBECONFIG of the command names the cluster. The exit code is that of the command.',
  options: SERVE_OPTIONS,
  readsArguments: false,
  async run({ values, positionals }, environment) {
    const [program, ...args] = positionals;
    if (program === undefined) throw new UsageError('run needs a command: orchplane run -- pytest');
    const settings = readServeSettings({ values, positionals: [] });
    if (settings.dialect !== 'kubernetes')
      environment.writeError('orchplane: client libraries of Kubernetes need the dialect kubernetes\n');
    let code = 0;
    await runServe(settings, environment, async (kubeconfig, stopped) => {
      code = await runProgram([program, ...args], { kubeconfig, stopped, environment });
    });
    return code;
  },
});

interface ProgramSettings {
  readonly kubeconfig: string;
  readonly stopped: Promise<NodeJS.Signals>;
  readonly environment: CommandEnvironment;
}

/** Returns the exit code; 128 and the number of the signal that ended the program, as shells do. */
function runProgram(
  [program = '', ...args]: readonly string[],
  { kubeconfig, stopped, environment }: ProgramSettings,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: 'inherit',
      env: { ...environment.variables, KUBECONFIG: kubeconfig },
    });
    // Ctrl-C in a terminal sends the signal to both processes; others only to this one.
    void stopped.then((signal) => {
      if (signal !== 'SIGINT' || !environment.isTerminal.out) child.kill('SIGTERM');
    });
    // A second signal ends this process at once.
    const end = (): void => void child.kill('SIGKILL');
    process.on('exit', end);
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new UsageError(`there is no command "${program}"`) : error),
    );
    child.on('exit', (code, signal) => {
      process.off('exit', end);
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
    });
  });
}
