/**
 * Records once which blocks of the sources each test file runs, so that a mutant runs only the tests that can notice it.
 * The record is kept in node_modules/.cache; a test file that has changed is recorded again.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createRunner } from './runner.mjs';
import { withRecording } from './sites.mjs';

/** Milliseconds. A test file that takes longer measures something; it is not run for mutants. */
const LONG_RUN = 30_000;

const hashOf = (text) => createHash('sha1').update(text).digest('hex').slice(0, 12);

/** `sources` maps the path of each source to its text, mutants and blocks. */
export async function readCoverage({ root, cache, include, sources, log }) {
  mkdirSync(cache, { recursive: true });
  const store = join(cache, 'coverage.json');
  const known = existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : { sources: {}, tests: {} };
  const current = Object.fromEntries([...sources].map(([file, { text }]) => [file, hashOf(text)]));

  const firstIds = new Map();
  const files = [...sources.keys()];
  let blocks = 0;
  for (const file of files) {
    firstIds.set(file, blocks);
    blocks += sources.get(file).blocks.length;
  }
  const fileOf = (id) => {
    let [low, high] = [0, files.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (firstIds.get(files[middle]) <= id) low = middle;
      else high = middle - 1;
    }
    return files[low];
  };
  const byFile = (ids) => {
    const found = {};
    for (const id of ids) {
      const file = fileOf(id);
      found[file] ??= [];
      found[file].push(id - firstIds.get(file));
    }
    return found;
  };

  const textOf = (path) => {
    const file = relative(root, path);
    const source = sources.get(file);
    return source && withRecording(source.text, source.blocks, firstIds.get(file));
  };
  const runner = await createRunner({ root, folder: join(cache, 'record'), include, textOf, blocks, bail: 0 });
  const tests = (await runner.files()).map((path) => relative(root, path));
  const hashes = Object.fromEntries(tests.map((test) => [test, hashOf(readFileSync(join(root, test)))]));
  for (const test of Object.keys(known.tests)) if (!(test in hashes)) delete known.tests[test];
  const changed = tests.filter((test) => known.tests[test]?.hash !== hashes[test]);
  for (let from = 0; from < changed.length; from += 40) {
    const part = changed.slice(from, from + 40);
    log(`recording ${from + part.length} of ${changed.length} test files`);
    const { modules } = await runner.run(
      part.map((test) => join(root, test)),
      900_000,
    );
    for (const { file, ok, ms } of modules) {
      const test = relative(root, file);
      known.tests[test] = { hash: hashes[test], ok, ms: Math.round(ms), sources: {}, loading: {}, running: {} };
    }
  }
  for (const { testPath, loading, running } of runner.recorded()) {
    const test = known.tests[relative(root, testPath)];
    test.loading = byFile(loading);
    test.running = byFile(running);
    for (const file of [...Object.keys(test.loading), ...Object.keys(test.running)]) test.sources[file] = current[file];
  }
  await runner.close();
  writeFileSync(store, JSON.stringify(known));
  return { tests: known.tests, current };
}

/** How many leading folders the test has in common with the source, `test/unit/a/b.test.ts` with `src/a/b.ts`. */
function nearness(test, file) {
  const a = test
    .replace(/^test\/unit\//, '')
    .replace(/\.test\.ts$/, '')
    .split('/');
  const b = file
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .split('/');
  let common = 0;
  while (common < a.length && a[common] === b[common]) common++;
  return common;
}

/**
 * The test files that run the block of a mutant, then those that run another block of the file or are in its folder: a block
 * that runs once in a worker (while a module is loaded, or on first use) is recorded for one of the tests that depend on it.
 * The nearest and fastest are first.
 */
export function testsFor({ file, block }, { tests, current }) {
  const covering = [];
  const wide = [];
  for (const [test, { ok, ms, sources, running }] of Object.entries(tests)) {
    if (!ok || ms > LONG_RUN) continue;
    const isCurrent = sources[file] === current[file];
    const blocks = running[file];
    const entry = { test, ms, near: nearness(test, file) };
    if (blocks !== undefined && (!isCurrent || block === -1 || blocks.includes(block))) covering.push(entry);
    else if (blocks !== undefined || entry.near > 0) wide.push(entry);
  }
  const order = (a, b) => b.near - a.near || a.ms - b.ms;
  return [...covering.sort(order), ...wide.sort(order)].map(({ test, ms }) => ({ test, ms }));
}
