/**
 * Replays recordings of a real API server and counts, per area, the responses that are identical.
 *
 *     node test/conformance/replay.mjs [OPTION…] [FILE|FOLDER…]
 *
 * Without files it replays the recordings of the repository. The cluster runs in this process, from the built files, and
 * time passes only where the recording waited. Scenarios of the area `lifecycle` need a cluster with controllers and get one.
 *
 *     --areas crud,list   only these areas
 *     --filter TEXT       only scenarios whose `group/name` contains this text
 *     --dialect orch      the same scenarios in the orch dialect; responses may differ where the specification requires it
 *     --show N            print the first N differences
 *     --min PERCENT       exit with 1 if a smaller share of the responses is as expected
 *     --url URL           send the requests to this server; waits shrink to 2 %
 */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { differences, normalize, renumber } from './compare.mjs';
import { credentialsOf, sendStep } from './exchange.mjs';
import { RECORDINGS, readRecordings, withoutDescriptions } from './recordings.mjs';
import { specified } from './specified.mjs';
import makeTarget from './target.mjs';

/** The share of recorded waits that a server behind a URL gets. */
const WAIT_SHARE = 0.02;
const DIFFERENCES_PER_STEP = 8;

/**
 * Replays scenarios. Returns `{ area: { steps, identical, specified, codes, scenarios, whole } }`: of all steps those with an
 * identical response, with the different response that the specification requires, and with the expected status code; of
 * all scenarios those without any other difference.
 */
export async function replay(recorded, { dialect = 'kubernetes', url, onDifference, onSpecified } = {}) {
  const scenarios = dialect === 'orch' ? inOrchDialect(recorded) : recorded;
  const targets = new Map();
  const targetFor = async (area) => {
    const controllers = area === 'lifecycle';
    if (!targets.has(controllers)) targets.set(controllers, await openTarget({ dialect, controllers, url }));
    return targets.get(controllers);
  };
  const areas = {};
  for (const [index, scenario] of scenarios.entries()) {
    areas[scenario.area] ??= { steps: 0, identical: 0, specified: 0, codes: 0, scenarios: 0, whole: 0 };
    const figures = areas[scenario.area];
    const responses = await run(scenario, await targetFor(scenario.area), `r${Date.now().toString(36)}${index}`);
    let isWhole = true;
    for (const [at, { hasCode, statement, found }] of compareAll(scenario, responses, dialect).entries()) {
      const [step, number] = [scenario.steps[at], at + 1];
      figures.steps++;
      if (hasCode) figures.codes++;
      if (found.length > 0) {
        isWhole = false;
        onDifference?.({ scenario, step, number, found });
      } else if (statement === undefined) figures.identical++;
      else {
        figures.specified++;
        onSpecified?.({ scenario, step, number, statement });
      }
    }
    figures.scenarios++;
    if (isWhole) figures.whole++;
  }
  for (const { close } of targets.values()) await close?.();
  return areas;
}

/**
 * Compares each response with the recorded one, or with the one that the specification requires. Where only its status code
 * is known, the response must differ from the recorded one.
 */
function compareAll(scenario, responses, dialect) {
  const { steps, expect } = scenario;
  const required = steps.map((_step, index) => (dialect === 'orch' ? specified(scenario, index) : undefined));
  const parts = (all) => {
    const compared = all.map(comparedPart);
    // A response that differs as a whole has other marks than the recorded one.
    return dialect === 'orch' ? renumber(compared, (index) => required[index]?.status === undefined) : compared;
  };
  const expected = parts(expect.map((response, index) => required[index]?.response ?? response));
  return parts(responses).map((actual, index) => {
    const { statement, status = expected[index].status } = required[index] ?? {};
    const found = differences(expected[index], actual, steps[index].ignore);
    const hasCode = actual.status === status;
    if (required[index]?.status === undefined) return { hasCode, statement, found };
    const isAsListed = hasCode && found.length > 0;
    return { hasCode, statement, found: isAsListed ? [] : [{ path: statement, expected: status, actual }] };
  });
}

