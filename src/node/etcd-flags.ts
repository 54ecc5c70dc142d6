/**
 * The flags of `orchplane serve` for storage in etcd. They have the names of kube-apiserver's flags, except those for a user
 * and a password: kube-apiserver authenticates with a certificate only.
 */
import { UsageError } from './commands/command.js';
import { repeatedServerFlag, serverFlag } from './server-flags.js';

export const ETCD_FLAGS = {
  'etcd-servers': repeatedServerFlag('LIST', 'keep the cluster in etcd, where several processes can share it'),
  'etcd-cafile': serverFlag('FILE', 'the authority of etcd'),
  'etcd-certfile': serverFlag('FILE', 'a client certificate for etcd'),
  'etcd-keyfile': serverFlag('FILE', 'the key of the client certificate'),
  'etcd-username': serverFlag('NAME', 'a user of etcd (kube-apiserver has only certificates)'),
  'etcd-password-file': serverFlag('FILE', 'the password of the user'),
} as const;

type Values = { readonly [Name in Exclude<keyof typeof ETCD_FLAGS, 'etcd-servers'>]?: string | undefined } & {
  readonly 'etcd-servers'?: readonly string[] | undefined;
  readonly 'etcd-prefix'?: string | undefined;
  readonly 'etcd-snapshot'?: string | undefined;
  readonly data?: readonly string[] | undefined;
  readonly 'service-account-signing-key-file'?: string | undefined;
};

/** The etcd of a cluster. */
export interface EtcdSettings {
  readonly endpoints: readonly string[];
  readonly prefix: string | undefined;
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly username: string | undefined;
  readonly passwordFile: string | undefined;
}

/** Flags that need each other. */
const PAIRS = [
  ['etcd-certfile', 'etcd-keyfile'],
  ['etcd-username', 'etcd-password-file'],
] as const;

/** Throws UsageError. */
export function readEtcdSettings(values: Values): EtcdSettings | undefined {
  const endpoints = (values['etcd-servers'] ?? []).flatMap((list) => list.split(',')).filter((url) => url !== '');
  if (values['etcd-servers'] === undefined) {
    const dependent = (['etcd-cafile', ...PAIRS.flat()] as const).find((name) => values[name] !== undefined);
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
  const broken = PAIRS.find(([one, other]) => (values[one] === undefined) !== (values[other] === undefined));
  if (broken !== undefined) throw new UsageError(`--${broken[0]} and --${broken[1]} need each other`);
  if (values['service-account-signing-key-file'] === undefined) {
    throw new UsageError(
      '--etcd-servers needs --service-account-signing-key-file: all servers of a cluster sign tokens with the same key',
    );
  }
  return {
    endpoints,
    prefix: values['etcd-prefix'],
    caFile: values['etcd-cafile'],
    certFile: values['etcd-certfile'],
    keyFile: values['etcd-keyfile'],
    username: values['etcd-username'],
    passwordFile: values['etcd-password-file'],
  };
}
