/**
 * Measures kube-apiserver, `orchplane serve` and the floor of Node (`etcd-floor.mjs`) one after the other on one etcd, with the load
 * of `server-cpu.mjs`. The processor time of etcd does not count. Needs `etcd` and `openssl` on the PATH, and `npm run build`.
 *
 *   node test/bench/etcd-servers.mjs [--kube-apiserver PATH] [--rounds 6] [--reads N] [--port 6443] [--only orchplane,floor]
 *
 * It uses four ports from `--port` on. The floor does only the mixed load.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { verify } from './measure.mjs';

const { values: given } = parseArgs({
  options: {
    'kube-apiserver': { type: 'string' },
    only: { type: 'string', default: 'kube-apiserver,orchplane,one thread,floor' },
    port: { type: 'string', default: '6443' },
    rounds: { type: 'string', default: '6' },
    reads: { type: 'string', default: '0' },
  },
});
const TOKEN = 'bench-token';
const START_MS = 120_000;
const port = Number(given.port);
const etcdPort = port + 1;
const peerPort = port + 2;
const folder = mkdtempSync(join(tmpdir(), 'orchplane-bench-'));
const file = (name) => join(folder, name);
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const openssl = (...words) => execFileSync('openssl', words, { stdio: 'ignore' });
openssl('genrsa', '-out', file('sa.key'), '2048');
openssl(
  ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
  ...['-subj', '/CN=localhost', '-keyout', file('tls.key'), '-out', file('tls.crt')],
);
writeFileSync(file('tokens.csv'), `${TOKEN},admin,1,"system:masters"\n`);

const etcdUrl = `http://127.0.0.1:${etcdPort}`;
const peerUrl = `http://127.0.0.1:${peerPort}`;
const ACCOUNTS = [
  ...['--service-account-key-file', file('sa.key'), '--service-account-signing-key-file', file('sa.key')],
  ...['--service-account-issuer', 'https://kubernetes.default.svc'],
];
const serve = (prefix, ...more) => [
  ...[path('../../dist/node/cli.js'), 'serve', '--port', String(port), '--token', TOKEN],
  ...['--kubeconfig', file('kubeconfig'), '--etcd-servers', etcdUrl, '--etcd-prefix', prefix, ...ACCOUNTS, ...more],
];
const SERVERS = {
  'kube-apiserver': () => [
    given['kube-apiserver'],
    ...[
      `--etcd-servers=${etcdUrl}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${file('certs')}`,
    ],
    ...[`--token-auth-file=${file('tokens.csv')}`, ...ACCOUNTS, '--authorization-mode=RBAC', '--etcd-prefix=/kube'],
    ...['--disable-admission-plugins=ServiceAccount', '--service-cluster-ip-range=10.0.0.0/16'],
  ],
  orchplane: () => [process.execPath, ...serve('/two')],
  'one thread': () => [process.execPath, ...serve('/one', '--no-http-thread')],
  floor: () => [
    ...[process.execPath, path('etcd-floor.mjs'), '--etcd', `127.0.0.1:${etcdPort}`, '--port', String(port)],
    ...['--cert', file('tls.crt'), '--key', file('tls.key')],
  ],
};

const etcd = start('etcd', [
  ...['etcd', '--data-dir', file('etcd'), '--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
  ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
  ...['--initial-cluster', `default=${peerUrl}`],
]);
try {
  for (const name of given.only.split(',')) {
    verify(name in SERVERS, `--only names ${Object.keys(SERVERS).join(', ')}`);
    if (name === 'kube-apiserver' && given['kube-apiserver'] === undefined) continue;
    if (name === 'floor' && given.reads !== '0') continue;
    await measure(name, SERVERS[name]());
  }
} finally {
  await stop(etcd);
  rmSync(folder, { recursive: true });
}

async function measure(name, command) {
  const server = start(name, command);
  try {
    await untilReady(name);
    console.log(name);
    const load = [path('server-cpu.mjs'), '--port', String(port), '--token', TOKEN, '--pid', String(server.pid)];
    const client = spawn(process.execPath, [...load, '--rounds', given.rounds, '--reads', given.reads], {
      stdio: 'inherit',
    });
    const [code] = await once(client, 'exit');
    // kube-apiserver ends watches whose client is too slow, which the load reports on a busy machine.
    if (code !== 0) process.exitCode = 1;
  } finally {
    await stop(server);
  }
}

function start(name, [command, ...words]) {
  const log = openSync(file(`${name}.log`), 'w');
  return spawn(command, words, { stdio: ['ignore', log, log] });
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

async function untilReady(name) {
  const end = performance.now() + START_MS;
  while ((await statusOf('/readyz')) !== 200) {
    verify(performance.now() < end, `${name} starts within two minutes`);
    await delay(250);
  }
  // kube-apiserver creates the namespace after it is ready, and starts informers and caches.
  await delay(3_000);
}

function statusOf(target) {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    get({ port, path: target, headers, rejectUnauthorized: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    }).on('error', () => resolve(undefined));
  });
}
