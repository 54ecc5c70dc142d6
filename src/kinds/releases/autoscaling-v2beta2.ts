/**
 * HorizontalPodAutoscaler in v2beta2: like v2, but its status includes empty fields on the wire.
 */
import { orchDialect } from '../../meta/dialect.js';
import { setAnnotations } from '../autoscaling/annotations.js';
import {
  autoscalerColumns,
  HorizontalPodAutoscaler,
} from '../autoscaling/v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { anotherVersion } from '../define-kind.js';
import type { HorizontalPodAutoscalerStatus } from '../generated/autoscaling-v2.js';
import { horizontalPodAutoscalerBody } from '../generated/autoscaling-v2beta2.js';
import type { Kind } from '../kind.js';
import { type Conversion, storageVersionHooks } from '../shared/storage-conversion.js';

const conversion: Conversion = {
  toStored(draft) {
    draft['status'] = statusToStored(draft['status'] as StatusV2beta2);
    // The fields exist in this version, so the annotations are dropped.
    setAnnotations(draft, {}, orchDialect);
  },
  fromStored(draft) {
    draft['status'] = statusFromStored(draft['status'] as HorizontalPodAutoscalerStatus);
  },
};

export const horizontalPodAutoscalerV2beta2: Kind<HorizontalPodAutoscaler> = anotherVersion(HorizontalPodAutoscaler, {
  apiVersion: 'autoscaling/v2beta2',
  lifecycle: {
    introducedIn: '1.12',
    servedByDefault: true,
    deprecatedIn: '1.23',
    removedIn: '1.26',
    replacement: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
  },
  body: horizontalPodAutoscalerBody,
  ...conversion,
  strategy: storageVersionHooks(HorizontalPodAutoscaler.strategy, conversion),
  columns: autoscalerColumns((object) => object),
});

/** A status with empty fields. */
export type StatusV2beta2 = Omit<HorizontalPodAutoscalerStatus, 'conditions'> & {
  readonly conditions: HorizontalPodAutoscalerStatus['conditions'] | null;
};

/** Converts a status to the storage version. */
export function statusToStored({ conditions, currentReplicas, ...rest }: StatusV2beta2): HorizontalPodAutoscalerStatus {
  return {
    ...rest,
    ...(currentReplicas === undefined || currentReplicas === 0 ? {} : { currentReplicas }),
    ...(conditions === undefined || conditions === null ? {} : { conditions }),
  };
}

/** Converts a status from the storage version. */
export function statusFromStored(stored: HorizontalPodAutoscalerStatus): StatusV2beta2 {
  const { conditions = null, currentReplicas = 0 } = stored;
  return { ...stored, currentReplicas, conditions };
}
