/**
 * The projects of the guide for jest and for Node's test runner, with an installed package: their files are the blocks of the
 * sections. Their tests must pass, and their types must compile.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  folder = mkdtempSync(join(tmpdir(), 'orchplane-runners-'));
  const block = (heading: string, info: string): string => {
    const sections = readDocument(GUIDE).split(/^## /m);
    const section = sections.find((each) => each.startsWith(`${heading}\n`)) ?? '';
    return fencesOf(GUIDE, section).find((fence) => fence.info === info)?.code ?? '';
  };
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }');
  writeFileSync(join(folder, 'jest.config.json'), block('jest', 'json'));
  writeFileSync(join(folder, 'web.test.ts'), block('jest', 'ts sample'));
  writeFileSync(join(folder, 'global.test.ts'), GLOBAL_TEST);
  // In a folder of its own, because jest would find its tests.
  mkdirSync(join(folder, 'node'));
  writeFileSync(join(folder, 'node/web.test.mts'), block('node:test', 'ts sample'));
  writeFileSync(join(folder, 'node/web.test.mjs'), block('node:test', 'ts sample'));
  writeFileSync(join(folder, 'node/more.test.mjs'), NODE_TEST);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['jest', 'node'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'node/*.mts'] }));
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

/** All that the `test` function of Node's runner has. */
const NODE_TEST = `
import assert from 'node:assert/strict';
import { ConfigMap } from 'orchplane/kinds';
import { clusterTest, test } from 'orchplane/node-test';

const names = [];
test('gives each test a cluster', async ({ cluster }) => {
  names.push((await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } })).metadata.name);
});
test('with the same ids', async ({ cluster }) => {
  names.push((await cluster.api(ConfigMap).create({ metadata: { generateName: 'a-' } })).metadata.name);
  assert.equal(names[0], names[1]);
});
test.skip('skips', () => assert.fail());
test.seeds(3)('runs seeds', ({ seed }) => void names.push(seed));
test('has run them', () => assert.deepEqual(names.slice(2).length, 3));
test('reports a failure', () => assert.fail('as expected'));
test('ends after its timeout', () => new Promise(() => setTimeout(() => {}, 5_000)), 50);
assert.throws(() => clusterTest({ seeds: 1 }), TypeError);
`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the project of the guide for jest', () => {
  test('passes its tests in a CommonJS project', { timeout: 120_000 }, async () => {
    const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
    const { stdout } = await run(
      process.execPath,
      [
        'node_modules/jest/bin/jest.js',
        '--json',
        '--testPathIgnorePatterns=/node/',
        '--ci=false',
        `--cacheDirectory=${join(folder, 'cache')}`,
      ],
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

describe('the project of the guide for the test runner of Node', () => {
  async function runTests(file: string): Promise<string> {
    const { NODE_OPTIONS: _, VITEST: __, NODE_TEST_CONTEXT: ___, ...env } = process.env;
    const done = run(process.execPath, ['--test', '--test-reporter=tap', `node/${file}`], { cwd: folder, env });
    return (await done.catch((error: { stdout: string }) => error)).stdout;
  }

  test('passes its tests', { timeout: 60_000 }, async () => {
    const output = await runTests('web.test.mjs');
    expect(output).toMatch(/ok \d - finds the config map/);
    expect(output).toMatch(/# pass 4\n# fail 0/);
  });

  test('runs, skips and fails tests', { timeout: 60_000 }, async () => {
    const output = await runTests('more.test.mjs');
    const results = output.split('\n').filter((line) => /^ *(not )?ok .* - (?!more|.*mjs)/.test(line));
    expect(results.map((line) => line.trim().replace(/ \d+ - /, ' '))).toEqual([
      'ok gives each test a cluster',
      'ok with the same ids',
      'ok skips # SKIP',
      'ok runs seeds',
      'ok has run them',
      'not ok reports a failure',
      'not ok ends after its timeout',
    ]);
  });
});
