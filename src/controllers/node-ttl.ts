/**
 * Writes the annotation that tells kubelets how long they may cache Secrets and ConfigMaps. The time grows with the number
 * of nodes.
 */
import { mergePatch } from '../client/patches.js';
import { Node } from '../kinds/core/v1/node/node.js';
import type { Controller } from './runtime/controller.js';
import { ignoreNotFound } from './runtime/expected-errors.js';

/** TTL by number of nodes. The ranges overlap, so that adding and removing one node does not change all annotations. */
const STEPS = [
  { atLeast: 0, atMost: 100, seconds: 0 },
  { atLeast: 90, atMost: 500, seconds: 15 },
  { atLeast: 450, atMost: 1_000, seconds: 30 },
  { atLeast: 900, atMost: 2_000, seconds: 60 },
  { atLeast: 1_800, atMost: Infinity, seconds: 300 },
] as const;

/**
 * Maintains the TTL annotation of nodes.
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
        await ignoreNotFound(context.client.api(Node).patch(name, mergePatch({ metadata: { annotations } })));
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
