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
  applyDefaults(object as unknown as Pod, rangesFor(request, view), { view, note });
}

/** Throws the problems of the first LimitRange that is violated. */
function validate(request: AdmissionRequest, view: ClusterView): void {
  const makeCheck = isForPod(request) ? podCheck : isForClaim(request) ? claimCheck : undefined;
  if (makeCheck === undefined || request.object === undefined) return;
  const check = makeCheck(request.object, view);
  for (const items of rangesFor(request, view)) {
    const texts = check(items);
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

const FIELDS = ['requests', 'limits'] as const;

/**
 * Sets defaults in place and an annotation that lists them. Of several ranges, the last annotation remains. A range costs
 * time for each container only if one of them lacks a resource, which all of them have then.
 */
function applyDefaults(
  pod: Pod,
  ranges: readonly (readonly LimitRangeItem[])[],
  { view, note }: { readonly view: ClusterView; note(text: string): string },
): void {
  const targets = once(() => new DefaultTargets(pod.spec));
  let last: string | undefined;
  for (const items of ranges) {
    const defaults: Defaults = { requests: new Map(), limits: new Map() };
    for (const item of items) {
      if (item.type !== 'Container') continue;
      for (const [name, amount] of Object.entries(item.defaultRequest ?? {})) defaults.requests.set(name, amount);
      for (const [name, amount] of Object.entries(item.default ?? {})) defaults.limits.set(name, amount);
    }
    if (defaults.requests.size + defaults.limits.size === 0) continue;
    const notes = targets().add(defaults, note);
    if (notes.length > 0) last = `LimitRanger plugin set: ${notes.join('; ')}`;
  }
  if (last === undefined) return;
  targets().write();
  pod.metadata.annotations = sortedRecord(
    Object.entries({ ...pod.metadata.annotations, [view.dialect.key('limit-ranger')]: last }),
  );
}

type Defaults = Readonly<Record<(typeof FIELDS)[number], Map<string, string>>>;

/** The containers of a pod and the defaults that they get. */
class DefaultTargets {
  readonly #targets: readonly { readonly container: Container; readonly title: string; readonly added: Defaults }[];
  /** By field and resource: how many containers have an amount. */
  readonly #counts = { requests: new Map<string, number>(), limits: new Map<string, number>() };

  constructor({ containers, initContainers }: Pod['spec']) {
    const targetsOf = (list: readonly Container[] | null | undefined, title: string) =>
      (list ?? []).map((container) => ({ container, title, added: { requests: new Map(), limits: new Map() } }));
    this.#targets = [...targetsOf(containers, 'container'), ...targetsOf(initContainers, 'init container')];
    for (const { container } of this.#targets) {
      for (const field of FIELDS) {
        const counts = this.#counts[field];
        for (const name of Object.keys(container.resources[field] ?? {})) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
  }

  /** Adds amounts that containers lack. Returns descriptions of them. */
  add(defaults: Defaults, note: (text: string) => string): string[] {
    for (const field of FIELDS) {
      for (const name of defaults[field].keys()) {
        if (this.#counts[field].get(name) === this.#targets.length) defaults[field].delete(name);
        else this.#counts[field].set(name, this.#targets.length);
      }
    }
    if (defaults.requests.size + defaults.limits.size === 0) return [];
    return this.#targets.flatMap(({ container, title, added }) =>
      FIELDS.flatMap((field) => {
        const given = container.resources[field] ?? {};
        const missing = [...defaults[field]].filter(([name]) => !Object.hasOwn(given, name) && !added[field].has(name));
        if (missing.length === 0) return [];
        for (const [name, amount] of missing) added[field].set(name, amount);
        const names = missing.map(([name]) => name).sort();
        const what = field === 'requests' ? 'request' : 'limit';
        return [note(`${names.join(', ')} ${what} for ${title} ${container.name}`)];
      }),
    );
  }

  /** Sets the amounts in the containers. */
  write(): void {
    for (const { container, added } of this.#targets) {
      for (const field of FIELDS) {
        if (added[field].size === 0) continue;
        container.resources[field] = sortedRecord([
          ...added[field],
          ...Object.entries(container.resources[field] ?? {}),
        ]);
      }
    }
  }
}

/** Returns the problems that the items of a LimitRange find. */
type Check = (items: readonly LimitRangeItem[]) => string[];

function podCheck(object: ApiObject, { features }: ClusterView): Check {
  const spec = object['spec'] as Pod['spec'];
  const options = { isPodLevel: features.enabled('PodLevelResources') ? isPodLevel : () => false };
  const ofPod = once(
    () =>
      new Usages([{ requests: podAmounts(spec, 'requests', options), limits: podAmounts(spec, 'limits', options) }]),
  );
  const ofContainers = once(() => new Usages(containerUsages(spec)));
  return (items) => {
    const problems: string[] = [];
    for (const item of items) {
      const usages = item.type === 'Pod' ? ofPod() : item.type === 'Container' ? ofContainers() : undefined;
      const violated = usages === undefined ? [] : boundsOf(item).filter((bound) => usages.violate(bound));
      if (usages === undefined || violated.length === 0) continue;
      for (const usage of usages.each) {
        for (const bound of violated) {
          const problem = PROBLEMS[bound.rule](bound, usage);
          if (problem !== undefined) problems.push(problem);
        }
        if (problems.length > MAX_PROBLEMS) return problems.slice(0, MAX_PROBLEMS);
      }
    }
    return problems;
  };
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
function claimCheck(object: ApiObject): Check {
  const requests = readAmounts((object['spec'] as PersistentVolumeClaim['spec']).resources.requests);
  const usage: Usage = { requests, limits: new Map() };
  return (items) =>
    items
      .filter(({ type }) => type === 'PersistentVolumeClaim')
      .flatMap(boundsOf)
      .flatMap((bound) => {
        if (bound.rule === 'maxLimitRequestRatio') return [];
        return (bound.rule === 'min' ? minProblem(bound, usage) : maxRequestProblem(bound, requests)) ?? [];
      });
}

interface Usage {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

/** One bound of a range: `cpu`, `per Container is 100m`. */
interface Bound {
  readonly rule: 'min' | 'max' | 'maxLimitRequestRatio';
  readonly resource: string;
  readonly amount: Quantity;
  readonly text: string;
}

/** The bounds of an item in the order of their messages. Every pod is compared with those of a stored range. */
function boundsOf(item: LimitRangeItem): readonly Bound[] {
  return Object.isFrozen(item) ? getOrInsertComputed(knownBounds, item, readBounds) : readBounds(item);
}

const knownBounds = new WeakMap<LimitRangeItem, readonly Bound[]>();

function readBounds(item: LimitRangeItem): readonly Bound[] {
  return (['min', 'max', 'maxLimitRequestRatio'] as const).flatMap((rule) =>
    [...readAmounts(item[rule])].map(([resource, amount]) => {
      return { rule, resource, amount, text: `per ${item.type} is ${amount}` };
    }),
  );
}

/** Different usages, of which thousands are compared with thousands of bounds: first only their extremes. */
class Usages {
  readonly #byResource = new Map<string, ResourceUsages>();

  constructor(readonly each: readonly Usage[]) {
    for (const { requests, limits } of each) {
      for (const [name, request] of requests) this.#of(name).add(request, limits.get(name));
      for (const [name, limit] of limits) if (!requests.has(name)) this.#of(name).add(undefined, limit);
    }
  }

  /** Whether one of them violates a bound. */
  violate({ rule, resource, amount }: Bound): boolean {
    const usages = this.#byResource.get(resource);
    if (usages === undefined) return this.each.length > 0;
    const lacksRequest = usages.requests < this.each.length;
    const lacksLimit = usages.limits < this.each.length;
    if ((lacksRequest && rule !== 'max') || (lacksLimit && rule !== 'min')) return true;
    const violate = (extremes: Extremes, bound: bigint) =>
      rule === 'min'
        ? extremes.least !== undefined && extremes.least < bound
        : rule === 'max'
          ? extremes.most !== undefined && extremes.most > bound
          : extremes.hasZero || exceedsRatio(extremes.ratio, amount);
    if (!isFine(amount)) return violate(usages.all, amount.value());
    return violate(usages.fine, amount.milliValue()) || violate(usages.coarse, amount.value());
  }

  #of(resource: string): ResourceUsages {
    return getOrInsertComputed(this.#byResource, resource, () => new ResourceUsages());
  }
}

/** The usages of one resource, grouped as {@link comparable} compares them. */
class ResourceUsages {
  /** How many requests and limits are specified. */
  requests = 0;
  limits = 0;
  /** Milli-values of the usages that a bound may be compared with so. */
  readonly fine = new Extremes();
  /** Values of the other usages. */
  readonly coarse = new Extremes();
  readonly all = new Extremes();

  add(request: Quantity | undefined, limit: Quantity | undefined): void {
    if (request !== undefined) this.requests++;
    if (limit !== undefined) this.limits++;
    const [requested, limited] = [request?.value(), limit?.value()];
    this.all.add(requested, limited);
    if ([request, limit].every((quantity) => quantity === undefined || isFine(quantity)))
      this.fine.add(request?.milliValue(), limit?.milliValue());
    else this.coarse.add(requested, limited);
  }
}

class Extremes {
  /** Of requests and limits that are specified. */
  least: bigint | undefined;
  most: bigint | undefined;
  ratio = Number.NEGATIVE_INFINITY;
  hasZero = false;

  add(request: bigint | undefined, limit: bigint | undefined): void {
    for (const value of [request, limit]) {
      if (value === undefined) continue;
      if (this.least === undefined || value < this.least) this.least = value;
      if (this.most === undefined || value > this.most) this.most = value;
    }
    if (!request || !limit) this.hasZero = true;
    else this.ratio = Math.max(this.ratio, Number(limit) / Number(request));
  }
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
  return exceedsRatio(ratio, amount) ? `${rule}, but provided ratio is ${sixDecimals(ratio)}` : undefined;
}

const PROBLEMS = { min: minProblem, max: maxProblem, maxLimitRequestRatio: ratioProblem };

function exceedsRatio(ratio: number, bound: Quantity): boolean {
  return isFine(bound) ? ratio * 1000 > Number(bound.milliValue()) : ratio > Number(bound.value());
}

/** The largest integer whose thousandfold fits 64 bits. */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n;

function isFine(quantity: Quantity): boolean {
  return quantity.value() <= MAX_MILLI_VALUE;
}

/**
 * Compares milli-values if all three fit, else values rounded up, as the reference server does.
 * upstream: plugin/pkg/admission/limitranger/admission.go requestLimitEnforcedValues
 */
function comparable(request = Quantity.zero, limit = Quantity.zero, bound = Quantity.zero) {
  const areFine = [request, limit, bound].every(isFine);
  const read = (quantity: Quantity) => (areFine ? quantity.milliValue() : quantity.value());
  return { request: read(request), limit: read(limit), bound: read(bound) };
}

/** Formats like Go's `%f`, which rounds half to even. */
function sixDecimals(value: number): string {
  const seven = value.toFixed(7);
  // Only multiples of 1/128 have an exact 7-digit fraction ending in 5.
  const isBetween = Number.isInteger(value * 128) && seven.endsWith('5');
  return isBetween && /[02468].$/.test(seven) ? seven.slice(0, -1) : value.toFixed(6);
}
