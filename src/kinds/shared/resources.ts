/**
 * What resources (`cpu`, `example.com/gpu`) may be called and how much of them may be asked for: the rules that Pods,
 * LimitRanges, ResourceQuotas, Nodes, RuntimeClasses and volume claims share. Not the arithmetic of quotas or limits.
 *
 * Objects hold quantities as texts that have been read once already; one that cannot be read here is a bug. Maps are
 * looked at in the order of their keys, because the reference server has no order of its own there.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { childPath, duplicate, fieldError, forbidden, invalid, keyPath, required } from '../../meta/field-error.js';
import { dnsLabelProblems, qualifiedNameProblems } from '../../meta/names.js';
import { Quantity } from '../../meta/quantity.js';
import type { Verbatim } from '../../text/go/go-text.js';
import { quote, verbatim } from '../../text/go/go-text.js';
import { sortedEntries } from '../../util/order.js';

/** Quantities by name of the resource. */
export type ResourceList = Readonly<Record<string, string>>;

export interface ResourceRequirements {
  readonly limits?: ResourceList | undefined;
  readonly requests?: ResourceList | undefined;
  readonly claims?: readonly ResourceClaimUse[] | undefined;
}

/** A container's use of a claim of its Pod, or of one request in it. */
export interface ResourceClaimUse {
  readonly name?: string | undefined;
  readonly request?: string | undefined;
}

/** What the rules about resources need to know besides the value. */
export interface ResourceContext {
  /** Its key prefix tells the service's own resources from those of others. */
  readonly dialect: Dialect;
}

export interface RequirementsContext extends ResourceContext {
  /** The names in the Pod's `spec.resourceClaims`; absent means none. */
  readonly podClaimNames?: readonly string[] | undefined;
  /** An update may keep an amount of huge pages that is no multiple of their size, if the object had such before. */
  readonly allowIndivisibleHugePages?: boolean | undefined;
}

const NONE: readonly string[] = Object.freeze([]);
const HUGE_PAGES = 'hugepages-';
const REQUESTS = 'requests.';

const CONTAINER_RESOURCES = ['cpu', 'memory', 'ephemeral-storage'];
/** Counted, so never a fraction. */
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

/** `hugepages-2Mi`. */
export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** Known to the service without a prefix. */
export function isStandardResource(name: string): boolean {
  return name === 'storage' || isStandardQuotaResource(name);
}

/** May stand in a container's limits and requests without a prefix. */
export function isStandardContainerResource(name: string): boolean {
  return containerResources.has(name) || isHugePages(name);
}

/** May stand in a quota without a prefix. */
export function isStandardQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith(`${REQUESTS}${HUGE_PAGES}`);
}

/** The service's own: without a prefix, or with one that ends in the service's domain. */
export function isNativeResource(name: string, { dialect }: ResourceContext): boolean {
  return !name.includes('/') || name.includes(dialect.key(''));
}

/** Somebody else's, such as a device. A quota on `a.b/c` calls it `requests.a.b/c`, which must be a name as well. */
export function isExtendedResource(name: string, context: ResourceContext): boolean {
  if (isNativeResource(name, context) || name.startsWith(REQUESTS)) return false;
  return qualifiedNameProblems(`${REQUESTS}${name}`).length === 0;
}

/** True when a container may be given less than it may use. */
export function isOvercommitAllowed(name: string, context: ResourceContext): boolean {
  return isNativeResource(name, context) && !isHugePages(name);
}

/** True when fractions make no sense: counts of objects, devices, and `count/…` in quotas. */
export function isIntegerResource(name: string, context: ResourceContext): boolean {
  return countedResources.has(name) || isExtendedResource(name, context);
}

/** The rule of every place where a resource is named; used alone for volume claims in a LimitRange. */
export function validateResourceName(path: string, name: string): FieldError[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) return problems.map((problem) => invalidName(path, name, problem));
  if (name.includes('/') || isStandardResource(name)) return [];
  return [invalidName(path, name, 'must be a standard resource type or fully qualified')];
}

/** The rule in containers, in overhead, and in a LimitRange for Pods and containers. */
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

