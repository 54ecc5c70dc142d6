/**
 * Sets each field of the valid objects of all built-in kinds to each of some values, one at a time, creates or applies the
 * result as a dry run on a reference API server and in the library, and prints the classes of different responses.
 *
 *     node test/differential/fields.mjs --server https://127.0.0.1:6443 --token TOKEN --values 'null,[],"x"'
 *
 *     --server URL, --token T   as for run.mjs
 *     --values V                a list of JSON values, separated by commas; `removed` is the absent field
 *     --apply                   applies the objects instead of creating them
 *     --filter TEXT             only kinds whose `apiVersion kind` contains the text
 */
import process from 'node:process';
import { parseArgs } from 'node:util';
import { readCatalogue } from './catalogue.mjs';
import { classOf } from './classes.mjs';
import { reasonFor } from './known.mjs';
import { firstDifference, openSides, runOnBoth, sendAsAdmin } from './sides.mjs';
import { isMap, pathSegment, placesOf } from './values.mjs';

/** Steps of one scenario. A namespace for each of them would take longer than the step. */
const BATCH = 40;
const IDENTITY = ['apiVersion', 'kind', 'metadata'];
const REMOVED = Symbol('removed');

const { values: options } = parseArgs({
  options: {
    server: { type: 'string' },
    token: { type: 'string', default: 'admin-token' },
    values: { type: 'string', default: 'null,removed' },
    apply: { type: 'boolean', default: false },
    filter: { type: 'string', default: '' },
  },
});
if (options.server === undefined) throw new Error('name a reference server: --server URL');
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
process.removeAllListeners('warning');

const values = JSON.parse(`[${options.values.replaceAll('removed', '"removed"')}]`).map((value) =>
  value === 'removed' ? REMOVED : value,
);
const sides = await openSides(options);
const kinds = (await readCatalogue((path) => sendAsAdmin(sides.reference, 'GET', path))).filter(
  ({ apiVersion, kind }) =>
    !/example\.com|gateway|\.io\/v1.*x/.test(apiVersion) && `${apiVersion} ${kind}`.includes(options.filter),
);
const run = `f${Date.now().toString(36)}`;
let namespaces = 0;
let requests = 0;
/** What was found, by reason and class. */
const classes = new Map();

/** The paths of all fields, those that an object does not have included; list items count as one. */
function pathsOf(sample, { schema, resolve }, seen) {
  const paths = [];
  for (const { path, value, schema: found } of placesOf(sample, schema, resolve)) {
    if (IDENTITY.includes(path[0])) continue;
    const missing = isMap(value) ? Object.keys(found.properties ?? {}).filter((name) => !(name in value)) : [];
    for (const each of [path, ...missing.map((name) => [...path, name])]) {
      const key = each.map((part) => (typeof part === 'number' ? '[]' : part)).join('.');
      if (each.length === 0 || IDENTITY.includes(each[0]) || seen.has(key)) continue;
      seen.add(key);
      paths.push({ key, path: each });
    }
  }
  return paths;
}

/** A copy with another value at a path; undefined if nothing changes. */
function changed(sample, path, value) {
  const body = structuredClone(sample);
  const parent = path.slice(0, -1).reduce((inner, key) => inner[key], body);
  const last = path.at(-1);
  if (value !== REMOVED) parent[last] = structuredClone(value);
  else if (!(last in parent)) return undefined;
  else if (Array.isArray(parent)) parent.splice(last, 1);
  else delete parent[last];
  return body;
}

function stepFor({ path, plural, namespaced }, body) {
  const collection = namespaced ? `${path}/namespaces/{ns}/${plural}` : `${path}/${plural}`;
  if (!options.apply) return { method: 'POST', path: collection, query: { dryRun: 'All' }, body };
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const query = { dryRun: 'All', fieldManager: 'm' };
  return { method: 'PATCH', path: `${collection}/${pathSegment(body.metadata.name)}`, query, headers, body };
}

function stepsOf(kind) {
  const seen = new Set();
  return kind.samples.flatMap((sample) =>
    pathsOf(sample, kind, seen).flatMap(({ key, path }) =>
      values.flatMap((value) => {
        const body = changed(sample, path, value);
        const name = `${kind.apiVersion} ${kind.kind} ${key}=${value === REMOVED ? 'removed' : JSON.stringify(value)}`;
        return body === undefined ? [] : [{ name, ...stepFor(kind, body) }];
      }),
    ),
  );
}

async function examine({ name: field, ...step }) {
  const responses = await runOnBoth(sides, { steps: [step] }, `${run}${namespaces++}`);
  const difference = firstDifference(responses);
  // It did not occur again.
  if (difference === undefined) return;
  const [expected, actual] = [responses.expected[0], responses.actual[0]];
  const name = classOf(difference, responses);
  const reason = reasonFor({ name, step, scenario: { steps: [step] }, expected, actual });
  const id = `${reason ?? ''} ${name}`;
  const entry = classes.get(id) ?? { name, reason, fields: [] };
  classes.set(id, entry);
  entry.fields.push(field);
}

for (const kind of kinds) {
  const steps = stepsOf(kind);
  requests += steps.length;
  for (let at = 0; at < steps.length; at += BATCH) {
    const batch = steps.slice(at, at + BATCH);
    const { expected, actual } = await runOnBoth(sides, { steps: batch }, `${run}${namespaces++}`);
    for (const [index, step] of batch.entries()) {
      if (firstDifference({ expected: [expected[index]], actual: [actual[index]] }) !== undefined) await examine(step);
    }
  }
  console.log(`${kind.apiVersion} ${kind.kind}: ${steps.length} requests`);
}
for (const { name, reason, fields } of classes.values()) {
  console.log(`\n${fields.length} x ${name}\n    ${reason === undefined ? 'new' : `known: ${reason}`}`);
  for (const field of fields.slice(0, 4)) console.log(`    ${field}`);
}
const open = [...classes.values()].filter(({ reason }) => reason === undefined);
console.log(`\n${requests} requests: ${classes.size - open.length} known classes, ${open.length} others`);
process.exit(open.length === 0 ? 0 : 1);
