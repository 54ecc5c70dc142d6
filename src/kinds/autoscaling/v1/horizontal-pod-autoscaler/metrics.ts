/**
 * Converts metrics between v2 and the v2beta1 form in v1's annotations, and decodes JSON annotations. The field order
 * is the reference server's, because the annotation's text is visible to clients.
 */
import { Quantity, QuantityError } from '../../../../meta/quantity.js';
import { JsonSyntaxError, parseJson } from '../../../../text/json/parse-json.js';
import { isRecord, own } from '../../../../util/json.js';
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSourceType,
  MetricSpec,
  MetricStatus,
  MetricTarget,
} from '../../../generated/autoscaling-v2.js';
import type { LabelSelector } from '../../../generated/meta-v1.js';

class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/** The value of an absent required quantity. */
const ZERO = '0';

/** Encodes a metric of the spec. */
export function writeMetricSpec(spec: MetricSpec): object {
  return writeMetric(spec, 'target', undefined);
}

/** Encodes a metric of the status, in which values are required. */
export function writeMetricStatus(status: MetricStatus): object {
  return writeMetric(status, 'current', ZERO);
}

/** The values of a target or of a status. */
type Values = Partial<Omit<MetricTarget, 'type'>>;

/** `absent` is the value of quantities that only the status requires. */
function writeMetric(metric: MetricSpec | MetricStatus, prefix: 'target' | 'current', absent: string | undefined) {
  const valuesOf = (source: { readonly target: Values } | { readonly current: Values }) =>
    'target' in source ? source.target : source.current;
  const averages = ({ averageUtilization, averageValue = absent }: Values) =>
    withoutUndefined({ [`${prefix}AverageUtilization`]: averageUtilization, [`${prefix}AverageValue`]: averageValue });
  const { type, object, pods, resource, containerResource, external } = metric;
  return withoutUndefined({
    type,
    object: object && {
      ...objectTarget(object.describedObject, object.metric),
      [`${prefix}Value`]: valuesOf(object).value ?? ZERO,
      ...withoutUndefined({ selector: object.metric.selector, averageValue: valuesOf(object).averageValue }),
    },
    pods: pods && {
      metricName: pods.metric.name,
      [`${prefix}AverageValue`]: valuesOf(pods).averageValue ?? ZERO,
      ...withoutUndefined({ selector: pods.metric.selector }),
    },
    resource: resource && { name: resource.name, ...averages(valuesOf(resource)) },
    containerResource: containerResource && {
      name: containerResource.name,
      ...averages(valuesOf(containerResource)),
      container: containerResource.container,
    },
    external:
      external &&
      withoutUndefined({
        metricName: external.metric.name,
        metricSelector: external.metric.selector,
        [`${prefix}Value`]: valuesOf(external).value ?? absent,
        [`${prefix}AverageValue`]: valuesOf(external).averageValue,
      }),
  });
}

function objectTarget({ kind, name, apiVersion }: CrossVersionObjectReference, metric: MetricIdentifier) {
  return { target: withoutUndefined({ kind, name, apiVersion }), metricName: metric.name };
}

/** Decodes a metric of the spec. */
export function readMetricSpec(fields: Fields): MetricSpec {
  return withoutUndefined({
    type: readText(fields, 'type') as MetricSourceType,
    object: readOptionalRecord(own(fields, 'object'), (source) => {
      const averageValue = readQuantity(source, 'averageValue');
      const value = readQuantity(source, 'targetValue') ?? ZERO;
      const type = averageValue === undefined ? ('Value' as const) : ('AverageValue' as const);
      return {
        describedObject: readReference(own(source, 'target')),
        target: withoutUndefined({ type, value, averageValue }),
        metric: readIdentifier(source, 'selector'),
      };
    }),
    pods: readOptionalRecord(own(fields, 'pods'), (source) => ({
      metric: readIdentifier(source, 'selector'),
      target: { type: 'AverageValue' as const, averageValue: readQuantity(source, 'targetAverageValue') ?? ZERO },
    })),
    resource: readOptionalRecord(own(fields, 'resource'), (source) => ({
      name: readText(source, 'name'),
      target: readTarget(source),
    })),
    containerResource: readOptionalRecord(own(fields, 'containerResource'), (source) => ({
      name: readText(source, 'name'),
      target: readTarget(source),
      container: readText(source, 'container'),
    })),
    external: readOptionalRecord(own(fields, 'external'), (source) => {
      const value = readQuantity(source, 'targetValue');
      const type = value === undefined ? ('AverageValue' as const) : ('Value' as const);
      return {
        metric: readIdentifier(source, 'metricSelector'),
        target: withoutUndefined({ type, value, averageValue: readQuantity(source, 'targetAverageValue') }),
      };
    }),
  }) as MetricSpec;
}

