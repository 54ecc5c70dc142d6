/**
 * The CPU time, throughput and memory of a server under one mixed load over TLS: 1,000 ConfigMaps are created, read, listed,
 * patched, applied and deleted while 50 watches are open. Works with every Kubernetes API server on this machine (Linux).
 *
 *   node test/bench/server-cpu.mjs --port 6443 --token T --pid PID [--pid PID] [--rounds 6]
 *
 * Give the ids of all processes whose time counts. The first round of a new server is the cold one. With `--reads N` it sends
 * N gets of one ConfigMap instead, to all servers in turn if there is more than one `--port`. Each server has 16 connections.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { verify } from './measure.mjs';

const OBJECTS = 1_000;
const LISTS = 20;
const WATCHES = 50;
const CONNECTIONS = 16;
const PATH = '/api/v1/namespaces/default/configmaps';
/** The clock tick of /proc on Linux. */
const TICK_MS = 10;

const { values: given } = parseArgs({
  options: {
    port: { type: 'string', multiple: true },
    token: { type: 'string' },
    pid: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '6' },
    reads: { type: 'string', default: '0' },
  },
});
const reads = Number(given.reads);
let sent = 0;
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false });
const watchAgent = new Agent({ rejectUnauthorized: false });

const measure = reads > 0 ? measureReads : measureMix;
if (reads > 0) await send('POST', PATH, JSON.stringify(configMap('read', { size: 'x'.repeat(200) })));
for (let round = 1; round <= Number(given.rounds); round++) {
  const before = { sent, time: performance.now() };
  const cpuMs = await measure(`r${round}`);
  const perSecond = ((sent - before.sent) * 1000) / (performance.now() - before.time);
  const result = `${(cpuMs / 1000).toFixed(2)} s of CPU, ${perSecond.toFixed(0)} requests per second, ${memory()} MB`;
  console.log(`round ${round}: ${result}`);
}
if (reads > 0) await send('DELETE', `${PATH}/read`);
process.exit();

async function measureReads() {
  const start = cpuTime();
  await forAll(() => send('GET', `${PATH}/read`), reads);
  return cpuTime() - start;
}

async function measureMix(prefix) {
  let events = 0;
  const watches = await Promise.all(
    Array.from({ length: WATCHES }, () =>
      watch((chunk) => (events += chunk.toString('latin1').split('\n').length - 1)),
    ),
  );
  const name = (index) => `${prefix}-${index}`;
  const start = cpuTime();
  await forAll((index) => send('POST', PATH, JSON.stringify(configMap(name(index), { size: 'x'.repeat(200) }))));
  await forAll((index) => send('GET', `${PATH}/${name(index)}`));
  for (let count = 0; count < LISTS; count++) await send('GET', PATH);
  const merge = 'application/merge-patch+json';
  await forAll((index) => send('PATCH', `${PATH}/${name(index)}`, '{"data":{"colour":"blue"}}', merge));
  await forAll((index) => {
    const query = '?fieldManager=bench&force=true';
    const body = JSON.stringify(configMap(name(index), { shape: 'round' }));
    return send('PATCH', `${PATH}/${name(index)}${query}`, body, 'application/apply-patch+yaml');
  });
  await forAll((index) => send('DELETE', `${PATH}/${name(index)}`));
  const expected = WATCHES * OBJECTS * 4;
  for (let waited = 0; events < expected && waited < 60_000; waited += 50) await delay(50);
  const spent = cpuTime() - start;
  verify(events === expected, `${expected} events arrive, not ${events}`);
  for (const each of watches) each.destroy();
  return spent;
}

function configMap(name, data) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

async function forAll(run, count = OBJECTS) {
  let next = 0;
  const worker = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS * given.port.length }, worker));
}

function send(method, path, body, type = 'application/json') {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${given.token}`, ...(body === undefined ? {} : { 'content-type': type }) };
    const port = given.port[sent++ % given.port.length];
    const call = request({ agent, port, method, path, headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode < 300) resolve();
        else reject(new Error(`${method} ${path}: ${response.statusCode}`));
      });
    });
    call.on('error', reject).end(body);
  });
}

/** Resolves with the request when the watch is open. */
function watch(onData) {
  return new Promise((resolve, reject) => {
    const path = `${PATH}?watch=true&resourceVersion=0`;
    const headers = { authorization: `Bearer ${given.token}` };
    const call = request({ agent: watchAgent, port: given.port[0], path, headers }, (response) => {
      response.on('data', onData).on('error', () => undefined);
      resolve(call);
    });
    call.on('error', reject).end();
  });
}

/** The resident memory of the server's processes in MB. */
function memory() {
  const kilobytes = given.pid.map((pid) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]),
  );
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024);
}

/** User and system time of the server's processes in milliseconds. */
function cpuTime() {
  return given.pid.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }, 0);
}
