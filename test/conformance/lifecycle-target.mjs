/**
 * The cluster that recordings of a server with its controllers are replayed against (`CONTROLLERS=1`): all controllers
 * run, service accounts are asked for, and one node is ready.
 *
 * Its time is the recording's: it passes where the recording paused, as much as it paused there, however much of the
 * pause the replayer cut away. Controllers of the recorded server took some milliseconds to notice a change, requests
 * without a pause followed at once: so ours are held still until the next pause, too.
 */
import process from 'node:process';
import { defaultAdmission, inReferenceOrder, serviceAccount } from '../../dist/admission/index.js';
import { controllers, standardControllers } from '../../dist/controllers/index.js';
import { createCluster, mergePatch } from '../../dist/index.js';
import { Node } from '../../dist/kinds/index.js';
import { fakeClock } from '../../dist/testing/index.js';

/** The share of recorded pauses that the replayer keeps, and the shortest time without a request that is one. */
const PAUSES_CUT_TO = Number(optionOf('--wait') ?? 0.02);
const SHORTEST_PAUSE_MS = 8;
/** What the recorded server waits before it goes to work. */
const NAMESPACE_DELETION_DELAY_MS = 5_000;
const RANGE_DELETION_DELAY_MS = 10_000;

function optionOf(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

/** Lets controllers begin on something only while it is open. */
function gate() {
  let isOpen = true;
  let waiting = [];
  return {
    pass: () => new Promise((resolve) => (isOpen ? setImmediate(resolve) : waiting.push(resolve))),
    open() {
      isOpen = true;
      for (const go of waiting) go();
      waiting = [];
    },
    close() {
      isOpen = false;
    },
  };
}

/** The cluster, and what to tell it before and after each request. */
export async function lifecycleCluster() {
  const clock = fakeClock({ now: Math.ceil(Date.now() / 1000) * 1000 });
  const { pass, open, close } = gate();
  const cluster = createCluster({
    clock,
    dialect: process.env.DIALECT === 'orch' ? 'orch' : 'kubernetes',
    admission: inReferenceOrder([...defaultAdmission, lettingOthersWork(serviceAccount, open)]),
    policyStatus: true,
    controllers: controllers(
      standardControllers({
        namespaces: { deletionDelayMs: NAMESPACE_DELETION_DELAY_MS },
        serviceRanges: { deletionDelayMs: RANGE_DELETION_DELAY_MS },
      }),
      {
        pace: pass,
        // What is refused here was refused there, and is tried again.
        onError: () => undefined,
      },
    ),
  });
  await makeReadyNode(cluster);
  await clock.advance(1_000);
  let lastAnswer = performance.now();
  let pauses = Promise.resolve();
  return {
    cluster,
    async asked() {
      const pause = performance.now() - lastAnswer;
      if (pause >= SHORTEST_PAUSE_MS) {
        open();
        pauses = pauses.then(() => clock.advance(pause / PAUSES_CUT_TO));
      }
      await pauses;
      close();
    },
    answered() {
      lastAnswer = performance.now();
    },
  };
}

/** While a request waits for an account, whoever makes accounts goes on. */
function lettingOthersWork(plugin, open) {
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
  // Nobody takes the mark away that new nodes get: there is no controller for the life of nodes.
  await nodes.patch('fake-node', mergePatch({ spec: { taints: null } }));
}