/** The rule in a ResourceQuota's `hard` and `used`. */
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
  return nonNegativeQuantityProblems(quantity).map((problem) => invalid(path, printed(quantity), problem));
}

/** The rule of what a volume has or a claim asks for. */
export function validatePositiveQuantity(path: string, quantity: string): FieldError[] {
  return positiveQuantityProblems(quantity).map((problem) => invalid(path, printed(quantity), problem));
}

/** The rule of a claim's `status.capacity`, which shows whole numbers only, without quotes. */
export function validateBasicQuantity(path: string, quantity: string): FieldError[] {
  const value = Quantity.parse(quantity).value();
  return value < 0n ? [invalid(path, value, 'must be a valid resource quantity')] : [];
}

/** The rule of an amount of one resource, wherever it stands: in a container, a quota or a node's capacity. */
export function validateResourceQuantity(
  path: string,
  quantity: string,
  context: ResourceContext & {
    readonly name: string;
    /** As the client wrote it, where that is known to be otherwise. */
    readonly sent?: string | undefined;
  },
): FieldError[] {
  const found = validateNonNegativeQuantity(path, quantity);
  if (isIntegerResource(context.name, context) && Quantity.parse(quantity).milliValue() % 1000n !== 0n) {
    found.push(invalid(path, goSyntaxQuantity(context.sent ?? quantity), 'must be an integer'));
  }
  return found;
}

/**
 * The rules of a container's `resources`. For a Pod's `overhead`, and `podFixed` of a RuntimeClass, the server checks
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
  const about = (name: string) => ({ dialect, podClaimNames, allowIndivisibleHugePages, name, limits });
  for (const [name, quantity] of sortedEntries(limits)) {
    const at = keyPath(childPath(path, 'limits'), name);
    found.push(...validateAmount(at, quantity, about(name)));
    found.push(...validateHugePages(at, quantity, about(name)));
  }
  for (const [name, quantity] of sortedEntries(requests)) {
    const at = keyPath(childPath(path, 'requests'), name);
    found.push(...validateAmount(at, quantity, about(name)));
    found.push(...validateRequest(path, quantity, about(name)));
    found.push(...validateHugePages(at, quantity, about(name)));
  }
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes('cpu') && !names.includes('memory')) {
    found.push(forbidden(path, 'HugePages require cpu or memory'));
  }
  found.push(...validateClaims(childPath(path, 'claims'), claims, podClaimNames ?? []));
  return found;
}

/**
 * A quantity as the server dumps it where it forgot to print it. Correct for the text that the client sent, which
 * `sentText` may know; a text that was made canonical in between (`0.5` as `500m`) shows the numbers of the canonical one.
 */
export function goSyntaxQuantity(text: string): Verbatim {
  // Nothing is not taken apart, and so kept.
  if (text === '0') return quantityParts({ value: 0n, scale: 0 }, { kept: text, format: 'DecimalSI' });
  const { format } = Quantity.parse(text);
  const held = heldInt64(text, format);
  return quantityParts(held, { kept: held?.kept === true ? text : '', format });
}

function quantityParts(
  held: { readonly value: bigint; readonly scale: number } | undefined,
  { kept, format }: { readonly kept: string; readonly format: string },
): Verbatim {
  // Wide numbers are held elsewhere, and a pointer is all that shows of them.
  const { value, scale } = held ?? { value: 0n, scale: 0 };
  const pointer = held === undefined ? '0xc000000000' : 'nil';
  return verbatim(
    `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, ` +
      `d:resource.infDecAmount{Dec:(*inf.Dec)(${pointer})}, s:${quote(kept)}, Format:${quote(format)}}`,
  );
}

type NamedContext = RequirementsContext & { readonly name: string };

function validateAmount(path: string, quantity: string, context: NamedContext): FieldError[] {
  return [
    ...validateContainerResourceName(path, context.name, context),
    ...validateResourceQuantity(path, quantity, context),
  ];
}

/** A request against its limit. All of these are reported at the whole map, not at the resource. */
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
  const detail = `must be ${relation} ${name} limit of ${printed(limit)}`;
  return [invalid(childPath(path, 'requests'), printed(quantity), detail)];
}

