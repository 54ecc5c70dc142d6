/** `orchplane serve --etcd-servers`: the storage of the cluster. */
import { readFile } from 'node:fs/promises';
import { EtcdClient, type EtcdClientOptions } from '../etcd/client.js';
import { EtcdAccessError, EtcdError } from '../etcd/etcd-error.js';
import { DEFAULT_PREFIX, healthKeyOf } from '../etcd/layout.js';
import { etcdStorage } from '../etcd/storage.js';
import type { SharedStorage } from '../storage/memory-storage.js';
import { messageOf } from '../util/message-of.js';
import { UsageError } from './commands/command.js';
import type { EtcdSettings } from './etcd-flags.js';

interface EtcdStart {
  readonly historyBytes: number;
  readonly warn: (text: string) => void;
}

export async function openEtcd(settings: EtcdSettings, { historyBytes, warn }: EtcdStart): Promise<SharedStorage> {
  const { endpoints, prefix, username } = settings;
  const [ca, cert, key, password] = await Promise.all([
    read(settings.caFile, '--etcd-cafile'),
    read(settings.certFile, '--etcd-certfile'),
    read(settings.keyFile, '--etcd-keyfile'),
    read(settings.passwordFile, '--etcd-password-file'),
  ]);
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const auth = username !== undefined && password !== undefined && { username, password: password.trimEnd() };
  const options: EtcdClientOptions = { endpoints, tls, ...(auth && { auth }) };
  await checkAccess(options, healthKeyOf(prefix ?? DEFAULT_PREFIX), warn);
  return etcdStorage({ ...options, prefix, historyBytes });
}

/** Wrong credentials prevent the start. An etcd that is not available does not. */
async function checkAccess(options: EtcdClientOptions, key: Uint8Array, warn: EtcdStart['warn']): Promise<void> {
  const client = new EtcdClient(options);
  try {
    await client.range({ key }, CHECK_TIMEOUT_MS);
  } catch (error) {
    if (error instanceof EtcdAccessError || !(error instanceof EtcdError)) throw error;
    warn(`requests wait for etcd: ${error.message}`);
  } finally {
    client.close();
  }
}

const CHECK_TIMEOUT_MS = 2_000;

async function read(file: string | undefined, flag: string): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${messageOf(error)}`);
  }
}
