/** `orchplane serve --etcd-servers`: the storage of the cluster. */
import { readFile } from 'node:fs/promises';
import { etcdStorage } from '../etcd/storage.js';
import type { SharedStorage } from '../storage/memory-storage.js';
import { messageOf } from '../util/message-of.js';
import type { EtcdSettings } from './etcd-flags.js';
import { UsageError } from './server-flags.js';

export async function openEtcd(settings: EtcdSettings, historyBytes: number): Promise<SharedStorage> {
  const { endpoints, prefix, caFile, certFile, keyFile } = settings;
  const [ca, cert, key] = await Promise.all([
    readPem(caFile, '--etcd-cafile'),
    readPem(certFile, '--etcd-certfile'),
    readPem(keyFile, '--etcd-keyfile'),
  ]);
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return etcdStorage({ endpoints, prefix, tls, historyBytes });
}

async function readPem(file: string | undefined, flag: string): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: ${messageOf(error)}`);
  }
}
