/**
 * The folder of `orchplane serve --data`: the journal of the cluster and its credentials, so that kubeconfigs keep
 * working after a restart.
 *
 *   journal/           see journal/folder.ts
 *   credentials.json   the token, the TLS certificate and the signing key of service account tokens
 *   kubeconfig
 */
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { lstat, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Journal } from '../storage/journal/types.js';
import { systemClock } from '../util/clock.js';
import { messageOf } from '../util/message-of.js';
import { UsageError } from './commands/command.js';
import { fileJournal } from './journal/open.js';
import { readPrivateFile, writePrivateFile } from './private-file.js';
import { certificateForHost, type TlsFiles } from './serve.js';

/** An open data folder. */
export interface DataFolder {
  readonly path: string;
  readonly kubeconfig: string;
  readonly journal: Journal;
  readonly credentials: Credentials;
  /** Saves credentials and port for the next start. Only while the journal is locked by this process. */
  saveCredentials(port: number): Promise<void>;
}

/** The content of credentials.json. */
interface Credentials {
  readonly token: string;
  /** The private key that signs service account tokens. */
  readonly accountKey: JsonWebKey;
  /** The last port; undefined before the first start. */
  readonly port?: number | undefined;
  /** Absent without TLS. */
  readonly tls?: (TlsFiles & { readonly host: string }) | undefined;
}

/** The command-line settings that affect the credentials. */
export interface DataFolderOptions {
  readonly tls: boolean;
  readonly host: string;
  /** The token of the command line. */
  readonly token: string | undefined;
  /** Opens a damaged journal with the intact data. */
  readonly salvage: boolean;
}

const CREDENTIALS = 'credentials.json';
const OWN_FILES = new Set([CREDENTIALS, `${CREDENTIALS}.tmp`, 'journal', 'kubeconfig']);

/**
 * Opens or creates a data folder. Rejects with UsageError for a folder with other content: it may have been meant for
 * `--apply`.
 */
export async function openDataFolder(folder: string, options: DataFolderOptions): Promise<DataFolder> {
  const path = resolve(folder);
  if (!(await isFolder(path))) {
    // In a folder of the system (/proc), a recursive mkdir of Node does not end.
    const recursive = !(await isFolder(dirname(path)));
    await mkdir(path, { recursive, mode: 0o700 }).catch((error: unknown) => {
      throw new UsageError(`--data takes a folder: ${messageOf(error)}`);
    });
  }
  const foreign = (await readdir(path)).find((name) => !OWN_FILES.has(name) && !name.startsWith('.'));
  if (foreign !== undefined) {
    throw new UsageError(
      `--data ${folder} contains "${foreign}", which does not belong to a cluster; manifests are given with --apply`,
    );
  }
  for (const name of OWN_FILES) await refuseForeign(join(path, name));
  const credentials = await completeCredentials(await readCredentials(path), options);
  return {
    path,
    kubeconfig: join(path, 'kubeconfig'),
    journal: fileJournal(join(path, 'journal'), { salvage: options.salvage }),
    credentials,
    saveCredentials: (port) =>
      writePrivateFile(join(path, CREDENTIALS), `${JSON.stringify({ ...credentials, port }, undefined, 2)}\n`),
  };
}

/**
 * The user who wrote the credentials knows the token, and roles in the journal grant access. Files of root may come from a
 * container.
 */
async function refuseForeign(file: string): Promise<void> {
  // A file that is absent, or cannot be read, is reported when it is read.
  const { uid = 0 } = (await lstat(file).catch(() => undefined)) ?? {};
  if (uid === 0 || uid === process.getuid?.()) return;
  throw new UsageError(`${file} belongs to another user; change its owner (chown) if you trust its content`);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

async function readCredentials(path: string): Promise<Partial<Credentials>> {
  const file = join(path, CREDENTIALS);
  try {
    const text = await readPrivateFile(file);
    return text === undefined ? {} : (JSON.parse(text) as Partial<Credentials>);
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

async function completeCredentials(stored: Partial<Credentials>, options: DataFolderOptions): Promise<Credentials> {
  const tls = options.tls ? await tlsCredentials(stored.tls, options.host) : stored.tls;
  return {
    token: options.token ?? stored.token ?? randomBytes(32).toString('base64url'),
    accountKey: stored.accountKey ?? (await createAccountKey()),
    port: stored.port,
    ...(tls === undefined ? {} : { tls }),
  };
}

const MONTH_MS = 30 * 24 * 3_600_000;

/** Reuses the stored certificate while it is valid for the host and for another month. */
async function tlsCredentials(stored: Credentials['tls'], host: string): Promise<NonNullable<Credentials['tls']>> {
  if (stored !== undefined && stored.host === host) {
    const { validTo } = new X509Certificate(stored.cert);
    if (Date.parse(validTo) > systemClock.now() + MONTH_MS) return stored;
  }
  return { ...(await certificateForHost(host)), host };
}

async function createAccountKey(): Promise<JsonWebKey> {
  const form = { name: 'ECDSA', namedCurve: 'P-256' };
  const { privateKey } = (await webcrypto.subtle.generateKey(form, true, ['sign', 'verify'])) as CryptoKeyPair;
  return webcrypto.subtle.exportKey('jwk', privateKey);
}
