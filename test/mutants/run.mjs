/**
 * Mutation testing: changes one place of the sources at a time and checks that a test fails.
 *
 *     npm run mutants -- --count 300 --seed 7
 *     npm run mutants -- --only src/util/clock.ts:40 --only 'src/util/ids.ts:12:8 condition is true'
 *
 * The seed and the sources determine the mutants. They are spread over the folders of `src` by their number of places.
 * Sources are changed in the memory of Vitest, never on disk. Each mutant runs the test files that execute its place, the
 * nearest and fastest first, until one fails; if none fails, also those that use its file otherwise. A run that does not
 * end counts as noticed. `not run`: only tests of built files or in a browser use it. `--budget` limits the recorded time of
 * the tests of a mutant, 60 seconds by default; `--from N` continues with mutant N. Results are in node_modules/.cache/mutants.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readCoverage, testsFor } from './coverage.mjs';
import { createRunner } from './runner.mjs';
import { parseSource } from './sites.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');
const cache = join(root, 'node_modules/.cache/mutants');
const FOLDERS = ['unit', 'regression', 'property', 'apply', 'conformance', 'e2e/client-node'];
const INCLUDE = [...FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`), 'test/browser/service-worker.test.ts'];
const GENERATED = /^src\/kinds\/(generated|types)\/|^src\/codec\/protobuf\/message-types\.ts$/;

/** The tests of these folders run in a browser and in jest. */
const OUTSIDE = /^src\/(indexed-db|jest)\//;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', multiple: true, default: [] },
    budget: { type: 'string', default: '60' },
    from: { type: 'string', default: '1' },
  },
});
const [count, seed, budget] = [values.count, values.seed, values.budget].map(Number);
if (!(count > 0 && Number.isInteger(seed) && budget > 0)) {
  throw new Error('usage: npm run mutants -- --count N [--seed S] [--budget SECONDS] [--only file:line[:column]]');
}

/** A generator of numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const layerOf = ({ file }) => file.split('/').slice(0, 2).join('/');

/** Every layer gets its share of `count`, at least one mutant. */
function sample(mutants, count, random) {
  const layers = groupBy(mutants, layerOf);
  return [...layers.values()].flatMap((all) => {
    const share = Math.max(1, Math.round((count * all.length) / mutants.length));
    return Array.from({ length: Math.min(share, all.length) }, () =>
      all.splice(Math.floor(random() * all.length), 1),
    ).flat();
  });
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const sources = new Map();
for (const path of readdirSync(join(root, 'src'), { recursive: true }).sort()) {
  const file = `src/${path}`;
  if (!file.endsWith('.ts') || GENERATED.test(file)) continue;
  const text = readFileSync(join(root, file), 'utf8');
  sources.set(file, { text, ...parseSource(file, text) });
}
const all = [...sources.values()].flatMap(({ mutants }) => mutants);
const isChosen = ({ file, line, column, change }) =>
  [file, `${file}:${line}`, `${file}:${line}:${column}`, `${file}:${line}:${column} ${change}`].some((place) =>
    values.only.includes(place),
  );
const mutants = values.only.length > 0 ? all.filter(isChosen) : sample([...all], count, randomNumbers(seed));
console.log(`${mutants.length} of ${all.length} mutants in ${sources.size} files, seed ${seed}`);

const coverage = await readCoverage({ root, cache, include: INCLUDE, sources, log: console.log });
for (const [test, { ok }] of Object.entries(coverage.tests)) if (!ok) console.log(`left out, fails by itself: ${test}`);

let current;
const textOf = (path) => {
  if (current === undefined || path !== join(root, current.file)) return undefined;
  const { text } = sources.get(current.file);
  return text.slice(0, current.start) + current.text + text.slice(current.end);
};
const runner = await createRunner({ root, folder: join(cache, 'run'), include: INCLUDE, textOf, blocks: 0, bail: 1 });
await runner.files();

async function outcomeOf(mutant) {
  let left = budget * 1000;
  const selected = testsFor(mutant, coverage).filter(({ ms }) => {
    left -= ms;
    return left > 0;
  });
  if (selected.length === 0 || OUTSIDE.test(mutant.file)) return { outcome: 'not run', tests: 0 };
  current = mutant;
  runner.invalidate(join(root, mutant.file));
  const limit = 40_000 + 4 * Math.max(...selected.map(({ ms }) => ms));
  const result = await runner.run(
    selected.map(({ test }) => join(root, test)),
    limit,
  );
  current = undefined;
  runner.invalidate(join(root, mutant.file));
  const { timedOut, failed, error, modules } = result;
  const outcome = timedOut ? 'timeout' : failed === undefined && error === undefined ? 'NOT NOTICED' : 'noticed';
  return { outcome, by: failed?.slice(root.length + 1), error, tests: modules.length };
}

const short = (text) => (text.length > 80 ? `${text.slice(0, 77)}...` : text).replace(/\s+/g, ' ');
const results = [];
for (const [index, mutant] of mutants.entries()) {
  if (index + 1 < Number(values.from)) continue;
  const start = Date.now();
  const found = await outcomeOf(mutant);
  const { file, line, column, change, original } = mutant;
  results.push({ file, line, column, change, original, ...found });
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  const place = `${file}:${line}:${column}`;
  const tests = `${found.tests} files, ${seconds} s`;
  console.log(`${index + 1} ${found.outcome} ${place} ${change}: ${short(original)} (${tests}) ${found.by ?? ''}`);
  writeFileSync(
    join(cache, `results-${values.only.length > 0 ? 'only' : seed}.json`),
    JSON.stringify(results, null, 1),
  );
}
await runner.close();

const isNoticed = ({ outcome }) => outcome === 'noticed' || outcome === 'timeout';
for (const [layer, group] of groupBy(results, layerOf)) {
  console.log(`${layer}: ${group.filter(isNoticed).length} of ${group.length} noticed`);
}
const noticed = results.filter(isNoticed).length;
const ran = results.filter(({ outcome }) => outcome !== 'not run').length;
console.log(`${noticed} of ${ran} noticed, ${((100 * noticed) / ran).toFixed(1)} %; ${results.length - ran} not run`);
process.exit(0);
