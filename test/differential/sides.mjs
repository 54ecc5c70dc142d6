/** Runs scenarios on the reference server and on the library, and lists the differences of their responses. */
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { cbor } from '../../dist/codec/cbor/index.js';
import { protobuf } from '../../dist/codec/protobuf/index.js';
import { differences, normalize } from '../conformance/compare.mjs';
import { credentialsOf, sendStep } from '../conformance/exchange.mjs';
import { withoutDescriptions } from '../conformance/recordings.mjs';
import makeTarget from '../conformance/target.mjs';

const DIALECT = fileURLToPath(new URL('../../src/meta/dialect.ts', import.meta.url));
const YAML = fileURLToPath(new URL('../../src/codec/yaml.ts', import.meta.url));
/** Codecs of responses that are compared after they are decoded, by media type. */
const CODECS = { 'application/cbor': cbor, 'application/vnd.kubernetes.protobuf': protobuf };
const BODY_METHODS = ['POST', 'PUT', 'PATCH'];
const RETRY_AFTER_MS = 200;

/** Both servers as functions that send a request. */
export async function openSides({ server, token }) {
  const { module: dialects } = await runnerImport(DIALECT, { logLevel: 'error' });
  const { module: yaml } = await runnerImport(YAML, { logLevel: 'error' });
  const codecs = { ...CODECS, 'application/yaml': yaml.yaml };
  const readable = async (response) => {
    const codec = codecs[(response.headers.get('content-type') ?? '').split(';')[0]];
    if (codec === undefined) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const { status, headers } = response;
    return new Response(JSON.stringify(decode(codec, bytes, dialects.kubernetesDialect)), { status, headers });
  };
  const handle = await makeTarget({ dialect: 'kubernetes', controllers: false, pauses: 'explicit' });
  const authorized = (init) => {
    const headers = new Headers(init.headers);
    if (headers.get('authorization') === 'Bearer admin-token') headers.set('authorization', `Bearer ${token}`);
    return { ...init, headers };
  };
  return {
    reference: async (path, init) => {
      // A request that the server had no time for is not an answer.
      for (;;) {
        const response = await fetch(`${server}${path}`, authorized(init));
        if (response.status !== 429 || !response.headers.has('retry-after')) return readable(response);
        await response.text();
        await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
      }
    },
    library: async (path, init) => {
      const request = new Request(`http://cluster.local${path}`, { ...init, body: init.body || undefined });
      // The same header that fetch adds to a request over a socket.
      if (!init.body && BODY_METHODS.includes(init.method)) request.headers.set('content-length', '0');
      return readable(await handle(request));
    },
  };
}

function decode(codec, bytes, dialect) {
  try {
    return codec.body(bytes, dialect).read().value;
  } catch (error) {
    return { undecodable: String(error), hex: Buffer.from(bytes).toString('hex') };
  }
}

/** Sends a request as the administrator and reads the JSON of the response. */
export async function sendAsAdmin(send, method, path, body) {
  const headers = { ...credentialsOf('admin'), 'content-type': 'application/json', accept: 'application/json' };
  const response = await send(path, { method, headers, body: body && JSON.stringify(body) });
  return response.json();
}

/** The responses of both sides to the steps of a scenario, in a fresh namespace, in the form of recordings. */
export async function runOnBoth(sides, scenario, namespace) {
  const [expected, actual] = await Promise.all([
    runScenario(sides.reference, scenario, namespace),
    runScenario(sides.library, scenario, namespace),
  ]);
  return { expected, actual };
}

