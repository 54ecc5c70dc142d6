/**
 * The words of the command line → what is to be done.
 */
import { parseArgs } from 'node:util';
import type { FeatureGateSettings } from '../kinds/feature-gates.js';
import type { DialectName } from '../meta/dialect.js';

export type Command =
  | { readonly type: 'help' }
  | { readonly type: 'version' }
  | { readonly type: 'serve'; readonly settings: ServeSettings };

export interface ServeSettings {
  readonly port: number;
  readonly host: string | undefined;
  readonly dialect: DialectName;
  /** The folder where the cluster lives; absent: in memory alone. */
  readonly data: string | undefined;
  /** Files, folders, or `-` for standard input. */
  readonly manifests: readonly string[];
  readonly kubeconfig: string | undefined;
  readonly tls: boolean;
  readonly token: string | undefined;
  readonly anonymous: boolean;
  readonly log: boolean;
  readonly featureGates: FeatureGateSettings;
  readonly runtimeConfig: string | undefined;
  readonly controllers: ServedControllers;
}

/** `standard`: all there are. `ready`: these, and pods become ready. */
export type ServedControllers = 'none' | 'standard' | 'ready';

/** A command line that cannot be followed; the message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const HELP = `orchplane: a cluster control plane in one process

Usage
  orchplane serve [options]     serve a cluster until Ctrl-C
  orchplane --help | --version

Options of serve
  --port N               the port; any free one unless given
  --host H               where to listen; 127.0.0.1 unless given, which only this machine reaches
  --dialect NAME         kubernetes (for kubectl and client libraries; the default here) or orch
  --data DIR             keep the cluster in this folder: objects, versions, certificate and tokens survive a restart,
                         and so do its kubeconfigs; in memory alone unless given
  --apply FILE           manifests to apply first: a file, a folder, or - for standard input; may be repeated
  --kubeconfig FILE      where to write the kubeconfig; a temporary file unless given
  --no-tls               plain HTTP; kubectl shows no token there, so it needs --anonymous as well
  --tls                  HTTPS with a certificate made up at the start, as without this option
  --token T              the bearer token of the administrator; a random one unless given
  --anonymous            ask nobody for a token
  --controllers WHICH    none; standard: all there are; ready: these, and every pod becomes ready. None unless given
  --log                  a line for every request
  --feature-gates LIST   A=true,B=false
  --runtime-config LIST  api/all=true, GROUP/VERSION=true, …
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
  port: { type: 'string' },
  host: { type: 'string' },
  dialect: { type: 'string' },
  data: { type: 'string', multiple: true },
  apply: { type: 'string', multiple: true },
  kubeconfig: { type: 'string' },
  tls: { type: 'boolean' },
  'no-tls': { type: 'boolean' },
  token: { type: 'string' },
  anonymous: { type: 'boolean' },
  log: { type: 'boolean' },
  controllers: { type: 'string' },
  'feature-gates': { type: 'string', multiple: true },
  'runtime-config': { type: 'string', multiple: true },
} as const;

/** Throws UsageError. */
export function parseCommandLine(words: readonly string[]): Command {
  const { values, positionals } = parseWords(words);
  if (values.help === true) return { type: 'help' };
  if (values.version === true) return { type: 'version' };
  const [command, ...rest] = positionals;
  if (command === undefined) throw new UsageError('what to do? "orchplane serve", or "orchplane --help"');
  if (command !== 'serve') throw new UsageError(`unknown command "${command}"; see "orchplane --help"`);
  // A shell turns `--apply *.yaml` into one option and many words.
  if (rest.length > 0 && values.apply === undefined) {
    throw new UsageError(`unexpected "${rest[0]}"; manifests are given with --apply`);
  }
  if ((values.data?.length ?? 0) > 1) {
    throw new UsageError('--data takes one folder, where the cluster lives; manifests are given with --apply');
  }
  if (values.tls === true && values['no-tls'] === true)
    throw new UsageError('--tls and --no-tls contradict each other');
  if (values.token !== undefined && values.anonymous === true) {
    throw new UsageError('--token and --anonymous contradict each other');
  }
  if (values.token !== undefined && !/^[\x21-\x7e]+$/.test(values.token)) {
    throw new UsageError('--token takes printable characters without spaces');
  }
  return {
    type: 'serve',
    settings: {
      port: readPort(values.port ?? '0'),
      host: values.host,
      dialect: readDialect(values.dialect ?? 'kubernetes'),
      data: readData(values.data?.[0]),
      manifests: [...(values.apply ?? []), ...rest],
      kubeconfig: values.kubeconfig,
      tls: values['no-tls'] !== true,
      token: values.token,
      anonymous: values.anonymous === true,
      log: values.log === true,
      controllers: readControllers(values.controllers ?? 'none'),
      featureGates: readGates((values['feature-gates'] ?? []).join(',')),
      runtimeConfig: values['runtime-config']?.join(','),
    },
  };
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    // Its first sentence says it; the rest explains how words that begin with a dash could be meant otherwise.
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${error.message.split(/\. |\n/, 1)[0]}; see "orchplane --help"`);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port takes a number from 0 to 65535, got "${text}"`);
}

function readData(text: string | undefined): string | undefined {
  if (text !== '' && text !== '-') return text;
  throw new UsageError('--data takes a folder, where the cluster lives; manifests are given with --apply');
}

function readDialect(text: string): DialectName {
  if (text === 'kubernetes' || text === 'orch') return text;
  throw new UsageError(`--dialect takes kubernetes or orch, got "${text}"`);
}

function readControllers(text: string): ServedControllers {
  if (text === 'none' || text === 'standard' || text === 'ready') return text;
  throw new UsageError(`--controllers takes none, standard or ready, got "${text}"`);
}

function readGates(text: string): FeatureGateSettings {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  return Object.fromEntries(
    entries.map((entry) => {
      const [name = '', value = ''] = entry.trim().split('=');
      if (!/^(true|false)$/i.test(value))
        throw new UsageError(`--feature-gates takes NAME=true or NAME=false, got "${entry}"`);
      return [name, value.toLowerCase() === 'true'];
    }),
  );
}
