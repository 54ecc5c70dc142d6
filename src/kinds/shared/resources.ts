/**
 * Validation of resource names (`cpu`, `example.com/gpu`), quantities and resource requirements, shared by Pods,
 * LimitRanges, ResourceQuotas, Nodes, RuntimeClasses and volume claims. Quota and limit arithmetic is not part of it.
 *
 * Decoding has parsed all quantities before; a text that does not parse here is a bug. Maps are validated in the order of
 * their keys, because the reference server's order is random.
 */

import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { childPath, duplicate, fieldError, forbidden, invalid, keyPath, required } from '../../meta/field-error.js';
import { dnsLabelProblems, qualifiedNameProblems } from '../../meta/names.js';
import { Quantity } from '../../meta/quantity.js';
import { copyQuantityTexts, originalQuantityText } from '../../schema/quantity-texts.js';
import { verbatim } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { setOwn } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { sortedEntries, sortedRecord } from '../../util/order.js';
import { goSyntaxQuantity } from './go-syntax.js';

/** Quantities by resource name. */
export type ResourceList = Readonly<Record<string, string>>;

/** A list with the quantities of another one that it does not have; sorted. */
export function withMissingResources(list: ResourceList = {}, more: ResourceList): Record<string, string> {
  const all = sortedRecord(new Map([...Object.entries(more), ...Object.entries(list)]));
  copyQuantityTexts(list, all);
  copyQuantityTexts(more, all, list);
  return all;
}

export interface ResourceRequirements {
  readonly limits?: ResourceList | undefined;
  readonly requests?: ResourceList | undefined;
  readonly claims?: readonly ResourceClaimUse[] | undefined;
}

/** A container's reference to a claim of its Pod, or to one request in it. */
export interface ResourceClaimUse {
  readonly name?: string | undefined;
  readonly request?: string | undefined;
}

/** What validation of resources needs besides the value. */
export interface ResourceContext {
  /** Its key prefix distinguishes native resources from extended resources. */
  readonly dialect: Dialect;
}

export interface RequirementsContext extends ResourceContext {
  /** The names in the Pod's `spec.resourceClaims`; absent means none. */
  readonly podClaimNames?: ReadonlySet<string> | undefined;
  /** Set for updates of objects that already have a quantity of huge pages that is no multiple of the page size. */
  readonly allowIndivisibleHugePages?: boolean | undefined;
}

const NONE: readonly string[] = Object.freeze([]);
const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';

const CONTAINER_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
/** Counts of objects, which are always integers. */
const COUNTED_RESOURCES = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const QUOTA_RESOURCES = [
  ...CONTAINER_RESOURCES,
  ...CONTAINER_RESOURCES.flatMap((name) => [`${REQUESTS}${name}`, `limits.${name}`]),
  `${REQUESTS}storage`,
  ...COUNTED_RESOURCES,
];

const containerResources: ReadonlySet<string> = new Set(CONTAINER_RESOURCES);
const countedResources: ReadonlySet<string> = new Set(COUNTED_RESOURCES);
const quotaResources: ReadonlySet<string> = new Set(QUOTA_RESOURCES);

/** True for names like `hugepages-2Mi`. */
export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Resources that are valid without a domain prefix. */
export function isStandardResource(name: string): boolean {
  return name === 'storage' || isStandardQuotaResource(name);
}

/** Resources that are valid without a domain prefix in a container's limits and requests. */
export function isStandardContainerResource(name: string): boolean {
  return containerResources.has(name) || isHugePages(name);
}

/** Resources that are valid without a domain prefix in a quota. */
export function isStandardQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith(`${REQUESTS}${HUGE_PAGES}`);
}

/** A native resource has no prefix, or one that ends in the service's domain. */
export function isNativeResource(name: string, { dialect }: ResourceContext): boolean {
  return !name.includes('/') || name.includes(dialect.key(''));
}

/** An extended resource, such as a device. Its name in a quota, `requests.a.b/c` for `a.b/c`, must be valid too. */
export function isExtendedResource(name: string, context: ResourceContext): boolean {
  if (isNativeResource(name, context) || name.startsWith(REQUESTS)) return false;
  return qualifiedNameProblems(`${REQUESTS}${name}`).length === 0;
}

/** True if a container's request may be lower than its limit. */
export function isOvercommitAllowed(name: string, context: ResourceContext): boolean {
  return isNativeResource(name, context) && !isHugePages(name);
}

/** True for counts of objects and extended resources, which must be integers. */
export function isIntegerResource(name: string, context: ResourceContext): boolean {
  return countedResources.has(name) || isExtendedResource(name, context);
}