async function runScenario(send, { steps, cleanup = [] }, namespace) {
  await sendAsAdmin(send, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  const names = { ns: namespace };
  const responses = [];
  for (const step of steps) {
    if (step.wait !== undefined) await new Promise((resolve) => setTimeout(resolve, step.wait));
    const response = await sendStep(send, step, names);
    if (step.id !== undefined) names[step.id] = response.body;
    responses.push(withoutGeneratedName(response, step));
  }
  for (const step of cleanup) await sendStep(send, step, names);
  return normalize(responses.map(withoutRandomValues), namespace).map(({ status, contentType, warning, body }) =>
    withoutDescriptions({ status, contentType, warning, body }),
  );
}

/** The first step whose responses differ: `{ index, found }`, or undefined. */
export function firstDifference({ expected, actual }) {
  for (const [index, response] of expected.entries()) {
    // A reference server that is too busy to answer says nothing about the library.
    if (response.status === NO_ANSWER) return undefined;
    if (isSilentWatch(response) && isSilentWatch(actual[index])) continue;
    const found = differences(inAnyOrder(response), inAnyOrder(actual[index]));
    if (found.length > 0) return { index, found };
  }
  return undefined;
}

/** The status of a request that took too long. */
const NO_ANSWER = -2;
/** The age of an object in a table. */
const AGE = /^\d+s$/;
const CLUSTER_IP = /^10\.0\.\d+\.\d+$/;
/** The same in a text that quotes an object. */
const QUOTED_CLUSTER_IP = /(?<=clusterIPs?\\*":\[?\\*")10\.0\.\d+\.\d+/g;
/** A watch without events: a server may send its headers with the first event. */
function isSilentWatch({ status, body }) {
  return (status === 200 && Array.isArray(body) && body.length === 0) || status === 0;
}

const RANDOM_PORTS = ['nodePort', 'healthCheckNodePort'];
const POINTER = /0xc?[0-9a-f]{8,12}\b/g;
/** go-cmp prints either kind of space, so that no program depends on its output. */
const NO_BREAK_SPACE = '\u00a0';
/** The name of the type of a CRD's schema has a random number. */
const TYPE_NAME = /\bselfType\d+/g;
/** Resource versions in texts. */
const VERSION =
  /(?<=resourceVersion\\*":\\*"|ResourceVersion:\\*"|in (?:record|the precondition) \()\d+(?=[)\\"])|(?<=, current: |in object meta: )\d+(?![\da-f-])/g;

/** The time of a write as a Go value. The years of other times in requests differ from that of the run. */
const GO_TIME = new RegExp(String.raw`time\.Date\(${new Date().getUTCFullYear()}, [^)]*\)`, 'g');

/** Replaces what each server chooses for itself: addresses and ports of Services, addresses in memory. */
function withoutRandomValues(value, key) {
  // Managers are sorted by time, which may differ by a second.
  if (key === 'managedFields' && Array.isArray(value)) return withoutRandomValues([...value].sort(byManager));
  if (key === 'cells')
    return value.map((cell) => (AGE.test(cell) ? '<age>' : CLUSTER_IP.test(cell) ? '<address>' : cell));
  if (Array.isArray(value)) return value.map((item) => withoutRandomValues(item, key));
  if (typeof value === 'number')
    return RANDOM_PORTS.includes(key) && value >= 30000 && value < 32768 ? '<port>' : value;
  if (typeof value === 'string') {
    if (/^clusterIPs?$/.test(key) && CLUSTER_IP.test(value)) return '<address>';
    return value
      .replace(POINTER, '0xc000000000')
      .replace(VERSION, '<rv>')
      .replace(QUOTED_CLUSTER_IP, '<address>')
      .replace(GO_TIME, '<time>')
      .replace(TYPE_NAME, 'selfType')
      .replaceAll(NO_BREAK_SPACE, ' ');
  }
  if (value === null || typeof value !== 'object') return value;
  // Marks are numbered by first occurrence, so both sides need the same order of keys.
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutRandomValues(inner, name)]));
}

/** How much of `generateName` a name contains, and how many characters the server appends. */
const [MAX_PREFIX, SUFFIX] = [58, 5];

/** Replaces the end of the name that the server made from the `generateName` of a request it rejected. */
function withoutGeneratedName(response, { method, body }) {
  const { name = '', generateName } = method === 'POST' ? (body?.metadata ?? {}) : {};
  const made = response.body?.details?.name;
  if (name !== '' || typeof generateName !== 'string' || typeof made !== 'string') return response;
  if (made.slice(0, -SUFFIX) !== generateName.slice(0, MAX_PREFIX)) return response;
  return JSON.parse(JSON.stringify(response).replaceAll(made.slice(-SUFFIX), '<gen>'));
}

function byManager(left, right) {
  const [first, second] = [left, right].map(({ manager, operation, subresource, apiVersion }) =>
    JSON.stringify([manager, operation, subresource, apiVersion]),
  );
  return first < second ? -1 : 1;
}

/** Sorts what the reference server reports in the order of a Go map: the causes of errors and the message with them. */
function inAnyOrder(response) {
  const { body } = response;
  if (body?.kind !== 'Status') return response;
  const causes = body.details?.causes;
  if (!Array.isArray(causes))
    return { ...response, body: { ...body, message: String(body.message).split('\n').sort().join(' ') } };
  const sorted = [...causes].sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
  const parts = String(body.message)
    .replace(/[[\]]/g, '')
    .split(/, |\. |: |\n/)
    .sort();
  // An error that occurs twice is printed twice if it contains an address.
  const message = (body.message.includes('0xc000000000') ? [...new Set(parts)] : parts).join(' ');
  return { ...response, body: { ...body, message, details: { ...body.details, causes: sorted } } };
}
