/**
 * The limits of a rolling update: pods above and below the wanted number.
 */
import type { Deployment } from '../../../kinds/apps/v1/deployment.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { scaleIntOrString } from '../../../meta/int-or-string.js';

export type StoredDeployment = ObjectOf<typeof Deployment>;

export interface Bounds {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

const NONE: Bounds = Object.freeze({ maxSurge: 0, maxUnavailable: 0 });

/** Computes both in pods. In a rolling update they are never both 0, otherwise it could not progress. */
export function boundsOf({ spec }: StoredDeployment): Bounds {
  const { rollingUpdate, type } = spec.strategy;
  if (type !== 'RollingUpdate' || rollingUpdate === undefined) return NONE;
  const total = spec.replicas;
  const maxSurge = scaleIntOrString(rollingUpdate.maxSurge, { total, round: 'up' });
  let maxUnavailable = scaleIntOrString(rollingUpdate.maxUnavailable, { total, round: 'down' });
  if (maxSurge === 0 && maxUnavailable === 0) maxUnavailable = 1;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, total) };
}
