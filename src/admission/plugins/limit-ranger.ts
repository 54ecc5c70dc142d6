/**
 * The LimitRanger plugin: sets the default requests and limits of a namespace's LimitRanges and rejects amounts that are
 * too small, too large or exceed the limit/request ratio. spec: LimitRange
 *
 * Defaults are set before validation of the object, checks run after it. The resources of a pod are fixed at creation, so
 * of the updates only `resize` is checked.
 */
import type { LimitRange } from '../../kinds/core/v1/limit-range.js';
import type { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Container, LimitRangeItem } from '../../kinds/generated/core-v1.js';
import { MAX_ANNOTATION_BYTES } from '../../kinds/shared/annotations.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { errors } from '../../meta/errors.js';
import { aggregateText, tooLong } from '../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { getOrInsertComputed, once } from '../../util/once.js';
import { sortedRecord } from '../../util/order.js';
import { idleWithout } from '../idle.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { type Amounts, podAmounts, readAmounts } from './pod-amounts.js';
import { type AnyRequest, forbiddenError, isRequestFor, kindsOf } from './requests.js';

const RANGES = { group: '', resource: 'limitranges' };

export const limitRanger: AdmissionPlugin = /* @__PURE__ */ idleWithout([RANGES], {
  name: 'LimitRanger',
  handlesKind: kindsOf(['', 'pods'], ['', 'persistentvolumeclaims']),
  isBuiltIn: true,
  mutate,
  validate,
});

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  const { object, served, name } = request;
  if (!isForPod(request) || object === undefined) return;
  let length = 0;
  const note = (text: string) => {
    length += text.length;
    // Without a limit, the resources of the ranges multiply with the containers.
    if (length > MAX_ANNOTATION_BYTES) {
      throw errors.invalid(served.kind, name, [tooLong('metadata.annotations', MAX_ANNOTATION_BYTES)]);
    }
    return text;
  };
  for (const items of rangesFor(request, view)) applyDefaults(object as unknown as Pod, items, { view, note });
}

/** Throws the problems of the first LimitRange that is violated. */
function validate(request: AdmissionRequest, view: ClusterView): void {
  const check = isForPod(request) ? podProblems : isForClaim(request) ? claimProblems : undefined;
  if (check === undefined || request.object === undefined) return;
  for (const items of rangesFor(request, view)) {
    const texts = check(request.object, items, view);
    if (texts.length > 0) throw forbiddenError(request, aggregateText(texts));
  }
}

function isForPod(request: AnyRequest): boolean {
  if (request.operation === 'CREATE') return isRequestFor(request, '', 'pods');
  const { kind } = request.served;
  const isResize = request.operation === 'UPDATE' && request.subresource === 'resize';
  return isResize && kind.group === '' && kind.names.plural === 'pods';
}

function isForClaim(request: AdmissionRequest): boolean {
  return request.operation !== 'DELETE' && isRequestFor(request, '', 'persistentvolumeclaims');
}

/** The limits of each LimitRange, sorted by name; none for objects that are being deleted. */
function rangesFor({ namespace, oldObject }: AnyRequest, view: ClusterView): (readonly LimitRangeItem[])[] {
  if (oldObject?.metadata.deletionTimestamp) return [];
  const ranges = view.list(RANGES, namespace);
  // An empty list of limits is stored as null.
  return ranges.map((range) => (range['spec'] as LimitRange['spec']).limits ?? []);
}

