/**
 * The example project with an installed package: a copy of the folder, with a copy of the published files in its
 * node_modules. It must compile and its tests must pass.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackage } from '../package/install.js';
import { manifest, requireBuild, root } from '../package/manifest.js';

const run = promisify(execFile);
const source = join(root, 'examples/15-vitest-project');
let folder: string;

beforeAll(() => {
  requireBuild();
  folder = mkdtempSync(join(tmpdir(), 'orchplane-project-'));
  for (const part of ['package.json', 'tsconfig.json', 'vitest.config.ts', 'deploy', 'src', 'test']) {
    cpSync(join(source, part), join(folder, part), { recursive: true });
  }
  installPackage(folder, ['vitest', 'typescript', '@types/node', 'undici-types']);
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the example project with vitest', () => {
  test('requires the releases that the package is tested with', () => {
    const project = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Project;
    expect(project.dependencies[manifest.name]).toBe('file:../..');
    for (const [name, range] of Object.entries({ ...project.dependencies, ...project.devDependencies })) {
      if (name === manifest.name) continue;
      const { version } = JSON.parse(
        readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'),
      ) as Installed;
      expect([name, version.split('.')[0]]).toEqual([name, range.replace('^', '').split('.')[0]]);
    }
  });

  test('compiles the example project', { timeout: 120_000 }, async () => {
    // Rejects with the output of the compiler.
    const { stdout } = await run(process.execPath, [tool('typescript/bin/tsc')], { cwd: folder });
    expect(stdout).toBe('');
  });

  test('passes the tests of the example project', { timeout: 120_000 }, async () => {
    const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
    const { stdout } = await run(process.execPath, [tool('vitest/vitest.mjs'), 'run', '--reporter=json'], {
      cwd: folder,
      env: { ...env, NO_COLOR: '1' },
    });
    const report = JSON.parse(stdout) as Report;
    expect(report).toMatchObject({ success: true, numFailedTests: 0, numPendingTests: 0 });
    expect(report.numPassedTests).toBeGreaterThan(5);
  });
});

interface Project {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

interface Installed {
  readonly version: string;
}

interface Report {
  readonly success: boolean;
  readonly numPassedTests: number;
}

function tool(path: string): string {
  return join(folder, 'node_modules', path);
}
