/**
 * The options of the command line that concern etcd snapshots: those of `orchplane serve --etcd-snapshot`, and all of
 * `orchplane snapshot`.
 */
import type { DialectName } from '../meta/dialect.js';
import { UsageError } from './server-flags.js';

export const SNAPSHOT_FLAGS = {
  'etcd-snapshot': { type: 'string' },
  'etcd-prefix': { type: 'string' },
  'snapshot-skip': { type: 'string', multiple: true },
  'skip-hash-check': { type: 'boolean' },
  writable: { type: 'boolean' },
  output: { type: 'string', short: 'o' },
} as const;

/** The parsed options. */
interface Values {
  readonly 'etcd-snapshot'?: string | undefined;
  readonly 'etcd-prefix'?: string | undefined;
  readonly 'etcd-servers'?: readonly string[] | undefined;
  readonly 'snapshot-skip'?: readonly string[] | undefined;
  readonly 'skip-hash-check'?: boolean | undefined;
  readonly writable?: boolean | undefined;
  readonly output?: string | undefined;
  readonly data?: readonly string[] | undefined;
  readonly apply?: readonly string[] | undefined;
  readonly controllers?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly dialect?: string | undefined;
}

/** The snapshot that `orchplane serve` opens. */
export interface OpenedSnapshot {
  readonly file: string;
  readonly prefix: string | undefined;
  readonly skip: readonly Skippable[];
  readonly skipHashCheck: boolean;
  readonly isWritable: boolean;
}

type Skippable = 'unserved' | 'encrypted';

/** Throws UsageError. */
export function readOpenedSnapshot(values: Values): OpenedSnapshot | undefined {
  const file = values['etcd-snapshot'];
  if (values.output !== undefined) throw new UsageError('--output is an option of "orchplane snapshot"');
  if (file === undefined) {
    const dependent = (['writable', 'snapshot-skip', 'skip-hash-check', 'etcd-prefix'] as const).find(
      (name) => values[name] !== undefined && (name !== 'etcd-prefix' || values['etcd-servers'] === undefined),
    );
    if (dependent !== undefined) throw new UsageError(`--${dependent} needs --etcd-snapshot`);
    return undefined;
  }
  if (file === '') throw new UsageError('--etcd-snapshot takes a file that "etcdctl snapshot save" wrote');
  if (values.data !== undefined) throw new UsageError('--etcd-snapshot and --data contradict each other');
  const isWritable = values.writable === true;
  const writer = (['apply', 'controllers'] as const).find((name) => values[name] !== undefined);
  if (!isWritable && writer !== undefined) throw new UsageError(`--${writer} with --etcd-snapshot needs --writable`);
  return {
    file,
    prefix: values['etcd-prefix'],
    skip: (values['snapshot-skip'] ?? []).flatMap((list) => list.split(',')).map(readSkippable),
    skipHashCheck: values['skip-hash-check'] === true,
    isWritable,
  };
}

function readSkippable(text: string): Skippable {
  if (text === 'unserved' || text === 'encrypted') return text;
  throw new UsageError(`--snapshot-skip takes unserved and encrypted, got "${text}"`);
}

/** The options of `orchplane snapshot`. */
export interface SnapshotSettings {
  readonly output: string;
  /** What to read: the folder of a cluster that is not served, or a cluster that is. */
  readonly source: { readonly data: string } | { readonly kubeconfig: string; readonly dialect: DialectName };
  readonly prefix: string | undefined;
}

const OPTIONS_OF_SNAPSHOT: readonly string[] = ['output', 'data', 'kubeconfig', 'dialect', 'etcd-prefix'];

/** Throws UsageError. */
export function readSnapshotSettings(rest: readonly string[], values: Values): SnapshotSettings {
  const other = Object.keys(values).find((name) => !OPTIONS_OF_SNAPSHOT.includes(name));
  if (other !== undefined) throw new UsageError(`snapshot has no option --${other}; see "orchplane --help"`);
  if (rest.length > 0) throw new UsageError(`unexpected "${rest[0]}"; the file of a snapshot is given with --output`);
  const { output = '', kubeconfig, dialect } = values;
  if (output === '') throw new UsageError('snapshot needs --output, the file to write');
  const [data, ...more] = values.data ?? [];
  if ((data === undefined) === (kubeconfig === undefined) || more.length > 0) {
    throw new UsageError('snapshot takes either --kubeconfig, for a running cluster, or --data, for a folder');
  }
  const prefix = values['etcd-prefix'];
  if (kubeconfig !== undefined) {
    return { output, source: { kubeconfig, dialect: readDialect(dialect ?? 'kubernetes') }, prefix };
  }
  if (dialect !== undefined) throw new UsageError('--dialect is for --kubeconfig; a folder has its dialect');
  return { output, source: { data: data ?? '' }, prefix };
}

export function readDialect(text: string): DialectName {
  if (text === 'kubernetes' || text === 'orch') return text;
  throw new UsageError(`--dialect takes kubernetes or orch, got "${text}"`);
}
