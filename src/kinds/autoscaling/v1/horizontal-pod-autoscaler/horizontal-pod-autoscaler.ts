/**
 * The HorizontalPodAutoscaler kind in v1. Hooks run on its objects in v2, the storage version.
 */

import { orchDialect } from '../../../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { own } from '../../../../util/json.js';
import { sortedRecord } from '../../../../util/order.js';
import { anotherVersion } from '../../../define-kind.js';
import {
  type HorizontalPodAutoscalerV1Kind,
  type HorizontalPodAutoscalerV1Object,
  horizontalPodAutoscalerV1Base,
} from '../../../generated/autoscaling-v1.js';
import type { HookContext } from '../../../kind.js';
import { toStorageVersion } from '../../../shared/storage-conversion.js';
import { statusSubresource } from '../../../shared/strategies.js';
import { annotationKeys, SPEC_ANNOTATIONS, STATUS_ANNOTATIONS } from '../../annotations.js';
import {
  autoscalerColumns,
  autoscalerStatusProblems,
  HorizontalPodAutoscaler,
} from '../../v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { fromV2, toV2 } from './conversion.js';

export interface HorizontalPodAutoscalerV1 extends HorizontalPodAutoscalerV1Object {}

const v2 = HorizontalPodAutoscaler.strategy;

export const HorizontalPodAutoscalerV1: HorizontalPodAutoscalerV1Kind<HorizontalPodAutoscalerV1> = anotherVersion(
  HorizontalPodAutoscaler,
  {
    ...horizontalPodAutoscalerV1Base,
    fieldAnnotations: [...SPEC_ANNOTATIONS, ...STATUS_ANNOTATIONS].flatMap(annotationKeys),
    toStored: toV2,
    fromStored: fromV2,
    strategy: {
      decode: {
        // The conversion normalizes the annotations and adds the default metric.
        defaults: (draft, context) => throughV2(draft, context),
      },
      create: {
        prepare: (draft, context) => {
          keepAnnotations(draft, undefined, STATUS_ANNOTATIONS);
          throughV2(draft, context, (form) => v2.create.prepare?.(form, context));
        },
        validate: (object, context) => v2.create.validate?.(inV2(object), context) ?? [],
      },
      update: {
        prepare: (draft, live, context) => {
          keepAnnotations(draft, live, STATUS_ANNOTATIONS);
          throughV2(draft, context, (form) => v2.update.prepare?.(form, inV2(live), context));
        },
        validate: (next, live, context, metadata) =>
          v2.update.validate?.(inV2(next), inV2(live), context, metadata) ?? [],
      },
    },
    subresources: {
      status: statusSubresource({
        prepare: (draft, live) => keepAnnotations(draft, live, SPEC_ANNOTATIONS),
        validate: autoscalerStatusProblems,
      }),
    },
    columns: autoscalerColumns(inV2),
  },
);

function inV2(object: ApiObject): ApiObject & HorizontalPodAutoscaler {
  return toStorageVersion(object, { toStored: toV2 }, orchDialect);
}

function throughV2(draft: DraftObject, { dialect }: HookContext, change?: (form: DraftObject) => void): void {
  toV2(draft);
  change?.(draft);
  fromV2(draft, dialect);
}

/** Resets the annotations that represent fields which the write cannot change. */
export function keepAnnotations(
  draft: DraftObject,
  live: ApiObject | undefined,
  names: typeof SPEC_ANNOTATIONS | typeof STATUS_ANNOTATIONS,
): void {
  const keys = names.flatMap(annotationKeys);
  const kept = Object.entries(draft.metadata.annotations ?? {}).filter(([key]) => !keys.includes(key));
  const before = live?.metadata.annotations ?? {};
  for (const key of keys) {
    const value = own(before, key);
    if (value !== undefined) kept.push([key, value]);
  }
  draft.metadata.annotations = sortedRecord(kept);
}
