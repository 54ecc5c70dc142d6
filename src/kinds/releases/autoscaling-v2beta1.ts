/**
 * HorizontalPodAutoscaler in v2beta1. Its metrics have the form of v1's annotations; the behavior, for which it has no
 * field, is in an annotation.
 */

import { orchDialect } from '../../meta/dialect.js';
import type { CommonObject } from '../../meta/object.js';
import { SPEC_ANNOTATIONS, setAnnotations } from '../autoscaling/annotations.js';
import { behaviorOf, behaviorText } from '../autoscaling/v1/horizontal-pod-autoscaler/conversion.js';
import { keepAnnotations } from '../autoscaling/v1/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import type { Fields } from '../autoscaling/v1/horizontal-pod-autoscaler/metrics.js';
import {
  readMetricSpec,
  readMetricStatus,
  writeMetricSpec,
  writeMetricStatus,
} from '../autoscaling/v1/horizontal-pod-autoscaler/metrics.js';
import {
  autoscalerColumns,
  autoscalerStatusProblems,
  HorizontalPodAutoscaler,
} from '../autoscaling/v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { anotherVersion } from '../define-kind.js';
import type {
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  MetricSpec,
} from '../generated/autoscaling-v2.js';
import { horizontalPodAutoscalerBody } from '../generated/autoscaling-v2beta1.js';
import type { Kind } from '../kind.js';
import { type Conversion, storageVersionHooks, toStorageVersion } from '../shared/storage-conversion.js';
import { statusSubresource } from '../shared/strategies.js';
import { type StatusV2beta2, statusFromStored, statusToStored } from './autoscaling-v2beta2.js';

type Spec = Omit<HorizontalPodAutoscalerSpec, 'metrics' | 'behavior'> & { readonly metrics?: readonly Fields[] };
type Status = Omit<StatusV2beta2, 'currentMetrics'> & { readonly currentMetrics: readonly Fields[] | null };

const conversion: Conversion = {
  toStored(draft, dialect) {
    const { metrics, ...rest } = draft['spec'] as Spec;
    const behavior = behaviorOf(draft);
    draft['spec'] = {
      ...rest,
      ...(metrics === undefined ? {} : { metrics: metrics.map((metric) => withoutContainer(readMetricSpec(metric))) }),
      ...(behavior === undefined ? {} : { behavior }),
    };
    const shown = draft['status'] as Status;
    const currentMetrics = shown.currentMetrics?.map(readMetricStatus) ?? null;
    draft['status'] = statusToStored({ ...shown, currentMetrics });
    setAnnotations(draft, {}, dialect);
  },
  fromStored(draft, dialect) {
    const { metrics, behavior, ...rest } = draft['spec'] as HorizontalPodAutoscalerSpec;
    draft['spec'] = {
      ...rest,
      ...(metrics === undefined ? {} : { metrics: metrics.map((metric) => writeMetricSpec(withoutContainer(metric))) }),
    };
    const stored = draft['status'] as HorizontalPodAutoscalerStatus;
    draft['status'] = {
      ...statusFromStored(stored),
      currentMetrics: stored.currentMetrics?.map(writeMetricStatus) ?? null,
    };
    setAnnotations(draft, behavior === undefined ? {} : { behavior: behaviorText(behavior) }, dialect);
  },
};

/** The reference server's conversions drop the container in both directions. */
function withoutContainer(metric: MetricSpec): MetricSpec {
  const { containerResource } = metric;
  return containerResource === undefined
    ? metric
    : { ...metric, containerResource: { ...containerResource, container: '' } };
}

export const horizontalPodAutoscalerV2beta1: Kind<CommonObject & { readonly status: Status }> = anotherVersion(
  HorizontalPodAutoscaler,
  {
    apiVersion: 'autoscaling/v2beta1',
    lifecycle: {
      introducedIn: '1.8',
      servedByDefault: true,
      deprecatedIn: '1.22',
      removedIn: '1.25',
      replacement: {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        before: { release: '1.23', apiVersion: 'autoscaling/v2beta2' },
      },
    },
    body: horizontalPodAutoscalerBody,
    ...conversion,
    strategy: storageVersionHooks(HorizontalPodAutoscaler.strategy, conversion),
    subresources: {
      status: statusSubresource({
        // The behavior annotation belongs to the spec.
        prepare: (draft, live) => keepAnnotations(draft, live, SPEC_ANNOTATIONS),
        validate: autoscalerStatusProblems,
      }),
    },
    // The dialect does not matter: the annotation is read under the names of both dialects.
    columns: autoscalerColumns((object) => toStorageVersion<HorizontalPodAutoscaler>(object, conversion, orchDialect)),
  },
);