/** Validates any resource name. LimitRange items for volume claims have no further rules. */
export function validateResourceName(path: string, name: string): FieldError[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) return problems.map((problem) => invalidName(path, name, problem));
  if (name.includes('/') || isStandardResource(name)) return [];
  return [invalidName(path, name, 'must be a standard resource type or fully qualified')];
}

/** Validates a resource name in a container, in overhead, or in a LimitRange item for Pods or containers. */
export function validateContainerResourceName(path: string, name: string, context: ResourceContext): FieldError[] {
  const found = validateResourceName(path, name);
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) {
      found.push(invalidName(path, name, 'must be a standard resource for containers'));
    }
  } else if (!isNativeResource(name, context) && !isExtendedResource(name, context)) {
    found.push(invalidName(path, name, "doesn't follow extended resource name standard"));
  }
  return found;
}

/** Validates a resource name in a ResourceQuota's `hard` or `used`. */
export function validateQuotaResourceName(path: string, name: string): FieldError[] {
  const found = validateResourceName(path, name);
  if (!name.includes('/') && !isStandardQuotaResource(name)) {
    found.push(invalidName(path, name, 'must be a standard resource for quota'));
  }
  return found;
}

export function nonNegativeQuantityProblems(quantity: string): readonly string[] {
  return Quantity.parse(quantity).sign() < 0 ? ['must be greater than or equal to 0'] : NONE;
}

export function positiveQuantityProblems(quantity: string): readonly string[] {
  return Quantity.parse(quantity).sign() > 0 ? NONE : ['must be greater than zero'];
}

export function validateNonNegativeQuantity(path: string, quantity: string): FieldError[] {
  return nonNegativeQuantityProblems(quantity).map((problem) => invalid(path, canonical(quantity), problem));
}

/** Validates the capacity of a volume or the request of a claim. */
export function validatePositiveQuantity(path: string, quantity: string): FieldError[] {
  return positiveQuantityProblems(quantity).map((problem) => invalid(path, canonical(quantity), problem));
}

/** Validates a claim's `status.capacity`. The reported value is an integer without quotes. */
export function validateBasicQuantity(path: string, quantity: string): FieldError[] {
  const value = Quantity.parse(quantity).value();
  return value < 0n ? [invalid(path, value, 'must be a valid resource quantity')] : [];
}

/** Validates the quantity of one resource, in a container, a quota or a node's capacity. */
export function validateResourceQuantity(
  path: string,
  quantity: string,
  context: ResourceContext & {
    readonly name: string;
    /** The text that the client sent, if it is known to differ. */
    readonly sent?: string | undefined;
  },
): FieldError[] {
  const found = validateNonNegativeQuantity(path, quantity);
  if (isIntegerResource(context.name, context) && Quantity.parse(quantity).milliValue() % 1000n !== 0n) {
    found.push(invalid(path, goSyntaxQuantity(context.sent ?? quantity, 3), 'must be an integer'));
  }
  return found;
}

/**
 * Validates a container's `resources`. A Pod's `overhead` and the `podFixed` of a RuntimeClass are validated as
 * `{ limits: overhead }` at the path of the overhead.
 */
