/**
 * Builds the documentation site with the playground and the API reference, as it is deployed, once for all tests of this
 * folder. The build runs beside other tests; `serveDocumentation` waits for it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TestProject } from 'vitest/node';
import { root } from '../package/manifest.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder in which the build writes the folder `site`, and then `result.json`. */
    readonly documentation: string;
  }
}

export interface BuildResult {
  readonly code: number | null;
  /** What the tools wrote to standard error: warnings and errors. */
  readonly messages: readonly string[];
}

const HAS_GROUPS = process.platform !== 'win32';

/** VitePress reports its progress. */
const PROGRESS = /^\S* ?(?:building client \+ server bundles|rendering pages)\.\.\.$/;

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'orchplane-docs-'));
  const build = spawn(process.execPath, [join(root, 'docs/tools/site.mjs'), 'build', '--out', join(folder, 'site')], {
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: HAS_GROUPS,
  });
  let output = '';
  build.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = once(build, 'close').then(async ([code]) => {
    const messages = output.split('\n').filter((line) => line !== '' && !PROGRESS.test(line));
    await writeFile(join(folder, 'result'), JSON.stringify({ code, messages } satisfies BuildResult));
    await rename(join(folder, 'result'), join(folder, 'result.json'));
  });
  project.provide('documentation', folder);
  return async () => {
    // The tools that it runs end with it.
    if (build.exitCode === null && build.pid !== undefined) process.kill(HAS_GROUPS ? -build.pid : build.pid);
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
}
