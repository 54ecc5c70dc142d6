/**
 * The cluster for recordings of a server with its controllers: all controllers run, ServiceAccount admission is on, and one
 * node is ready.
 *
 * Its clock moves only in pauses, by their recorded length. The controllers of the recorded server took some milliseconds to
 * notice a change, and requests without a pause followed at once. For the same order, ours work only during pauses.
 */
import { generateKeyPairSync } from 'node:crypto';
import process from 'node:process';
import { defaultAdmission, inReferenceOrder, serviceAccount } from '../../dist/admission/index.js';
import { controllers, standardControllers } from '../../dist/controllers/index.js';
import { createCluster, mergePatch } from '../../dist/index.js';
import { Node } from '../../dist/kinds/index.js';
import { fakeClock, sequentialIds } from '../../dist/testing/index.js';

/**
 * The share of recorded pauses that a replayer keeps, by its option `--wait`, and the shortest time without a request that
 * counts as a pause.
 */
const PAUSE_SHARE = Number(optionOf('--wait') ?? 0.02);
const SHORTEST_PAUSE_MS = 8;
/** Delays of the recorded server. */
const NAMESPACE_DELETION_DELAY_MS = 5_000;
const RANGE_DELETION_DELAY_MS = 10_000;

function optionOf(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

/** Lets controllers start a reconcile only while it is open. */
function gate() {
  let isOpen = true;
  let waiting = [];
  return {
    pass: () => new Promise((resolve) => (isOpen ? setImmediate(resolve) : waiting.push(resolve))),
    open() {
      isOpen = true;
      for (const resume of waiting) resume();
      waiting = [];
    },
    close() {
      isOpen = false;
    },
  };
}

/** The cluster, and the functions that move its clock. With `pauses: 'explicit'` only `pause` does. */
export async function lifecycleCluster({ dialect, pauses }) {
  const clock = fakeClock({ now: Math.ceil(Date.now() / 1000) * 1000 });
  const { pass, open, close } = gate();
  const cluster = createCluster({
    clock,
    // Lists are in the order of generated names. With explicit pauses every run has the same order.
    ids: pauses === 'explicit' ? sequentialIds() : undefined,
    dialect,
    // A key that is generated on demand is late on a busy machine, and the fake clock does not wait for it.
    authentication: { serviceAccounts: { key: signingKey() } },
    admission: inReferenceOrder([...defaultAdmission, openingWhileWaiting(serviceAccount, open)]),
    policyStatus: true,
    controllers: controllers(
      standardControllers({
        // The recorded server ran without it: its nodes have no kubelet.
        without: ['node-lifecycle-controller'],
        namespaces: { deletionDelayMs: NAMESPACE_DELETION_DELAY_MS },
        serviceRanges: { deletionDelayMs: RANGE_DELETION_DELAY_MS },
      }),
      {
        pace: pass,
        // The recorded server rejected the same writes, and its controllers retried them too.
        onError: () => undefined,
      },
    ),
  });
  await makeReadyNode(cluster);
  await clock.advance(1_000);
  let lastResponse = performance.now();
  let advanced = Promise.resolve();
  const pause = (ms) => {
    open();
    advanced = advanced.then(() => clock.advance(ms));
    return advanced;
  };
  return {
    cluster,
    pause,
    async beforeRequest() {
      const measured = performance.now() - lastResponse;
      if (pauses === 'measured' && measured >= SHORTEST_PAUSE_MS) pause(measured / PAUSE_SHARE);
      await advanced;
      close();
    },
    afterRequest() {
      lastResponse = performance.now();
    },
  };
}

function signingKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
}

/** Controllers work while a request waits for a ServiceAccount, which a controller creates. */
function openingWhileWaiting(plugin, open) {
  return {
    ...plugin,
    mutate(request, view) {
      const admitted = plugin.mutate(request, view);
      if (admitted instanceof Promise) open();
      return admitted;
    },
  };
}

async function makeReadyNode(cluster) {
  const nodes = cluster.api(Node);
  await nodes.create({ metadata: { name: 'fake-node' } });
  await nodes.status.edit('fake-node', (node) => {
    node.status.conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }];
  });
  // The controller that would remove the not-ready taint of a new node does not run.
  await nodes.patch('fake-node', mergePatch({ spec: { taints: null } }));
}
