/** Runs test files against mutated sources in one long-lived Vitest. No file of the repository is written. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Writable } from 'node:stream';
import { loadConfigFromFile } from 'vite';
import { createVitest } from 'vitest/node';

/** Keeps the order in which the test files were given. */
class GivenOrder {
  sort(specifications) {
    return specifications;
  }
  shard(specifications) {
    return specifications;
  }
}

/**
 * `textOf(path)` returns the text that replaces a source, or undefined for the text on disk. `blocks` is the number of
 * blocks that are recorded, 0 for none.
 */
export async function createRunner({ root, folder, include, textOf, blocks, bail }) {
  mkdirSync(folder, { recursive: true });
  const { config } = await loadConfigFromFile({ command: 'serve', mode: 'test' }, join(root, 'vitest.config.ts'));
  const done = [];
  let onModuleEnd = () => undefined;
  const vitest = await createVitest(
    'test',
    {
      root,
      config: false,
      watch: false,
      include,
      isolate: false,
      pool: 'forks',
      execArgv: ['--max-old-space-size=2048'],
      fileParallelism: false,
      maxWorkers: 1,
      bail,
      testTimeout: 20_000,
      hookTimeout: 20_000,
      teardownTimeout: 3_000,
      setupFiles: [join(root, 'test/mutants/setup.mjs')],
      sequence: { sequencer: GivenOrder },
      reporters: [
        {
          onTestModuleEnd(module) {
            done.push(module);
            onModuleEnd();
          },
        },
      ],
      provide: { mutants: { folder, blocks } },
      update: 'none',
    },
    {
      resolve: config.resolve,
      plugins: [{ name: 'mutants', enforce: 'pre', load: (id) => textOf(id.split('?')[0]) }],
    },
    { stdout: new Writable({ write: (_chunk, _encoding, next) => next() }) },
  );
  const project = vitest.projects[0];

  return {
    files: async () => (await vitest.globTestSpecifications()).map(({ moduleId }) => moduleId),
    /** A source gets another text in the next run. */
    invalidate: (path) => vitest.invalidateFile(path),
    /** Runs test files in order until one fails. If one file takes longer than `limit`, the worker is killed. */
    async run(files, limit) {
      done.length = 0;
      let timedOut = false;
      const kill = () => {
        timedOut = true;
        process.kill(Number(readFileSync(join(folder, 'worker.pid'), 'utf8')), 'SIGKILL');
      };
      let timer = setTimeout(kill, limit);
      onModuleEnd = () => {
        clearTimeout(timer);
        timer = setTimeout(kill, limit);
      };
      const result = await vitest.runTestSpecifications(files.map((file) => project.createSpecification(file)));
      clearTimeout(timer);
      const failed = done.find((module) => module.state() === 'failed');
      const [test] = failed?.children.allTests('failed') ?? [];
      const [error] = [...(test?.result().errors ?? failed?.errors() ?? []), ...result.unhandledErrors];
      return {
        timedOut,
        failed: failed?.moduleId,
        error: error === undefined ? undefined : String(error.message ?? error).split('\n', 1)[0],
        modules: done.map((module) => ({ file: module.moduleId, ok: module.ok(), ms: module.diagnostic().duration })),
      };
    },
    /** What the setup file has recorded. */
    *recorded() {
      for (const name of readdirSync(folder)) {
        if (name.startsWith('blocks-')) yield JSON.parse(readFileSync(join(folder, name), 'utf8'));
      }
    },
    async close() {
      await vitest.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
