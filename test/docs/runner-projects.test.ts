/**
 * The jest project of the guide with an installed package: its files are the blocks of the section about jest. Its test
 * must pass, and its types must compile.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackage } from '../package/install.js';
import { requireBuild } from '../package/manifest.js';
import { fencesOf, readDocument } from './fences.js';

const GUIDE = 'docs/guide/06-testing.md';
const run = promisify(execFile);
let folder: string;

beforeAll(() => {
  requireBuild();
  folder = mkdtempSync(join(tmpdir(), 'orchplane-jest-'));
  const section =
    readDocument(GUIDE)
      .split(/^## /m)
      .find((each) => each.startsWith('jest\n')) ?? '';
  const block = (info: string): string => fencesOf(GUIDE, section).find((fence) => fence.info === info)?.code ?? '';
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }');
  writeFileSync(join(folder, 'jest.config.json'), block('json'));
  writeFileSync(join(folder, 'web.test.ts'), block('ts sample'));
  writeFileSync(join(folder, 'global.test.ts'), GLOBAL_TEST);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['jest', 'node'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  installPackage(folder, [
    ...['jest', '@jest/globals', 'expect', '@swc/core', '@swc/jest'],
    ...['typescript', '@types/jest', '@types/node'],
  ]);
}, 60_000);

/** The same with the globals of jest, and with a mismatch. */
const GLOBAL_TEST = `
import { Pod } from 'orchplane/kinds';
import { recordRequests, testCluster } from 'orchplane/testing';
import 'orchplane/jest';

test('reports a mismatch', async () => {
  const cluster = testCluster();
  const log = recordRequests(cluster, { verb: 'write' });
  const pod = await cluster.api(Pod).create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'a' }] } });
  expect(pod).not.toBeReady();
  expect(() => expect(pod).toMatchManifest({ metadata: { name: 'db' } })).toThrow('metadata.name');
  // @ts-expect-error a status is a string
  expect(() => expect(pod).toHaveCondition('Ready', 1)).toThrow('takes a status');
  expect(log).toMatchTrace('create pods default/web by local → 201');
  expect(log).toMatchTrace();
});
`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the jest project of the guide', () => {
  test('passes its tests in a CommonJS project', { timeout: 120_000 }, async () => {
    const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
    const { stdout } = await run(
      process.execPath,
      ['node_modules/jest/bin/jest.js', '--json', '--ci=false', `--cacheDirectory=${join(folder, 'cache')}`],
      { cwd: folder, env: { ...env, NO_COLOR: '1', NODE_ENV: 'test' } },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      numPassedTests: 2,
      numTotalTests: 2,
      snapshot: { added: 1 },
    });
  });

  test('has types for the matchers', { timeout: 120_000 }, async () => {
    // Rejects with the output of the compiler.
    const { stdout } = await run(process.execPath, ['node_modules/typescript/bin/tsc'], { cwd: folder });
    expect(stdout).toBe('');
  });
});
