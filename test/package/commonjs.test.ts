/** The package in a CommonJS project: `require` of every entry at run time, and the types of TypeScript. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackage } from './install.js';
import { entries, RUNNER_ENTRIES, requireBuild } from './manifest.js';

const required = entries.filter(({ name }) => !RUNNER_ENTRIES.includes(name)).map(({ specifier }) => specifier);
let folder: string;

beforeAll(() => {
  requireBuild();
  folder = mkdtempSync(join(tmpdir(), 'orchplane-commonjs-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }');
  installPackage(folder, ['typescript', '@types/node', '@opentelemetry/api']);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package in a CommonJS project', () => {
  test('loads every entry with require, without warnings', () => {
    const script = `
      for (const specifier of ${JSON.stringify(required)}) {
        const names = Object.keys(require(specifier));
        if (names.length === 0) throw new Error(specifier + ' has no exports');
      }
      const { createCluster, StatusError } = require('orchplane');
      const { ConfigMap } = require('orchplane/kinds');
      const cluster = createCluster();
      cluster.api(ConfigMap).get('none').catch((error) => console.log(StatusError.is(error, 'NotFound')));
    `;
    writeFileSync(join(folder, 'program.cjs'), script);
    const { NODE_OPTIONS: _, ...env } = process.env;
    const { stdout, stderr } = spawnSync(process.execPath, ['program.cjs'], { cwd: folder, env, encoding: 'utf8' });
    expect([stdout, stderr]).toEqual(['true\n', '']);
  });

  test('has types in a CommonJS file of TypeScript, and the result runs', { timeout: 120_000 }, () => {
    const program = `
      import { createCluster } from 'orchplane';
      import { ConfigMap } from 'orchplane/kinds';
      async function main(): Promise<void> {
        const made = await createCluster().api(ConfigMap).create({ metadata: { name: 'web' } });
        const name: string = made.metadata.name;
        console.log(name, typeof require);
      }
      void main();
    `;
    writeFileSync(join(folder, 'typed.ts'), program);
    const compilerOptions = { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, types: ['node'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc'], { cwd: folder, stdio: 'pipe' });
    expect(execFileSync(process.execPath, ['typed.js'], { cwd: folder, encoding: 'utf8' })).toBe('web function\n');
  });
});