function validateHugePages(path: string, quantity: string, context: NamedContext): FieldError[] {
  const { name } = context;
  if (!isHugePages(name) || context.allowIndivisibleHugePages === true || isWholePages(name, quantity)) return [];
  const text = printed(quantity);
  return [invalid(path, text, `${text} is not positive integer multiple of ${name}`)];
}

/** False as well when the name does not end in a size. */
function isWholePages(name: string, quantity: string): boolean {
  const size = Quantity.tryParse(name.slice(HUGE_PAGES.length));
  if (!size.ok || size.quantity.sign() <= 0 || size.quantity.milliValue() % 1000n !== 0n) return false;
  const pageSize = size.quantity.value();
  return pageSize !== 0n && Quantity.parse(quantity).value() % pageSize === 0n;
}

/** A claim is used as a whole or request by request, and nothing twice. */
function validateClaims(
  path: string,
  claims: readonly ResourceClaimUse[],
  podClaimNames: readonly string[],
): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const at = keyPath(path, index);
    const { name = '' } = claim;
    if (name === '') {
      found.push(required(at));
      continue;
    }
    found.push(...validateClaimUse(at, claim, seen));
    if (!podClaimNames.includes(name))
      found.push(fieldError('notFound', at, { value: name, detail: among(podClaimNames) }));
  }
  return found;
}

/** Reports what overlaps with the uses in `seen`, and adds this one. */
function validateClaimUse(at: string, { name = '', request = '' }: ResourceClaimUse, seen: Set<string>): FieldError[] {
  if (seen.has(name)) return [duplicate(at, name)];
  const key = request === '' ? name : `${name}/${request}`;
  const found =
    request === ''
      ? []
      : dnsLabelProblems(request).map((problem) => invalid(childPath(at, 'request'), request, problem));
  if (seen.has(key)) found.push(duplicate(at, key));
  // The whole claim overlaps with each request of it that came before, and each is reported.
  else if (request === '') {
    found.push(...[...seen].filter((used) => used.startsWith(`${name}/`)).map(() => duplicate(at, name)));
  }
  seen.add(key);
  return found;
}

function among(podClaimNames: readonly string[]): string {
  const names = [...new Set(podClaimNames)].sort().join(', ');
  return `must be one of the names in pod.spec.resourceClaims${names === '' ? ' which is empty' : `: ${names}`}`;
}

// Names of resources print without quotes: on the server they are a type of their own.
function invalidName(path: string, name: string, problem: string): FieldError {
  return invalid(path, verbatim(name), problem);
}

function printed(quantity: string): string {
  return Quantity.parse(quantity).toString();
}

const WRITTEN = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([^0-9.]?.*)$/;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** The 64-bit form of a text that `Quantity` has read, and whether the server kept that text; undefined for wide ones. */
function heldInt64(
  text: string,
  format: Quantity['format'],
): { readonly value: bigint; readonly scale: number; readonly kept: boolean } | undefined {
  const [, sign = '', whole = '', fraction = '', suffix = ''] = WRITTEN.exec(text) ?? [];
  const digits = whole === '' ? '0' : whole;
  const negate = (value: bigint) => (sign === '-' ? -value : value);
  if (format === 'BinarySI') {
    const exponent = 10 * BINARY_SUFFIXES.indexOf(suffix);
    if (fraction !== '' || digits.length + (exponent * 3) / 10 + 1 > 15) return undefined;
    const count = BigInt(digits);
    return { value: negate(count << BigInt(exponent)), scale: 0, kept: count % 8n !== 0n };
  }
  const exponent = format === 'DecimalSI' ? 3 * DECIMAL_SUFFIXES.indexOf(suffix) - 9 : Number(suffix.slice(1));
  const scale = exponent - fraction.length;
  const all = digits + fraction;
  if (all.length > 18 || scale < -9) return undefined;
  return { value: negate(BigInt(all)), scale, kept: scale % 3 === 0 && !all.endsWith('000') && !all.startsWith('0') };
}