export function validateResourceRequirements(
  path: string,
  requirements: ResourceRequirements,
  context: RequirementsContext,
): FieldError[] {
  const { limits = {}, requests = {}, claims = [] } = requirements;
  const found: FieldError[] = [];
  const { dialect, podClaimNames, allowIndivisibleHugePages } = context;
  const contextOf = (name: string) => ({ dialect, podClaimNames, allowIndivisibleHugePages, name, limits });
  for (const [name, quantity] of sortedEntries(limits)) {
    const at = keyPath(childPath(path, 'limits'), name);
    append(found, validateAmount(at, quantity, { ...contextOf(name), sent: originalQuantityText(limits, name) }));
    append(found, validateHugePages(at, quantity, contextOf(name)));
  }
  for (const [name, quantity] of sortedEntries(requests)) {
    const at = keyPath(childPath(path, 'requests'), name);
    append(found, validateAmount(at, quantity, { ...contextOf(name), sent: originalQuantityText(requests, name) }));
    append(found, validateRequest(path, quantity, contextOf(name)));
    append(found, validateHugePages(at, quantity, contextOf(name)));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    found.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  append(found, validateClaims(childPath(path, 'claims'), claims, podClaimNames ?? NO_CLAIMS));
  return found;
}

type NamedContext = RequirementsContext & { readonly name: string; readonly sent?: string | undefined };

function validateAmount(path: string, quantity: string, context: NamedContext): FieldError[] {
  return [
    ...validateContainerResourceName(path, context.name, context),
    ...validateResourceQuantity(path, quantity, context),
  ];
}

/** Compares a request with its limit. As in the reference server, errors are reported at the map, not at its key. */
function validateRequest(
  path: string,
  quantity: string,
  context: NamedContext & { readonly limits: ResourceList },
): FieldError[] {
  const { name, limits } = context;
  const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
  const overcommit = isOvercommitAllowed(name, context);
  if (limit === undefined) {
    if (overcommit) return [];
    return [required(childPath(path, 'limits'), 'Limit must be set for non overcommitable resources')];
  }
  const order = Quantity.parse(quantity).cmp(Quantity.parse(limit));
  if (order === 0 || (order < 0 && overcommit)) return [];
  const relation = overcommit ? 'less than or equal to' : 'equal to';
  const detail = `must be ${relation} ${name} limit of ${canonical(limit)}`;
  return [invalid(childPath(path, 'requests'), canonical(quantity), detail)];
}

function validateHugePages(path: string, quantity: string, context: NamedContext): FieldError[] {
  const { name } = context;
  if (!isHugePages(name) || context.allowIndivisibleHugePages === true || isWholePages(name, quantity)) return [];
  const text = canonical(quantity);
  return [invalid(path, text, `${text} is not positive integer multiple of ${name}`)];
}

/** True if the quantity is a multiple of the page size in the name. False if the name contains no valid size. */
function isWholePages(name: string, quantity: string): boolean {
  const size = Quantity.tryParse(name.slice(HUGE_PAGES.length));
  if (!size.ok || size.quantity.sign() <= 0 || size.quantity.milliValue() % 1000n !== 0n) return false;
  const pageSize = size.quantity.value();
  return pageSize !== 0n && Quantity.parse(quantity).value() % pageSize === 0n;
}

/** A container may reference a claim as a whole or individual requests of it, each once. */
function validateClaims(
  path: string,
  claims: readonly ResourceClaimUse[],
  podClaimNames: ReadonlySet<string>,
): FieldError[] {
  const found: FieldError[] = [];
  const used: UsedClaims = { keys: new Set(), requestCounts: new Map() };
  for (const [index, claim] of claims.entries()) {
    const at = keyPath(path, index);
    const { name = '' } = claim;
    if (name === '') {
      found.push(required(at));
      continue;
    }
    append(found, validateClaimUse(at, claim, used));
    if (podClaimNames.has(name)) continue;
    const detail = getOrInsertComputed(mustBeOneOfTexts, podClaimNames, mustBeOneOf);
    found.push(fieldError('notFound', at, { value: name, detail }));
  }
  return found;
}

/** The references that a container has made so far. */
interface UsedClaims {
  /** `claim` or `claim/request`. */
  readonly keys: Set<string>;
  /** The number of references to individual requests, by claim. */
  readonly requestCounts: Map<string, number>;
}

/** Reports overlaps with the references in `used`, and adds this one. */
function validateClaimUse(at: string, { name = '', request = '' }: ResourceClaimUse, used: UsedClaims): FieldError[] {
  const { keys, requestCounts } = used;
  if (keys.has(name)) return [duplicate(at, name)];
  const key = request === '' ? name : `${name}/${request}`;
  const found =
    request === ''
      ? []
      : dnsLabelProblems(request).map((problem) => invalid(childPath(at, 'request'), request, problem));
  const requestCount = requestCounts.get(name) ?? 0;
  if (keys.has(key)) found.push(duplicate(at, key));
  // A reference to the whole claim overlaps with each earlier reference to one of its requests.
  else if (request === '') for (let count = 0; count < requestCount; count++) found.push(duplicate(at, name));
  else requestCounts.set(name, requestCount + 1);
  keys.add(key);
  return found;
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

/** Cached, because each container of a pod may name many claims that do not exist. */
const mustBeOneOfTexts = new WeakMap<ReadonlySet<string>, string>();

function mustBeOneOf(podClaimNames: ReadonlySet<string>): string {
  const names = [...podClaimNames].sort().join(', ');
  return `must be one of the names in pod.spec.resourceClaims${names === '' ? ' which is empty' : `: ${names}`}`;
}

// Resource names print without quotes, because they have a named string type in Go.
function invalidName(path: string, name: string, problem: string): FieldError {
  return invalid(path, verbatim(name), problem);
}

function canonical(quantity: string): string {
  return Quantity.parse(quantity).toString();
}

const MILLI = -3;

/** Matches every text that can be finer than a milli unit. Other texts need no parsing. */
const FINER_THAN_MILLI = /[nu]$|[eE]-|\.\d{4}/;

/** Defaulting of resource lists: rounds quantities up to milli units, the smallest unit of a resource, in place. */
export function roundResourceList(list: Record<string, string> | undefined): void {
  if (list === undefined) return;
  for (const [name, text] of Object.entries(list)) {
    if (FINER_THAN_MILLI.test(text)) setOwn(list, name, Quantity.parse(text).roundUp(MILLI).toString());
  }
}
