/**
 * Converts metrics between v2 and the v2beta1 form in v1's annotations. The field order is the reference server's,
 * because the annotation's text is visible to clients.
 */
import { own } from '../../../../util/json.js';
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSourceType,
  MetricSpec,
  MetricStatus,
  MetricTarget,
} from '../../../generated/autoscaling-v2.js';
import type { LabelSelector } from '../../../generated/meta-v1.js';
import { amount, type Fields, optionalRecord, present, record, text, whole } from './reader.js';

/** The value of an absent required quantity. */
const ZERO = '0';

/** Encodes a metric of the spec. */
export function writeMetricSpec({ type, object, pods, resource, containerResource, external }: MetricSpec): object {
  return present({
    type,
    object: object && {
      ...objectTarget(object.describedObject, object.metric),
      targetValue: object.target.value ?? ZERO,
      ...present({ selector: object.metric.selector, averageValue: object.target.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric.name,
      targetAverageValue: pods.target.averageValue ?? ZERO,
      ...present({ selector: pods.metric.selector }),
    },
    resource: resource && { name: resource.name, ...writtenTarget(resource.target) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...writtenTarget(containerResource.target),
      container: containerResource.container,
    },
    external:
      external &&
      present({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        targetValue: external.target.value,
        targetAverageValue: external.target.averageValue,
      }),
  });
}

function objectTarget({ kind, name, apiVersion }: CrossVersionObjectReference, metric: MetricIdentifier) {
  return { target: present({ kind, name, apiVersion }), metricName: metric.name };
}

function writtenTarget({ averageUtilization, averageValue }: MetricTarget) {
  return present({ targetAverageUtilization: averageUtilization, targetAverageValue: averageValue });
}

/** Encodes a metric of the status. */
export function writeMetricStatus(status: MetricStatus): object {
  const { type, object, pods, resource, containerResource, external } = status;
  return present({
    type,
    object: object && {
      ...objectTarget(object.describedObject, object.metric),
      currentValue: object.current.value ?? ZERO,
      ...present({ selector: object.metric.selector, averageValue: object.current.averageValue }),
    },
    pods: pods && {
      metricName: pods.metric.name,
      currentAverageValue: pods.current.averageValue ?? ZERO,
      ...present({ selector: pods.metric.selector }),
    },
    resource: resource && { name: resource.name, ...writtenCurrent(resource.current) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...writtenCurrent(containerResource.current),
      container: containerResource.container,
    },
    external: external && {
      metricName: external.metric.name,
      ...present({ metricSelector: external.metric.selector }),
      currentValue: external.current.value ?? ZERO,
      ...present({ currentAverageValue: external.current.averageValue }),
    },
  });
}

function writtenCurrent(current: { averageUtilization?: number; averageValue?: string }) {
  const { averageUtilization, averageValue = ZERO } = current;
  return { ...present({ currentAverageUtilization: averageUtilization }), currentAverageValue: averageValue };
}

/** Decodes a metric of the spec. */
export function readMetricSpec(fields: Fields): MetricSpec {
  return present({
    type: text(fields, 'type') as MetricSourceType,
    object: optionalRecord(own(fields, 'object'), (source) => {
      const averageValue = amount(source, 'averageValue');
      const value = amount(source, 'targetValue') ?? ZERO;
      const type = averageValue === undefined ? ('Value' as const) : ('AverageValue' as const);
      return {
        describedObject: readReference(own(source, 'target')),
        target: present({ type, value, averageValue }),
        metric: readIdentifier(source, 'selector'),
      };
    }),
    pods: optionalRecord(own(fields, 'pods'), (source) => ({
      metric: readIdentifier(source, 'selector'),
      target: { type: 'AverageValue' as const, averageValue: amount(source, 'targetAverageValue') ?? ZERO },
    })),
    resource: optionalRecord(own(fields, 'resource'), (source) => ({
      name: text(source, 'name'),
      target: readTarget(source),
    })),
    containerResource: optionalRecord(own(fields, 'containerResource'), (source) => ({
      name: text(source, 'name'),
      target: readTarget(source),
      container: text(source, 'container'),
    })),
    external: optionalRecord(own(fields, 'external'), (source) => {
      const value = amount(source, 'targetValue');
      const type = value === undefined ? ('AverageValue' as const) : ('Value' as const);
      return {
        metric: readIdentifier(source, 'metricSelector'),
        target: present({ type, value, averageValue: amount(source, 'targetAverageValue') }),
      };
    }),
  }) as MetricSpec;
}

/** Decodes a metric of the status. */
export function readMetricStatus(fields: Fields): MetricStatus {
  return present({
    type: text(fields, 'type') as MetricSourceType,
    object: optionalRecord(own(fields, 'object'), (source) => ({
      metric: readIdentifier(source, 'selector'),
      current: present({
        value: amount(source, 'currentValue') ?? ZERO,
        averageValue: amount(source, 'averageValue'),
      }),
      describedObject: readReference(own(source, 'target')),
    })),
    pods: optionalRecord(own(fields, 'pods'), (source) => ({
      metric: readIdentifier(source, 'selector'),
      current: { averageValue: amount(source, 'currentAverageValue') ?? ZERO },
    })),
    resource: optionalRecord(own(fields, 'resource'), (source) => ({
      name: text(source, 'name'),
      current: readCurrent(source),
    })),
    containerResource: optionalRecord(own(fields, 'containerResource'), (source) => ({
      name: text(source, 'name'),
      current: readCurrent(source),
      container: text(source, 'container'),
    })),
    external: optionalRecord(own(fields, 'external'), (source) => ({
      metric: readIdentifier(source, 'metricSelector'),
      current: present({
        value: amount(source, 'currentValue') ?? ZERO,
        averageValue: amount(source, 'currentAverageValue'),
      }),
    })),
  }) as MetricStatus;
}

function readReference(value: unknown): CrossVersionObjectReference {
  const fields = record(value);
  const apiVersion = text(fields, 'apiVersion');
  return { kind: text(fields, 'kind'), name: text(fields, 'name'), ...(apiVersion === '' ? {} : { apiVersion }) };
}

function readIdentifier(fields: Fields, selectorName: string): MetricIdentifier {
  const selector = optionalRecord(own(fields, selectorName), (value) => value as LabelSelector);
  return present({ name: text(fields, 'metricName'), selector }) as MetricIdentifier;
}

function readTarget(fields: Fields): MetricTarget {
  const averageUtilization = whole(fields, 'targetAverageUtilization');
  const averageValue = amount(fields, 'targetAverageValue');
  const type = averageUtilization === undefined ? ('AverageValue' as const) : ('Utilization' as const);
  return present({ type, averageValue, averageUtilization }) as MetricTarget;
}

function readCurrent(fields: Fields) {
  return present({
    averageValue: amount(fields, 'currentAverageValue') ?? ZERO,
    averageUtilization: whole(fields, 'currentAverageUtilization'),
  });
}