/** Decodes a metric of the status. */
export function readMetricStatus(fields: Fields): MetricStatus {
  return withoutUndefined({
    type: readText(fields, 'type') as MetricSourceType,
    object: readOptionalRecord(own(fields, 'object'), (source) => ({
      metric: readIdentifier(source, 'selector'),
      current: withoutUndefined({
        value: readQuantity(source, 'currentValue') ?? ZERO,
        averageValue: readQuantity(source, 'averageValue'),
      }),
      describedObject: readReference(own(source, 'target')),
    })),
    pods: readOptionalRecord(own(fields, 'pods'), (source) => ({
      metric: readIdentifier(source, 'selector'),
      current: { averageValue: readQuantity(source, 'currentAverageValue') ?? ZERO },
    })),
    resource: readOptionalRecord(own(fields, 'resource'), (source) => ({
      name: readText(source, 'name'),
      current: readCurrent(source),
    })),
    containerResource: readOptionalRecord(own(fields, 'containerResource'), (source) => ({
      name: readText(source, 'name'),
      current: readCurrent(source),
      container: readText(source, 'container'),
    })),
    external: readOptionalRecord(own(fields, 'external'), (source) => ({
      metric: readIdentifier(source, 'metricSelector'),
      current: withoutUndefined({
        value: readQuantity(source, 'currentValue') ?? ZERO,
        averageValue: readQuantity(source, 'currentAverageValue'),
      }),
    })),
  }) as MetricStatus;
}

function readReference(value: unknown): CrossVersionObjectReference {
  const fields = readRecord(value);
  const apiVersion = readText(fields, 'apiVersion');
  return {
    kind: readText(fields, 'kind'),
    name: readText(fields, 'name'),
    ...(apiVersion === '' ? {} : { apiVersion }),
  };
}

function readIdentifier(fields: Fields, selectorName: string): MetricIdentifier {
  const selector = readOptionalRecord(own(fields, selectorName), (value) => value as LabelSelector);
  return withoutUndefined({ name: readText(fields, 'metricName'), selector }) as MetricIdentifier;
}

function readTarget(fields: Fields): MetricTarget {
  const averageUtilization = readInteger(fields, 'targetAverageUtilization');
  const averageValue = readQuantity(fields, 'targetAverageValue');
  const type = averageUtilization === undefined ? ('AverageValue' as const) : ('Utilization' as const);
  return withoutUndefined({ type, averageValue, averageUtilization }) as MetricTarget;
}

function readCurrent(fields: Fields) {
  return withoutUndefined({
    averageValue: readQuantity(fields, 'currentAverageValue') ?? ZERO,
    averageUtilization: readInteger(fields, 'currentAverageUtilization'),
  });
}

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Decodes a JSON text with `read`; undefined if the text is absent or invalid. */
export function readAnnotation<Result>(text: string | undefined, read: (value: unknown) => Result): Result | undefined {
  if (text === undefined) return undefined;
  try {
    return read(parseJson(text).value);
  } catch (error) {
    const expected = [UnreadableError, JsonSyntaxError, QuantityError].some((type) => error instanceof type);
    if (expected) return undefined;
    throw error;
  }
}

/** Decodes a list of objects. */
export function readList<Item>(value: unknown, read: (fields: Fields) => Item): Item[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new UnreadableError('not a list');
  return value.map((item: unknown) => read(readRecord(item)));
}

/** Decodes an object; absent and null are empty. */
export function readRecord(value: unknown): Fields {
  if (value === null || value === undefined) return {};
  if (!isRecord(value)) throw new UnreadableError('not an object');
  return value;
}

/** Decodes an optional object; absent and null are undefined. */
export function readOptionalRecord<Result>(value: unknown, read: (fields: Fields) => Result): Result | undefined {
  return value === null || value === undefined ? undefined : read(readRecord(value));
}

/** Decodes a string field; absent and null are empty. */
export function readText(fields: Fields, name: string): string {
  const value = own(fields, name) ?? '';
  if (typeof value !== 'string') throw new UnreadableError(`${name} is no text`);
  return value;
}

/** Decodes an integer field. */
export function readInteger(fields: Fields, name: string): number | undefined {
  const value = own(fields, name) ?? undefined;
  if (value !== undefined && !Number.isInteger(value)) throw new UnreadableError(`${name} is no whole number`);
  return value as number | undefined;
}

/** Decodes a quantity field to its canonical form. */
export function readQuantity(fields: Fields, name: string): string | undefined {
  const value = own(fields, name) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string' && typeof value !== 'number') throw new UnreadableError(`${name} is no quantity`);
  return Quantity.parse(String(value).trim()).toString();
}

/** Removes undefined fields. */
export function withoutUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Value]: Exclude<Value[Key], undefined> };
}