/** Sends all requests of a scenario, in a namespace of its own. */
async function run({ steps, cleanup = [], expect }, { send, pause }, namespace) {
  const names = { ns: namespace };
  const responses = [];
  const admin = async (method, path, body) => {
    const headers = { ...credentialsOf('admin'), 'content-type': 'application/json' };
    await (await send(path, { method, headers, body: JSON.stringify(body) })).text();
  };
  const metadata = { name: namespace };
  await admin('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  for (const [index, step] of steps.entries()) {
    if (step.wait !== undefined) await pause(step.wait);
    const response = await sendStep(send, step, names, expect[index]);
    if (step.id !== undefined) names[step.id] = response.body;
    responses.push(response);
  }
  for (const step of cleanup) await sendStep(send, step, names);
  await admin('DELETE', `/api/v1/namespaces/${namespace}`);
  return normalize(responses, namespace);
}

async function openTarget({ dialect, controllers, url }) {
  if (url !== undefined) {
    return { send: (path, init) => fetch(`${url}${path}`, init), pause: (ms) => sleep(ms * WAIT_SHARE) };
  }
  const handle = await makeTarget({ dialect, controllers, pauses: 'explicit' });
  const { pause, close } = handle;
  return { send: (path, init) => handle(new Request(`http://cluster.local${path}`, init)), pause, close };
}

/** The names of the Kubernetes dialect in the orch dialect. */
function inOrchDialect(scenarios) {
  const kubernetesName = /(?<=vnd\.)kubernetes(?=\.)|(?<=x-)kubernetes(?=-)|kubernetes(?=\.io)|k8s(?=\.io)/g;
  return JSON.parse(JSON.stringify(scenarios).replace(kubernetesName, 'orch'));
}

/** The decision that descriptions are not compared: docs/decisions/0010-column-descriptions.md. */
function comparedPart({ status, contentType, warning, body }) {
  return withoutDescriptions({ status, contentType, warning, body });
}

function printDifference({ scenario, step, number, found }) {
  const query = step.query === undefined ? '' : ` ${JSON.stringify(step.query)}`;
  console.log(`${scenario.group}/${scenario.name} step ${number}: ${step.method} ${step.path}${query}`);
  for (const { path, expected, actual } of found.slice(0, DIFFERENCES_PER_STEP)) {
    console.log(`    ${path}\n      recorded ${JSON.stringify(expected)}\n      actual   ${JSON.stringify(actual)}`);
  }
}

/** Prints a line per area and one for all of them. Returns the share of expected responses in percent. */
function printFigures(areas) {
  const all = { steps: 0, identical: 0, specified: 0, codes: 0, scenarios: 0, whole: 0 };
  for (const figures of Object.values(areas)) for (const key of Object.keys(all)) all[key] += figures[key];
  for (const [area, { steps, identical, specified, codes, scenarios, whole }] of Object.entries({ ...areas, all })) {
    const differing = specified === 0 ? '' : ` and ${specified} as the specification requires`;
    const counts = `${identical}/${steps} responses identical${differing}, ${codes}/${steps} status codes as expected`;
    console.log(`${area.padEnd(10)} ${counts}, ${whole}/${scenarios} scenarios without another difference`);
  }
  return all.steps === 0 ? 0 : (100 * (all.identical + all.specified)) / all.steps;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      areas: { type: 'string' },
      filter: { type: 'string', default: '' },
      dialect: { type: 'string', default: 'kubernetes' },
      show: { type: 'string', default: '0' },
      min: { type: 'string', default: '0' },
      url: { type: 'string' },
    },
  });
  const areas = values.areas?.split(',');
  const scenarios = readRecordings(...(positionals.length === 0 ? [RECORDINGS] : positionals)).filter(
    ({ area, group, name }) => (areas?.includes(area) ?? true) && `${group}/${name}`.includes(values.filter),
  );
  let toShow = Number(values.show);
  const figures = await replay(scenarios, {
    dialect: values.dialect,
    url: values.url,
    onDifference: (difference) => {
      if (toShow-- > 0) printDifference(difference);
    },
  });
  const share = printFigures(figures);
  if (share < Number(values.min)) {
    console.log(`${share.toFixed(2)} % of the responses are as expected, less than ${values.min} %`);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main();
