/** Node loads the package with V8's code cache. The cache must never change what the library does. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { installPackage } from './install.js';
import { requireBuild } from './manifest.js';

let folder: string;
let dist: string;

beforeEach(() => {
  requireBuild();
  folder = mkdtempSync(join(tmpdir(), 'orchplane-code-cache-'));
  installPackage(folder, []);
  dist = join(folder, 'node_modules/orchplane/dist');
  for (const cache of cacheFolders()) rmSync(join(dist, 'cached', cache), { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
  import { createCluster, StatusError } from 'orchplane';
  import { ConfigMap } from 'orchplane/kinds';
  const made = await createCluster().api(ConfigMap).create({ metadata: { name: 'web' } });
  console.log(made.metadata.name);
`;

describe('the code cache', () => {
  test('is written by the first processes and then used unchanged', () => {
    for (let process = 0; process < 4; process++) expect(run(PROGRAM)).toEqual({ stdout: 'web\n', stderr: '' });
    const files = cacheFiles();
    expect(files.length).toBeGreaterThan(3);
    const before = files.map((file) => statSync(file).mtimeMs);
    expect(run(PROGRAM)).toEqual({ stdout: 'web\n', stderr: '' });
    expect(cacheFiles().map((file) => statSync(file).mtimeMs)).toEqual(before);
  });

  test.each([
    { name: 'is cut off', damage: (data: Buffer) => data.subarray(0, data.length - 4096) },
    { name: 'has a block of zeros', damage: (data: Buffer) => Buffer.from(data).fill(0, 8192, 12288) },
    { name: 'is empty', damage: () => Buffer.alloc(0) },
    {
      name: 'has a changed byte',
      damage: (data: Buffer) => Buffer.from(data).fill(data.readUInt8(9999) ^ 1, 9999, 10000),
    },
  ])('is ignored and replaced if it $name', ({ damage }) => {
    run(PROGRAM);
    const [file = ''] = cacheFiles().sort((left, right) => statSync(right).size - statSync(left).size);
    const damaged = damage(readFileSync(file));
    writeFileSync(file, damaged);
    expect(run(PROGRAM)).toEqual({ stdout: 'web\n', stderr: '' });
    expect(readFileSync(file).equals(damaged)).toBe(false);
  });

  test('is ignored if a file of the library was edited, whether or not its size is the same', () => {
    const program = `import { createCluster } from 'orchplane'; try { createCluster({ x: 1 }); } catch (error) { console.log(error.message); }`;
    const before = run(program);
    expect(before.stdout).toContain('createCluster');
    const file = readdirSync(dist).find(
      (name) =>
        name.endsWith('.js') && readFileSync(join(dist, name), 'utf8').includes('refuseUnknownOptions("createCluster"'),
    );
    const path = join(dist, file ?? '');
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"createCluster"', '"CREATECLUSTER"'));
    expect(run(program).stdout).toBe(before.stdout.replace('createCluster', 'CREATECLUSTER'));
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"CREATECLUSTER"', '"a longer name than before"'));
    expect(run(program).stdout).toBe(before.stdout.replace('createCluster', 'a longer name than before'));
  });

  test('is optional: the library loads if it cannot be written, and ORCHPLANE_CODE_CACHE=off turns it off', () => {
    expect(run(PROGRAM, { ORCHPLANE_CODE_CACHE: 'off' })).toEqual({ stdout: 'web\n', stderr: '' });
    expect(cacheFolders()).toEqual([]);
    run(PROGRAM);
    const [cache = ''] = cacheFolders();
    rmSync(join(dist, 'cached', cache), { recursive: true });
    writeFileSync(join(dist, 'cached', cache), 'a file where the folder should be');
    expect(run(PROGRAM)).toEqual({ stdout: 'web\n', stderr: '' });
  });

  test('is written by threads and processes that start at the same time', async () => {
    const program = `
      import { isMainThread, Worker } from 'node:worker_threads';
      import { StatusError } from 'orchplane';
      if (isMainThread) for (let thread = 0; thread < 4; thread++) new Worker(new URL(import.meta.url));
      console.log(StatusError.name);
    `;
    writeFileSync(join(folder, 'program.mjs'), program);
    const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env;
    const runs = [1, 2, 3].map(() => promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder, env }));
    for (const { stdout, stderr } of await Promise.all(runs)) {
      expect([stdout, stderr]).toEqual(['StatusError\n'.repeat(5), '']);
    }
    expect(cacheFiles().filter((file) => !file.endsWith('.js'))).toEqual([]);
  });

  test('is not written by a process that records coverage', () => {
    expect(run(PROGRAM, { NODE_V8_COVERAGE: join(folder, 'coverage') })).toEqual({ stdout: 'web\n', stderr: '' });
    expect(cacheFolders()).toEqual([]);
  });

  test('does not create the folder of a removed package again', () => {
    const program = `
      import { rmSync } from 'node:fs';
      import 'orchplane';
      rmSync(${JSON.stringify(join(folder, 'node_modules/orchplane'))}, { recursive: true });
    `;
    expect(run(program)).toEqual({ stdout: '', stderr: '' });
    expect(existsSync(join(folder, 'node_modules/orchplane'))).toBe(false);
  });

  test('reports the same error when a file that cannot be loaded is imported again', () => {
    rmSync(join(dist, 'codec/cbor/index.js'));
    const program = `
      import { createRequire } from 'node:module';
      const { load } = createRequire(import.meta.url)(${JSON.stringify(join(dist, 'cached/load.cjs'))});
      for (const attempt of [1, 2]) try { load('codec/cbor/index.js'); } catch (error) { console.log(error.code); }
    `;
    expect(run(program)).toEqual({ stdout: 'ENOENT\nENOENT\n', stderr: '' });
  });

  test('is not part of a bundle; one that resolves orchplane like Node says what is wrong', async () => {
    writeFileSync(join(folder, 'bundled.mjs'), PROGRAM);
    const bundle = (conditions?: string[]) =>
      build({
        entryPoints: [join(folder, 'bundled.mjs')],
        absWorkingDir: folder,
        outfile: join(folder, 'bundle.mjs'),
        bundle: true,
        format: 'esm',
        platform: 'node',
        logLevel: 'silent',
        banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
        define: { __dirname: JSON.stringify(folder) },
        ...(conditions === undefined ? {} : { conditions }),
      });
    for (const conditions of [undefined, ['module', 'development']]) {
      await bundle(conditions);
      expect(run("import './bundle.mjs';")).toEqual({ stdout: 'web\n', stderr: '' });
    }
    await bundle(['development']);
    expect(run("import './bundle.mjs';").stderr).toContain('resolve orchplane with the condition "module"');
  });

  test('keeps one copy of the library for import, require and all entries', () => {
    const program = `
      import { createRequire } from 'node:module';
      import * as all from 'orchplane';
      import * as core from 'orchplane/core';
      const required = createRequire(import.meta.url)('orchplane');
      console.log(all.StatusError === core.StatusError, all.createCluster === required.createCluster);
    `;
    expect(run(program)).toEqual({ stdout: 'true true\n', stderr: '' });
  });

  test.each(['ascending', 'descending'])('loads the parts of the files in %s order', (order) => {
    const program = `
      import { createRequire } from 'node:module';
      import { createCluster } from 'orchplane';
      import { Deployment } from 'orchplane/kinds';
      const { loadParts } = createRequire(import.meta.url)(${JSON.stringify(join(dist, 'cached/load.cjs'))});
      console.log(loadParts('${order}') > 5);
      const { items } = await createCluster().api(Deployment).list();
      console.log(items.length);
    `;
    for (let process = 0; process < 2; process++) expect(run(program)).toEqual({ stdout: 'true\n0\n', stderr: '' });
  });

  test('loads a part on first use, with the lines of the file, unless the file has changed', () => {
    const use = `
      import { utimesSync, readdirSync } from 'node:fs';
      import { createCluster } from 'orchplane';
      const cluster = createCluster();
      if (process.argv[2] === 'touch')
        for (const name of readdirSync(${JSON.stringify(dist)})) utimesSync(${JSON.stringify(`${dist}/`)} + name, 1, 1);
      try { await cluster.installYaml('a: [1'); } catch (error) { console.log(error.stack ?? error); }
    `;
    const before = run(use).stdout;
    const [, file = '', line = ''] = /(chunk-[^:/]*\.js):(\d+):/.exec(before) ?? [];
    expect(readFileSync(join(dist, file), 'utf8').split('\n')[Number(line) - 1]).toContain('new ');
    expect(cacheFiles().some((name) => /chunk-[^/]*\.\d+\.js$/.test(name))).toBe(true);
    expect(run(use, {}, ['touch']).stdout).toContain('has changed since the program started');
  });

  test('loads a part although a test has replaced functions of fs, and again after an error', () => {
    const program = `
      import fs from 'node:fs';
      import { createCluster } from 'orchplane';
      import { Deployment } from 'orchplane/kinds';
      fs.readFileSync = fs.statSync = () => { throw new Error('replaced'); };
      const cluster = createCluster();
      const deep = (depth) => { try { deep(depth + 1); } catch { try { cluster.installYaml('a: [1'); } catch {} } };
      deep(0);
      const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } } };
      const made = await cluster.api(Deployment).create({ metadata: { name: 'web' }, spec });
      await cluster.installYaml('a: [1').catch((error) => console.log(made.spec.replicas, error.name));
    `;
    expect(run(program)).toEqual({ stdout: '1 ManifestsError\n', stderr: '' });
  });

  test('keeps the lines of stack traces', () => {
    const program = `import { createCluster } from 'orchplane'; try { createCluster({ x: 1 }); } catch (error) { console.log(error.stack); }`;
    for (const { stdout } of [run(program), run(program)]) {
      const [, file = '', line = ''] = /(chunk-[^:/]*\.js):(\d+):/.exec(stdout) ?? [];
      expect(existsSync(join(dist, file))).toBe(true);
      expect(readFileSync(join(dist, file), 'utf8').split('\n')[Number(line) - 1]).toContain('throw');
    }
  });
});

function run(
  program: string,
  variables: Record<string, string> = {},
  args: readonly string[] = [],
): { stdout: string; stderr: string } {
  writeFileSync(join(folder, 'program.mjs'), program);
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env;
  const options = { cwd: folder, env: { ...env, ...variables }, encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync(process.execPath, ['program.mjs', ...args], options);
  return { stdout, stderr };
}

function cacheFolders(): readonly string[] {
  return readdirSync(join(dist, 'cached')).filter((name) => name.startsWith('v8-'));
}

function cacheFiles(): string[] {
  return cacheFolders().flatMap((cache) =>
    readdirSync(join(dist, 'cached', cache)).map((name) => join(dist, 'cached', cache, name)),
  );
}
