/**
 * The folder of `--cert-dir`: the certificate of the server, which is generated at the first start.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from './commands/command.js';
import { writePrivateFile } from './private-file.js';
import { certificateForHost, type TlsFiles } from './serve.js';

const CERTIFICATE = 'apiserver.crt';
const KEY = 'apiserver.key';

/** Reads the certificate and key of a folder, or generates and writes them. Rejects with UsageError if one is missing. */
export async function certificateIn(folder: string, host: string): Promise<TlsFiles> {
  const [certFile, keyFile] = [join(folder, CERTIFICATE), join(folder, KEY)];
  const [cert, key] = await Promise.all([readExisting(certFile), readExisting(keyFile)]);
  if (cert !== undefined && key !== undefined) return { cert, key, ca: cert };
  if (cert !== undefined || key !== undefined) {
    const missing = cert === undefined ? certFile : keyFile;
    throw new UsageError(`--cert-dir ${folder}: ${missing} is missing; certificate and key are a pair`);
  }
  const generated = await certificateForHost(host);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await writePrivateFile(keyFile, generated.key);
  // With the certificate of the authority, so that the file is a bundle that clients can trust.
  const bundle = `${generated.cert}${generated.ca}`;
  await writeFile(certFile, bundle, { mode: 0o644, flag: 'wx' });
  return { cert: bundle, key: generated.key, ca: bundle };
}

async function readExisting(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new UsageError(`--cert-dir: ${file} cannot be read: ${error.message}`);
  });
}
