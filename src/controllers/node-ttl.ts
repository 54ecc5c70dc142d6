/**
 * Tells the agents of nodes how long they may go by what they know of Secrets and ConfigMaps: the more nodes there are, the
 * longer. It stands in an annotation of each node.
 */
import { mergePatch } from '../client/patches.js';
import { Node } from '../kinds/core/v1/node/node.js';
import type { Controller } from './runtime/controller.js';
import { ignoringAbsence } from './runtime/refusals.js';

/** By number of nodes. The steps overlap, so that a node that comes and goes does not change all the others. */
const STEPS = [
  { atLeast: 0, atMost: 100, seconds: 0 },
  { atLeast: 90, atMost: 500, seconds: 15 },
  { atLeast: 450, atMost: 1_000, seconds: 30 },
  { atLeast: 900, atMost: 2_000, seconds: 60 },
  { atLeast: 1_800, atMost: Infinity, seconds: 300 },
] as const;

/**
 * Keeps the annotation of nodes that says for how long what they know is good.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([nodeTtl()]) });
 */
export function nodeTtl(): Controller {
  return {
    name: 'ttl-controller',
    account: 'ttl-controller',
    needs: [Node],
    start(context) {
      const nodes = context.informer(Node);
      const annotation = context.dialect.subkey('node.alpha', 'ttl');
      let count = 0;
      let step = 0;

      const queue = context.queue(async (name) => {
        const seconds = STEPS[step]?.seconds ?? 0;
        const node = nodes.get(name);
        if (node === undefined || Number(node.metadata.annotations?.[annotation] ?? Number.NaN) === seconds) return;
        const annotations = { [annotation]: String(seconds) };
        await ignoringAbsence(context.client.api(Node).patch(name, mergePatch({ metadata: { annotations } })));
      });

      nodes.onKey((name, { type }) => {
        if (type !== 'MODIFIED') count += type === 'ADDED' ? 1 : -1;
        const before = step;
        while (count > (STEPS[step]?.atMost ?? Infinity)) step++;
        while (count < (STEPS[step]?.atLeast ?? 0)) step--;
        if (type !== 'DELETED') queue.add(name);
        if (step !== before) for (const { metadata } of nodes.list()) queue.add(metadata.name);
      });
    },
  };
}
