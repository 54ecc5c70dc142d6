/**
 * The plugins for the resources of nodes: NodeResourcesFit (LeastAllocated), NodeResourcesBalancedAllocation and
 * ImageLocality.
 */
import { type FilterPlugin, MAX_SCORE, type ScorePlugin, unschedulable } from '../plugin.js';
import { scoredRequests } from '../resources.js';
import type { NodeInfo } from '../snapshot.js';

/** A pod can request tens of thousands of resources, and every node can have a reason for each. */
const MAX_REASONS = 100;

export const nodeResourcesFit: FilterPlugin = {
  name: 'NodeResourcesFit',
  prepare({ requests }) {
    const wanted = [...requests].filter(([, amount]) => amount > 0);
    return {
      check(node) {
        const reasons = node.pods.length + 1 > (node.allocatable.get('pods') ?? 0) ? ['Too many pods'] : [];
        for (const [name, amount] of wanted) {
          const free = (node.allocatable.get(name) ?? 0) - node.requested(name);
          if (amount > free) reasons.push(`Insufficient ${name}`);
          if (reasons.length === MAX_REASONS) break;
        }
        return reasons.length === 0 ? undefined : unschedulable(...reasons);
      },
    };
  },
};

/** The resources that are scored, each with the weight 1. */
const SCORED = ['cpu', 'memory'];

export const leastAllocated: ScorePlugin = {
  name: 'NodeResourcesFit',
  weight: 1,
  prepare({ pod }) {
    const wanted = scoredRequests(pod);
    return {
      score(node) {
        const scores = SCORED.flatMap((name) => {
          const capacity = node.allocatable.get(name) ?? 0;
          if (capacity === 0) return [];
          const free = capacity - node.assumed(name) - (wanted.get(name) ?? 0);
          return free < 0 ? 0 : Math.trunc((free * MAX_SCORE) / capacity);
        });
        if (scores.length === 0) return 0;
        return Math.trunc(scores.reduce((sum, score) => sum + score, 0) / scores.length);
      },
    };
  },
};

export const balancedAllocation: ScorePlugin = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  prepare({ requests }) {
    // Pods without requests would all be placed on one node.
    if (SCORED.every((name) => (requests.get(name) ?? 0) === 0)) return undefined;
    return {
      score(node) {
        const fractions = SCORED.flatMap((name) => usedFraction(node, name, requests.get(name) ?? 0));
        const [first = 0, second = first] = fractions;
        return Math.trunc((1 - Math.abs((first - second) / 2)) * MAX_SCORE);
      },
    };
  },
};

function usedFraction(node: NodeInfo, name: string, wanted: number): number | readonly [] {
  const capacity = node.allocatable.get(name) ?? 0;
  if (capacity === 0) return [];
  return Math.min(1, (node.requested(name) + wanted) / capacity);
}

const MEGABYTE = 1024 * 1024;
/** Fewer bytes do not matter. */
const MIN_BYTES = 23 * MEGABYTE;
/** More bytes of one container do not improve the score. */
const MAX_CONTAINER_BYTES = 1000 * MEGABYTE;

export const imageLocality: ScorePlugin = {
  name: 'ImageLocality',
  weight: 1,
  prepare({ pod }, { images, nodes }) {
    const { initContainers = [], containers } = pod.spec;
    const wanted = [...initContainers, ...containers].map(({ image = '' }) => withTag(image));
    const most = MAX_CONTAINER_BYTES * wanted.length;
    return {
      score({ node }) {
        const present = new Set((node.status.images ?? []).flatMap(({ names = [] }) => names));
        let bytes = 0;
        for (const name of wanted) {
          const image = present.has(name) ? images.get(name) : undefined;
          if (image !== undefined) bytes += Math.trunc(image.size * (image.nodes / nodes.length));
        }
        const limited = Math.max(MIN_BYTES, Math.min(bytes, most));
        return Math.trunc((MAX_SCORE * (limited - MIN_BYTES)) / (most - MIN_BYTES));
      },
    };
  },
};

function withTag(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
