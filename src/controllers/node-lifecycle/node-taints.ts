/**
 * The taints that the node lifecycle controller manages, and the writes that add and remove them.
 */

import type { Client } from '../../client/client.js';
import { mergePatch } from '../../client/patches.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import type { Taint } from '../../kinds/shared/taints.js';
import type { Dialect } from '../../meta/dialect.js';
import { StatusError } from '../../meta/errors.js';
import { type StoredNode, tolerates } from '../workloads/daemon-set/placement.js';

type StoredTaint = NonNullable<StoredNode['spec']['taints']>[number];

/** A taint without its value and time: what identifies it on a node. */
export interface TaintId {
  readonly key: string;
  readonly effect: 'NoSchedule' | 'NoExecute';
}

/** The NoSchedule taint for each status of a condition. Statuses that are not listed have none. */
const CONDITION_TAINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
  PIDPressure: { True: 'pid-pressure' },
};
const UNSCHEDULABLE = 'unschedulable';
const MANAGED = [...Object.values(CONDITION_TAINTS).flatMap((taints) => Object.values(taints)), UNSCHEDULABLE];

/** The NoExecute taints of nodes that are not ready or do not respond. */
export function executionTaints(dialect: Dialect): { readonly notReady: TaintId; readonly unreachable: TaintId } {
  return {
    notReady: { key: dialect.subkey('node', 'not-ready'), effect: 'NoExecute' },
    unreachable: { key: dialect.subkey('node', 'unreachable'), effect: 'NoExecute' },
  };
}

/** The NoSchedule taints to add and to remove, so that they agree with the node's conditions and `spec.unschedulable`. */
export function schedulingTaintChanges(
  { spec, status }: StoredNode,
  dialect: Dialect,
): { readonly add: readonly TaintId[]; readonly remove: readonly TaintId[] } {
  const names = (status.conditions ?? []).flatMap((condition) => {
    const name = CONDITION_TAINTS[condition.type]?.[condition.status];
    return name === undefined ? [] : [name];
  });
  if (spec.unschedulable === true) names.push(UNSCHEDULABLE);
  const taint = (name: string): TaintId => ({ key: dialect.subkey('node', name), effect: 'NoSchedule' });
  const wanted = names.map(taint);
  const managed = MANAGED.map(taint);
  return {
    add: wanted.filter((each) => !hasTaint(spec.taints, each)),
    remove: managed.filter((each) => hasTaint(spec.taints, each) && !hasTaint(wanted, each)),
  };
}

export function hasTaint(taints: readonly Taint[] | undefined, id: TaintId): boolean {
  return taints?.some((taint) => isTaint(taint, id)) ?? false;
}

function isTaint({ key, effect }: Taint, id: TaintId): boolean {
  return key === id.key && effect === id.effect;
}

/** Writes taints of one node. `now` returns the time for `timeAdded`. */
export class TaintWriter {
  readonly #client: Client;
  readonly #now: () => string;

  constructor(client: Client, now: () => string) {
    this.#client = client;
    this.#now = now;
  }

  /** Adds taints and then removes others, with one write each. */
  async swap(node: StoredNode, add: readonly TaintId[], remove: readonly TaintId[]): Promise<void> {
    if (add.length > 0) {
      const timeAdded = this.#now();
      await this.#change(node.metadata.name, (taints) => [
        // A taint that exists keeps its place.
        ...taints.map((taint) => (add.some((id) => isTaint(taint, id)) ? { ...taint, timeAdded } : taint)),
        ...add.filter((id) => !hasTaint(taints, id)).map((id) => ({ ...id, timeAdded })),
      ]);
    }
    await this.remove(node, remove);
  }

  /** Does nothing if the observed node has none of the taints. */
  async remove(node: StoredNode, ids: readonly TaintId[]): Promise<void> {
    if (!ids.some((id) => hasTaint(node.spec.taints, id))) return;
    await this.#change(node.metadata.name, (taints) => taints.filter((taint) => !ids.some((id) => isTaint(taint, id))));
  }

  /** Retries conflicts with the current node. A node that was deleted meanwhile is ignored. */
  async #change(name: string, change: (taints: readonly StoredTaint[]) => readonly StoredTaint[]): Promise<void> {
    const nodes = this.#client.api(Node);
    for (let attempt = 1; ; attempt++) {
      const node = await nodes.find(name);
      if (node === undefined) return;
      const before = node.spec.taints ?? [];
      const after = change(before);
      if (after.length === before.length && after.every((taint, index) => taint === before[index])) return;
      try {
        const { resourceVersion } = node.metadata;
        // The patch replaces the list. The resourceVersion protects taints of other clients.
        const taints = after.length === 0 ? null : after;
        await nodes.patch(name, mergePatch({ metadata: { resourceVersion }, spec: { taints } }));
        return;
      } catch (error) {
        if (StatusError.is(error, 'NotFound')) return;
        if (attempt >= MAX_ATTEMPTS || !StatusError.is(error, 'Conflict')) throw error;
      }
    }
  }
}

const MAX_ATTEMPTS = 5;

/** The tolerations that match some of the taints; undefined if a taint is not tolerated. */
export function matchingTolerations<T extends Parameters<typeof tolerates>[0]>(
  taints: readonly Taint[],
  tolerations: readonly T[],
): readonly T[] | undefined {
  const used: T[] = [];
  for (const taint of taints) {
    const match = tolerations.find((toleration) => tolerates(toleration, taint));
    if (match === undefined) return undefined;
    used.push(match);
  }
  return used;
}
