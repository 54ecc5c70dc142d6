/**
 * The folder of `orchplane serve --data`: the cluster itself, and by what clients know it and are known. Whoever has a
 * kubeconfig of it can go on with that after a restart.
 *
 *   journal/           see journal/folder.ts
 *   credentials.json   the token, the certificate and the key that service accounts' tokens are signed with
 *   kubeconfig
 */
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Journal } from '../storage/journal/types.js';
import { systemClock } from '../util/clock.js';
import { messageOf } from '../util/message-of.js';
import { UsageError } from './command-line.js';
import { fileJournal } from './journal/file-journal.js';
import { nodeFiles } from './journal/files.js';
import { certificateForHost, type TlsFiles } from './serve.js';

export interface DataFolder {
  readonly path: string;
  readonly kubeconfig: string;
  readonly journal: Journal;
  readonly credentials: Credentials;
  /** Keeps credentials and the port for the next time. Only while the journal is ours. */
  keep(port: number): Promise<void>;
}

export interface Credentials {
  readonly token: string;
  /** The private key of service accounts' tokens. */
  readonly accountKey: JsonWebKey;
  /** Where it was served last; undefined: nowhere yet. */
  readonly port?: number | undefined;
  /** Absent without TLS. */
  readonly tls?: (TlsFiles & { readonly host: string }) | undefined;
}

export interface DataFolderNeeds {
  readonly tls: boolean;
  readonly host: string;
  /** What the command line asks for. */
  readonly token: string | undefined;
}

const CREDENTIALS = 'credentials.json';
const OWN = new Set([CREDENTIALS, `${CREDENTIALS}.tmp`, 'journal', 'kubeconfig']);

/** Rejects with UsageError for a folder that holds something else: it may have been meant for `--apply`. */
export async function openDataFolder(given: string, needs: DataFolderNeeds): Promise<DataFolder> {
  const path = resolve(given);
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new UsageError(`--data takes a folder: ${messageOf(error)}`);
  });
  const strange = (await readdir(path)).find((name) => !OWN.has(name) && !name.startsWith('.'));
  if (strange !== undefined) {
    throw new UsageError(
      `--data ${given} holds "${strange}", which is not of a cluster; manifests are given with --apply`,
    );
  }
  const credentials = await credentialsFor(await readCredentials(path), needs);
  return {
    path,
    kubeconfig: join(path, 'kubeconfig'),
    journal: fileJournal(join(path, 'journal')),
    credentials,
    keep: (port) =>
      writePrivate(join(path, CREDENTIALS), `${JSON.stringify({ ...credentials, port }, undefined, 2)}\n`),
  };
}

async function readCredentials(path: string): Promise<Partial<Credentials>> {
  const file = join(path, CREDENTIALS);
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Partial<Credentials>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

async function credentialsFor(kept: Partial<Credentials>, needs: DataFolderNeeds): Promise<Credentials> {
  const tls = needs.tls ? await tlsFor(kept.tls, needs.host) : kept.tls;
  return {
    token: needs.token ?? kept.token ?? randomBytes(32).toString('base64url'),
    accountKey: kept.accountKey ?? (await newAccountKey()),
    port: kept.port,
    ...(tls === undefined ? {} : { tls }),
  };
}

const MONTH_MS = 30 * 24 * 3_600_000;

/** The same certificate as long as it is good for the host, and for a while. */
async function tlsFor(kept: Credentials['tls'], host: string): Promise<NonNullable<Credentials['tls']>> {
  if (kept !== undefined && kept.host === host) {
    const { validTo } = new X509Certificate(kept.cert);
    if (Date.parse(validTo) > systemClock.now() + MONTH_MS) return kept;
  }
  return { ...(await certificateForHost(host)), host };
}

async function newAccountKey(): Promise<JsonWebKey> {
  const form = { name: 'ECDSA', namedCurve: 'P-256' };
  const { privateKey } = (await webcrypto.subtle.generateKey(form, true, ['sign', 'verify'])) as CryptoKeyPair;
  return webcrypto.subtle.exportKey('jwk', privateKey);
}

/** For its owner's eyes, and whole or not at all. */
async function writePrivate(file: string, text: string): Promise<void> {
  const draft = `${file}.tmp`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.chmod(0o600);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  nodeFiles.syncFolder(dirname(file));
}