/** Sets defaults in place and an annotation that lists them. Of several ranges, the last annotation remains. */
function applyDefaults(
  pod: Pod,
  items: readonly LimitRangeItem[],
  { view, note }: Pick<Defaults, 'note'> & { readonly view: ClusterView },
): void {
  const defaults: Defaults = { requests: {}, limits: {}, note };
  for (const item of items) {
    if (item.type !== 'Container') continue;
    Object.assign(defaults.requests, item.defaultRequest);
    Object.assign(defaults.limits, item.default);
  }
  const notes = [
    ...(pod.spec.containers ?? []).flatMap((container) => applyContainerDefaults(container, 'container', defaults)),
    ...(pod.spec.initContainers ?? []).flatMap((container) =>
      applyContainerDefaults(container, 'init container', defaults),
    ),
  ];
  if (notes.length === 0) return;
  const text = `LimitRanger plugin set: ${notes.join('; ')}`;
  pod.metadata.annotations = sortedRecord(
    Object.entries({ ...pod.metadata.annotations, [view.dialect.key('limit-ranger')]: text }),
  );
}

interface Defaults {
  readonly requests: ResourceList;
  readonly limits: ResourceList;
  /** Counts the description of what is set, and returns it. Throws if the descriptions of the pod become too long. */
  note(text: string): string;
}

/** Returns descriptions of what was set. */
function applyContainerDefaults(container: Container, title: string, defaults: Defaults): string[] {
  return (['requests', 'limits'] as const).flatMap((field) => {
    const given = container.resources[field] ?? {};
    const missing = Object.keys(defaults[field]).filter((name) => !Object.hasOwn(given, name));
    if (missing.length === 0) return [];
    const what = field === 'requests' ? 'request' : 'limit';
    const text = defaults.note(`${missing.sort().join(', ')} ${what} for ${title} ${container.name}`);
    container.resources[field] = sortedRecord(Object.entries({ ...defaults[field], ...given }));
    return [text];
  });
}

function podProblems(object: ApiObject, items: readonly LimitRangeItem[], { features }: ClusterView): string[] {
  const spec = object['spec'] as Pod['spec'];
  const options = { isPodLevel: features.enabled('PodLevelResources') ? isPodLevel : () => false };
  const ofPod = once((): readonly Usage[] => [
    { requests: podAmounts(spec, 'requests', options), limits: podAmounts(spec, 'limits', options) },
  ]);
  const ofContainers = once(() => containerUsages(spec));
  const problems: string[] = [];
  for (const item of items) {
    const usages = item.type === 'Pod' ? ofPod() : item.type === 'Container' ? ofContainers() : [];
    for (const usage of usages) {
      for (const problem of usageProblems(item, usage)) problems.push(problem);
      if (problems.length > MAX_PROBLEMS) return problems.slice(0, MAX_PROBLEMS);
    }
  }
  return problems;
}

/** Thousands of containers may violate thousands of bounds each. */
const MAX_PROBLEMS = 10_000;

/** Equal usages have equal problems, which are reported once: only different ones are returned. */
function containerUsages({ containers, initContainers }: Pod['spec']): readonly Usage[] {
  const different = new Map<string, Usage>();
  for (const { resources } of [...(containers ?? []), ...(initContainers ?? [])]) {
    getOrInsertComputed(different, JSON.stringify([resources.requests, resources.limits]), () => ({
      requests: readAmounts(resources.requests),
      limits: readAmounts(resources.limits),
    }));
  }
  return [...different.values()];
}

/** The resources whose pod-level amounts replace those of the containers. */
function isPodLevel(resource: string): boolean {
  return resource === 'cpu' || resource === 'memory';
}

/** Claims have only requests. */
function claimProblems(object: ApiObject, items: readonly LimitRangeItem[]): string[] {
  const requests = readAmounts((object['spec'] as PersistentVolumeClaim['spec']).resources.requests);
  const limits: Amounts = new Map();
  return items
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap((item) => [
      ...checkBounds(item, 'min', (bound) => minProblem(bound, { requests, limits })),
      ...checkBounds(item, 'max', (bound) => maxRequestProblem(bound, requests)),
    ]);
}

