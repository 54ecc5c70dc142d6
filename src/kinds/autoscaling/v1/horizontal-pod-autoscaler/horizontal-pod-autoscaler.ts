/**
 * HorizontalPodAutoscaler in v1. Its objects are those of v2; rules are applied to what they are there.
 */
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { copyJson, own } from '../../../../util/json.js';
import { sortedRecord } from '../../../../util/order.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../../define-kind.js';
import {
  type HorizontalPodAutoscalerV1Body,
  type HorizontalPodAutoscalerV1BodyInput,
  horizontalPodAutoscalerV1Body,
} from '../../../generated/autoscaling-v1.js';
import type { Kind, WriteContext } from '../../../kind.js';
import { statusSubresource } from '../../../shared/strategies.js';
import { annotationKeys, SPEC_ANNOTATIONS, STATUS_ANNOTATIONS } from '../../annotations.js';
import { autoscalerColumns } from '../../v2/horizontal-pod-autoscaler/columns.js';
import {
  autoscalerStatusProblems,
  HorizontalPodAutoscaler,
} from '../../v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { fromV2, toV2 } from './conversion.js';

export interface HorizontalPodAutoscalerV1 extends ObjectBase, HorizontalPodAutoscalerV1Body {}
export interface HorizontalPodAutoscalerV1Input extends InputBase, HorizontalPodAutoscalerV1BodyInput {}

const v2 = HorizontalPodAutoscaler.strategy;

export const HorizontalPodAutoscalerV1: Kind<
  HorizontalPodAutoscalerV1,
  HorizontalPodAutoscalerV1Input,
  'Namespaced',
  'status'
> = anotherVersion(HorizontalPodAutoscaler, {
  apiVersion: 'autoscaling/v1',
  body: horizontalPodAutoscalerV1Body,
  fieldAnnotations: [...SPEC_ANNOTATIONS, ...STATUS_ANNOTATIONS].flatMap(annotationKeys),
  toStored: toV2,
  fromStored: fromV2,
  strategy: {
    decode: {
      // There and back: what the annotations say is put as the server puts it, and the default metric shows.
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
  columns: autoscalerColumns((object) => inV2(object) as unknown as HorizontalPodAutoscaler),
});

function inV2(object: ApiObject): ApiObject {
  const draft = copyJson(object) as unknown as DraftObject;
  toV2(draft);
  return draft as unknown as ApiObject;
}

function throughV2(draft: DraftObject, { dialect }: WriteContext, change?: (form: DraftObject) => void): void {
  toV2(draft);
  change?.(draft);
  fromV2(draft, dialect);
}

/** Annotations that stand for fields a write may not touch: they are as they were. */
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
