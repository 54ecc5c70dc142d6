/**
 * Turns the command lines of kube-apiserver and etcd, as envtest writes them, into those of this program. They come from
 * `pkg/internal/testing/controlplane` of controller-runtime.
 */
import { SERVER_FLAGS } from '../server-flags.js';

/** The flags of a command line: all values of each name, in order. */
type Flags = ReadonlyMap<string, readonly string[]>;

/** `--name=value`, `--name value` or `--name`, which means `true`. A name may have one dash. */
export function parseFlags(args: readonly string[]): Flags {
  const flags = new Map<string, string[]>();
  for (let at = 0; at < args.length; at++) {
    const [, name, attached] = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(args[at] ?? '') ?? [];
    if (name === undefined) continue;
    const next = args[at + 1];
    const hasNext = attached === undefined && next !== undefined && !next.startsWith('-');
    if (hasNext) at++;
    flags.set(name, [...(flags.get(name) ?? []), attached ?? (hasNext ? next : 'true')]);
  }
  return flags;
}

/** Flags that `serve` takes under another name. */
const RENAMED: Readonly<Record<string, string>> = { 'secure-port': 'port', 'bind-address': 'host' };

/** Flags without a meaning here: there is no etcd, and endpoints get an address of this machine. */
const IGNORED = ['advertise-address', 'etcd-prefix', 'etcd-servers', 'v'];

const PASSED_ON = [...Object.keys(SERVER_FLAGS), 'feature-gates', 'runtime-config'];

/** All flags that an API server takes without a warning. */
export const API_SERVER_FLAGS: readonly string[] = [...PASSED_ON, ...Object.keys(RENAMED), ...IGNORED].sort();

/** The arguments of `orchplane` that stand for those of kube-apiserver, and what of them is ignored with a warning. */
export interface TranslatedArguments {
  readonly args: readonly string[];
  readonly ignored: readonly string[];
}

/** Adds the defaults of kube-apiserver that differ from those of `serve`. */
export function serveArguments(apiServerArgs: readonly string[]): TranslatedArguments {
  const flags = parseFlags(apiServerArgs);
  const listOf = (name: string): string[] => (flags.get(name) ?? []).flatMap((value) => value.split(','));
  const args = ['serve'];
  for (const [name, values] of flags) {
    const flag = RENAMED[name] ?? name;
    if (Object.hasOwn(RENAMED, name) || PASSED_ON.includes(name))
      args.push(...values.map((value) => `--${flag}=${value}`));
  }
  if (!flags.has('authorization-mode')) args.push('--authorization-mode=AlwaysAllow');
  if (!flags.has('bind-address')) args.push('--host=0.0.0.0');
  if (!flags.has('secure-port')) args.push('--port=6443');
  if (!listOf('disable-admission-plugins').includes('ServiceAccount')) {
    args.push('--enable-admission-plugins=ServiceAccount');
  }
  // From this verbosity on, the reference server logs requests.
  if (Number(flags.get('v')?.at(-1) ?? 0) >= 3) args.push('--log');
  const ignored = [...flags.keys()].filter((name) => !API_SERVER_FLAGS.includes(name));
  return { args, ignored };
}