interface Usage {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

function usageProblems(item: LimitRangeItem, usage: Usage): string[] {
  return [
    ...checkBounds(item, 'min', (bound) => minProblem(bound, usage)),
    ...checkBounds(item, 'max', (bound) => maxProblem(bound, usage)),
    ...checkBounds(item, 'maxLimitRequestRatio', (bound) => ratioProblem(bound, usage)),
  ];
}

/** One bound of a range: `cpu`, `per Container is 100m`. */
interface Bound {
  readonly resource: string;
  readonly amount: Quantity;
  readonly text: string;
}

function checkBounds(
  item: LimitRangeItem,
  field: 'min' | 'max' | 'maxLimitRequestRatio',
  check: (bound: Bound) => string | undefined,
): string[] {
  return [...readAmounts(item[field])].flatMap(([resource, amount]) => {
    return check({ resource, amount, text: `per ${item.type} is ${amount}` }) ?? [];
  });
}

function minProblem({ resource, amount, text }: Bound, usage: Usage): string | undefined {
  const [request, limit] = [usage.requests.get(resource), usage.limits.get(resource)];
  const rule = `minimum ${resource} usage ${text}`;
  const values = comparable(request, limit, amount);
  if (request === undefined) return `${rule}.  No request is specified`;
  if (values.request < values.bound) return `${rule}, but request is ${request}`;
  return limit !== undefined && values.limit < values.bound ? `${rule}, but limit is ${limit}` : undefined;
}

function maxProblem({ resource, amount, text }: Bound, usage: Usage): string | undefined {
  const [request, limit] = [usage.requests.get(resource), usage.limits.get(resource)];
  const rule = `maximum ${resource} usage ${text}`;
  const values = comparable(request, limit, amount);
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (values.limit > values.bound) return `${rule}, but limit is ${limit}`;
  return request !== undefined && values.request > values.bound ? `${rule}, but request is ${request}` : undefined;
}

function maxRequestProblem({ resource, amount, text }: Bound, requests: Amounts): string | undefined {
  const request = requests.get(resource);
  const rule = `maximum ${resource} usage ${text}`;
  if (request === undefined) return `${rule}.  No request is specified`;
  const values = comparable(request, undefined, amount);
  return values.request > values.bound ? `${rule}, but request is ${request}` : undefined;
}

function ratioProblem({ resource, amount, text }: Bound, usage: Usage): string | undefined {
  const rule = `${resource} max limit to request ratio ${text}`;
  const { request, limit } = comparable(usage.requests.get(resource), usage.limits.get(resource), amount);
  // An absent amount is zero.
  if (request === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0n) return `${rule}, but no limit is specified or limit is 0`;
  const ratio = Number(limit) / Number(request);
  const isFine = amount.value() <= MAX_MILLI_VALUE;
  const isTooHigh = isFine ? ratio * 1000 > Number(amount.milliValue()) : ratio > Number(amount.value());
  return isTooHigh ? `${rule}, but provided ratio is ${sixDecimals(ratio)}` : undefined;
}

/** The largest integer whose thousandfold fits 64 bits. */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n;

/**
 * Compares milli-values if all three fit, else values rounded up, as the reference server does.
 * upstream: plugin/pkg/admission/limitranger/admission.go requestLimitEnforcedValues
 */
function comparable(request = Quantity.zero, limit = Quantity.zero, bound = Quantity.zero) {
  const isFine = [request, limit, bound].every((quantity) => quantity.value() <= MAX_MILLI_VALUE);
  const read = (quantity: Quantity) => (isFine ? quantity.milliValue() : quantity.value());
  return { request: read(request), limit: read(limit), bound: read(bound) };
}

/** Formats like Go's `%f`, which rounds half to even. */
function sixDecimals(value: number): string {
  const seven = value.toFixed(7);
  // Only multiples of 1/128 have an exact 7-digit fraction ending in 5.
  const isBetween = Number.isInteger(value * 128) && seven.endsWith('5');
  return isBetween && /[02468].$/.test(seven) ? seven.slice(0, -1) : value.toFixed(6);
}
