/** The folder of `orchplane envtest`: its programs start the command and leave the files of others alone. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeAssets } from '../../../../src/node/envtest/assets.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "orchplane envtest'"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(file: string, args: string[], env: Record<string, string> = {}) {
  return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    execFile(file, args, { env }, (error, out, err) => resolve({ code: error?.code ?? 0, out, err }));
  });
}

describe('writeAssets', () => {
  test('writes programs that pass their arguments to the command', async () => {
    const program = join(folder, 'cli.mjs');
    writeFileSync(program, 'console.log(JSON.stringify(process.argv.slice(2)))');
    const path = await writeAssets(join(folder, 'bin'), { node: process.execPath, program });
    const args = ['--cert-dir=/a b', "it's"];
    const started = await run(join(path, 'kube-apiserver'), args);
    expect(JSON.parse(started.out)).toEqual(['envtest-kube-apiserver', ...args]);
    expect(JSON.parse((await run(join(path, 'etcd'), args)).out)).toEqual(['envtest-etcd', ...args]);
  });

  test('answers --help without starting the command', async () => {
    const path = await writeAssets(folder, { node: '/nowhere', program: '/nowhere' });
    const env = { PATH: '/usr/bin:/bin' };
    const apiServer = await run(join(path, 'kube-apiserver'), ['--help'], env);
    expect(apiServer.out).toMatch(/^\s*--secure-port\b/m);
    expect(apiServer.out).not.toMatch(/^\s*--insecure-port\b/m);
    expect((await run(join(path, 'etcd'), ['--help'], env)).out).toMatch(/^\s*--unsafe-no-fsync\b/m);
  });

  test('says that the package has moved', async () => {
    const path = await writeAssets(folder, { node: process.execPath, program: '/nowhere/cli.js' });
    const { code, err } = await run(join(path, 'etcd'), []);
    expect({ code, err }).toMatchObject({ code: 127, err: expect.stringContaining('no longer at /nowhere/cli.js') });
  });

  test('runs the kubectl of the PATH, and otherwise says that one is needed', async () => {
    const other = mkdtempSync(join(tmpdir(), 'orchplane-kubectl-'));
    const path = await writeAssets(folder, { node: process.execPath, program: '/nowhere' });
    const kubectl = join(path, 'kubectl');
    expect(await run(kubectl, ['get'], { PATH: `${path}:/nowhere` })).toMatchObject({
      code: 127,
      err: expect.stringContaining('orchplane contains no kubectl'),
    });
    writeFileSync(join(other, 'kubectl'), '#!/bin/sh\necho "$@"\n');
    chmodSync(join(other, 'kubectl'), 0o755);
    expect(await run(kubectl, ['get', 'pods'], { PATH: `${path}:${other}` })).toEqual({
      code: 0,
      out: 'get pods\n',
      err: '',
    });
    // The same program in a second folder does not start the first one.
    await writeAssets(other.concat('/copy'), { node: process.execPath, program: '/nowhere' });
    expect(await run(kubectl, [], { PATH: `${other}/copy:${path}` })).toMatchObject({ code: 127 });
    rmSync(other, { recursive: true });
  });

  test('replaces its own files, but no file of others', async () => {
    const paths = { node: process.execPath, program: '/nowhere' };
    await writeAssets(folder, paths);
    await writeAssets(folder, paths);
    writeFileSync(join(folder, 'etcd'), 'an executable');
    await expect(writeAssets(folder, paths)).rejects.toThrow(/etcd exists and was not written by orchplane/);
    expect(readFileSync(join(folder, 'etcd'), 'utf8')).toBe('an executable');
  });
});
