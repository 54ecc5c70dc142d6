/** The flags of `orchplane serve` for storage in etcd, with the names of the reference server's. */
import { UsageError } from './server-flags.js';

export const ETCD_FLAGS = {
  'etcd-servers': { type: 'string', multiple: true },
  'etcd-cafile': { type: 'string' },
  'etcd-certfile': { type: 'string' },
  'etcd-keyfile': { type: 'string' },
} as const;

interface Values {
  readonly 'etcd-servers'?: readonly string[] | undefined;
  readonly 'etcd-cafile'?: string | undefined;
  readonly 'etcd-certfile'?: string | undefined;
  readonly 'etcd-keyfile'?: string | undefined;
  readonly 'etcd-prefix'?: string | undefined;
  readonly 'etcd-snapshot'?: string | undefined;
  readonly data?: readonly string[] | undefined;
  readonly 'service-account-signing-key-file'?: string | undefined;
}

/** The etcd of a cluster. */
export interface EtcdSettings {
  readonly endpoints: readonly string[];
  readonly prefix: string | undefined;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** Throws UsageError. */
export function readEtcdSettings(values: Values): EtcdSettings | undefined {
  const endpoints = (values['etcd-servers'] ?? []).flatMap((list) => list.split(',')).filter((url) => url !== '');
  const [caFile, certFile, keyFile] = [values['etcd-cafile'], values['etcd-certfile'], values['etcd-keyfile']];
  if (values['etcd-servers'] === undefined) {
    const dependent = (['etcd-cafile', 'etcd-certfile', 'etcd-keyfile'] as const).find((name) => values[name]);
    if (dependent !== undefined) throw new UsageError(`--${dependent} needs --etcd-servers`);
    return undefined;
  }
  const wrong = endpoints.find((url) => !/^https?:\/\/[^/]+\/?$/.test(url));
  if (endpoints.length === 0 || wrong !== undefined) {
    throw new UsageError(`--etcd-servers takes URLs such as https://127.0.0.1:2379, got "${wrong ?? ''}"`);
  }
  for (const other of ['data', 'etcd-snapshot'] as const) {
    if (values[other] !== undefined) throw new UsageError(`--etcd-servers and --${other} contradict each other`);
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--etcd-certfile and --etcd-keyfile need each other');
  }
  if (values['service-account-signing-key-file'] === undefined) {
    throw new UsageError(
      '--etcd-servers needs --service-account-signing-key-file: all servers of a cluster sign tokens with the same key',
    );
  }
  return { endpoints, prefix: values['etcd-prefix'], caFile, certFile, keyFile };
}
