/**
 * The options of `orchplane serve --etcd-snapshot`.
 */
import { type CommandOptions, UsageError } from './commands/command.js';

export const PREFIX_FLAG = {
  'etcd-prefix': {
    type: 'string',
    value: 'PREFIX',
    help: 'where kube-apiserver keeps its objects in etcd; default: /registry',
  },
} as const;

export const SNAPSHOT_FLAGS = {
  'etcd-snapshot': {
    type: 'string',
    value: 'FILE',
    help: 'start from what "etcdctl snapshot save" wrote on a real cluster; read-only',
  },
  writable: { type: 'boolean', help: 'allow changes to it, in memory; the file stays as it is' },
  'snapshot-skip': {
    type: 'string',
    multiple: true,
    value: 'LIST',
    help: 'leave out objects that cannot be served: unserved (their kind is not served; see --runtime-config), encrypted (by the server that stored them)',
  },
  'skip-hash-check': {
    type: 'boolean',
    help: 'open a file without a hash, such as member/snap/db of a stopped etcd',
  },
  ...PREFIX_FLAG,
} as const satisfies CommandOptions;

/** The parsed options. */
interface Values {
  readonly 'etcd-snapshot'?: string | undefined;
  readonly 'etcd-prefix'?: string | undefined;
  readonly 'etcd-servers'?: readonly string[] | undefined;
  readonly 'snapshot-skip'?: readonly string[] | undefined;
  readonly 'skip-hash-check'?: boolean | undefined;
  readonly writable?: boolean | undefined;
  readonly data?: readonly string[] | undefined;
  readonly apply?: readonly string[] | undefined;
  readonly controllers?: string | undefined;
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

/** Throws UsageError. */
export function readSkippable(text: string): Skippable {
  if (text === 'unserved' || text === 'encrypted') return text;
  throw new UsageError(`--snapshot-skip takes unserved and encrypted, got "${text}"`);
}
