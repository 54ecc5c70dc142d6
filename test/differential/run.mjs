/**
 * Sends generated requests to a reference API server and to the library, and prints the classes of different responses.
 *
 *     npm run differential -- --server https://127.0.0.1:6443 --token TOKEN --count 20000 --seed 1
 *
 *     --server URL, --token T   the reference server and the token of a member of system:masters
 *     --count N                 the number of requests; 2,000 by default
 *     --seed S                  the seed of all random choices; 1 by default
 *     --areas kinds,writes      only these areas: kinds, writes, http, custom, delete, lists, versions
 *     --filter TEXT             only kinds whose `apiVersion kind` contains the text
 *     --parallel N              the number of scenarios at the same time; 4 by default
 *     --save FILE               writes the smallest scenario of each class as a recording
 *     --verbose                 prints unexpected classes as they are found
 *
 * CONTRIBUTING.md describes how the reference server is started.
 */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { dictionaryOf, readCatalogue } from './catalogue.mjs';
import { classOf, requestKind } from './classes.mjs';
import { installCustomKinds, removeGenerated } from './custom.mjs';
import { generators } from './generators.mjs';
import { reasonFor } from './known.mjs';
import { randomChoices } from './random.mjs';
import { shrink } from './shrink.mjs';
import { firstDifference, openSides, runOnBoth, sendAsAdmin } from './sides.mjs';

const MAX_SHOWN = 500;
const CONTEXT = 60;

const { values: options } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string', default: 'admin-token' },
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    areas: { type: 'string', default: 'kinds,writes,http,custom,delete,lists,versions' },
    filter: { type: 'string', default: '' },
    parallel: { type: 'string', default: '4' },
    save: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
if (options.server === undefined) throw new Error('name a reference server: --server URL');
// The certificate of a server that was started for a test is self-signed.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
process.removeAllListeners('warning');

const run = `d${Date.now().toString(36)}`;
const group = `${run}.example.com`;
const random = randomChoices(Number(options.seed));
const sides = await openSides(options);
const areas = options.areas.split(',');
const builtIn = (await readCatalogue((path) => sendAsAdmin(sides.reference, 'GET', path))).filter(
  ({ apiVersion }) => !/example\.com|gateway|\.io\/v1.*x/.test(apiVersion),
);
const custom = areas.includes('custom') ? await installCustomKinds(sides, random, group) : [];
const matches = ({ apiVersion, kind }) => `${apiVersion} ${kind}`.includes(options.filter);
const next = generators({
  random,
  areas,
  builtIn: builtIn.filter(matches),
  custom: custom.filter(matches),
  dictionary: dictionaryOf([...builtIn, ...custom]),
});

let namespaces = 0;
let requests = 0;
let scenarios = 0;
let unstable = 0;
/** What was found, by reason and class: `{ name, reason, count, kinds, scenario, outcome }`. */
const classes = new Map();

async function outcomeOf(scenario) {
  const responses = await runOnBoth(sides, scenario, `${run}${namespaces++}`);
  const difference = firstDifference(responses);
  return { responses, difference, class: difference && classOf(difference, responses) };
}

async function examine(scenario) {
  const first = await outcomeOf(scenario);
  requests += scenario.steps.length;
  scenarios++;
  if (first.difference === undefined) return;
  const again = await outcomeOf(scenario);
  if (again.class !== first.class) {
    unstable++;
    return;
  }
  await report(scenario, first);
}

async function report(scenario, { difference, class: name, responses }) {
  const { index } = difference;
  const [step, expected, actual] = [scenario.steps, responses.expected, responses.actual].map((each) => each[index]);
  const reason = reasonFor({ name, step, scenario, expected, actual });
  // Differences of one class may have several reasons.
  const key = `${reason ?? ''} ${name}`;
  const isNew = !classes.has(key);
  const entry = classes.get(key) ?? { name, reason, count: 0, kinds: new Map() };
  classes.set(key, entry);
  entry.count++;
  const kind = requestKind(step);
  entry.kinds.set(kind, (entry.kinds.get(kind) ?? 0) + 1);
  if (!isNew || entry.reason !== undefined) return;
  entry.scenario = await shrink(scenario, index, name, async (candidate) => (await outcomeOf(candidate)).class);
  const final = await outcomeOf(entry.scenario);
  entry.outcome = final.class === name ? final : { difference, responses };
  if (options.verbose) print(entry);
}

function print({ name, count, kinds, reason, scenario, outcome }) {
  const most = [...kinds]
    .sort((left, right) => right[1] - left[1])
    .slice(0, 4)
    .map(([kind, times]) => `${kind} (${times})`);
  console.log(`\n${count} x ${name}\n    ${most.join(', ')}`);
  if (reason !== undefined) console.log(`    known: ${reason}`);
  if (scenario === undefined) return;
  for (const step of scenario.steps) {
    const { method, path, query, headers, body, rawBody } = step;
    console.log(`    ${cut(`${method} ${path} ${JSON.stringify({ query, headers, body, rawBody })}`)}`);
  }
  const { found } = outcome.difference;
  const shown = found.some(({ path }) => path.includes('.causes.'))
    ? found.filter(({ path }) => path !== '.body.message')
    : found;
  for (const { path, expected, actual } of shown.slice(0, 4)) {
    const [left, right] = fromDivergence(JSON.stringify(expected), JSON.stringify(actual));
    console.log(`      ${path}\n        reference ${cut(left)}\n        library   ${cut(right)}`);
  }
}

/** Two texts from shortly before the place where they differ. */
function fromDivergence(left = 'nothing', right = 'nothing') {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  return [left, right].map((text) => (at > CONTEXT ? `…${text.slice(at - CONTEXT)}` : text));
}

function cut(text = 'nothing') {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

const total = Number(options.count);
let exclusive = Promise.resolve();
async function work() {
  while (requests < total) {
    const scenario = next();
    if (!scenario.isExclusive) await examine(scenario);
    else {
      // Kinds that change how other requests are handled have one scenario at a time.
      const turn = exclusive.then(() => examine(scenario));
      exclusive = turn;
      await turn;
    }
  }
}
await Promise.all(Array.from({ length: Number(options.parallel) }, work));

const found = [...classes.values()].sort((left, right) => left.count - right.count);
console.log('\n=== classes, most frequent last');
for (const entry of found) print(entry);
const open = found.filter(({ reason }) => reason === undefined);
const different = found.reduce((sum, { count }) => sum + count, 0);
console.log(
  `\n${requests} requests in ${scenarios} scenarios, seed ${options.seed}: ${different} responses differ; ${classes.size - open.length} known classes, ${open.length} others; ${unstable} differences did not occur again`,
);
if (options.save !== undefined) {
  const saved = open.flatMap(({ name, scenario, outcome }) =>
    scenario ? [{ name, area: 'kinds', ...scenario, expect: outcome.responses.expected }] : [],
  );
  writeFileSync(options.save, `${JSON.stringify(saved, null, 1)}\n`);
}
await removeGenerated(sides.reference, group);
process.exit(open.length === 0 ? 0 : 1);
