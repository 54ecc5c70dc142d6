/**
 * The LimitRange kind: limits and defaults for the resources of one pod, container or claim in a namespace. This file has
 * its defaulting and validation; the LimitRanger admission plugin enforces it. spec: LimitRange
 */

import type { FieldError } from '../../../meta/field-error.js';
import { childPath, duplicate, forbidden, invalid, keyPath, required } from '../../../meta/field-error.js';
import { qualifiedNameProblems } from '../../../meta/names.js';
import type { DraftObject } from '../../../meta/object.js';
import { Quantity } from '../../../meta/quantity.js';
import { forgetSentEmpty } from '../../../schema/empty-values.js';
import { printedQuantityText } from '../../../schema/quantity-texts.js';
import type { Verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { own } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type LimitRangeItem,
  type LimitRangeKind,
  type LimitRangeObject,
  limitRangeBase,
} from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { goSyntaxQuantity, goSyntaxWidenedQuantity, isWideQuantity } from '../../shared/go-syntax.js';
import {
  isOvercommitAllowed,
  type ResourceList,
  roundResourceList,
  validateContainerResourceName,
  validateResourceName,
  withMissingResources,
} from '../../shared/resources.js';

export interface LimitRange extends LimitRangeObject {}

export const LimitRange: LimitRangeKind<LimitRange> = defineBuiltIn({
  ...limitRangeBase,
  names: { shortNames: ['limits'] },
  strategy: {
    update: {
      allowCreateOnUpdate: true,
      // Updates are validated like new objects.
      validationOrder: ['create'],
    },
    decode: { defaults },
    create: { prepare: prepareForCreate, validate },
  },
});

/** Absent limits are null on the wire. */
function limitsOf(object: LimitRange): readonly LimitRangeItem[] {
  return object.spec.limits ?? [];
}

function defaults(draft: LimitRange): void {
  for (const item of limitsOf(draft)) {
    for (const list of [item.max, item.min, item.default, item.defaultRequest, item.maxLimitRequestRatio]) {
      roundResourceList(list);
    }
    if (item.type === 'Container') containerDefaults(item);
  }
}

/** The default limit defaults to the maximum; the default request to the default limit, or else to the minimum. */
function containerDefaults(item: LimitRangeItem): void {
  const limits = withMissing(item.default, item.max);
  const requests = withMissing(withMissing(item.defaultRequest, limits), item.min);
  setUnlessEmpty(item, 'default', limits);
  setUnlessEmpty(item, 'defaultRequest', requests);
}

function withMissing(list: ResourceList | undefined, more: ResourceList | undefined): ResourceList | undefined {
  return more === undefined ? list : withMissingResources(list, more);
}

/** The lists of a container are never absent in the reference server, so an empty one is not a value of its own. */
function setUnlessEmpty(
  item: LimitRangeItem,
  name: 'default' | 'defaultRequest',
  list: ResourceList | undefined,
): void {
  forgetSentEmpty(item, name);
  if (list !== undefined && Object.keys(list).length > 0) item[name] = list;
  else delete item[name];
}

/** A LimitRange without a name is named after its uid. */
function prepareForCreate({ metadata }: DraftObject): void {
  if (!metadata.name && metadata.uid !== undefined) metadata.name = metadata.uid;
}

function validate(object: LimitRange, context: HookContext): readonly FieldError[] {
  const seen = new Set<string>();
  return limitsOf(object).flatMap((item, index) => {
    const path = keyPath('spec.limits', index);
    const problems = validateType(childPath(path, 'type'), item.type);
    if (seen.has(item.type)) problems.push(duplicate(childPath(path, 'type'), item.type));
    seen.add(item.type);
    return [...problems, ...validateNames(path, item, context), ...validateQuantities(path, item, context)];
  });
}

const STANDARD_TYPES: readonly string[] = ['Pod', 'Container', 'PersistentVolumeClaim'];

function validateType(path: string, name: string): FieldError[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0) return problems.map((detail) => invalid(path, name, detail));
  if (name.includes('/') || STANDARD_TYPES.includes(name)) return [];
  return [invalid(path, name, 'must be a standard limit type or fully qualified')];
}

/** Validates the resource names of all lists, and which lists the type allows. */
function validateNames(path: string, item: LimitRangeItem, context: HookContext): FieldError[] {
  const isForPods = item.type === 'Pod';
  const names = (list: ListName) => {
    const at = childPath(path, list);
    return Object.keys(item[list] ?? {})
      .sort()
      .flatMap((name) => validateLimitedName(keyPath(at, name), name, { ...context, type: item.type }));
  };
  const defaultOf = (list: 'default' | 'defaultRequest') => {
    if (!isForPods) return names(list);
    const isEmpty = Object.keys(item[list] ?? {}).length === 0;
    return isEmpty ? [] : [forbidden(childPath(path, list), "may not be specified when `type` is 'Pod'")];
  };
  const problems = [...names('max'), ...names('min'), ...defaultOf('default'), ...defaultOf('defaultRequest')];
  if (item.type === 'PersistentVolumeClaim' && !hasStorage(item.min) && !hasStorage(item.max)) {
    const detail = 'either minimum or maximum storage value is required, but neither was provided';
    problems.push(required(childPath(path, 'limits'), detail));
  }
  return [...problems, ...names('maxLimitRequestRatio')];
}

type ListName = 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio';

function hasStorage(list: ResourceList | undefined): boolean {
  return Object.hasOwn(list ?? {}, 'storage');
}

function validateLimitedName(
  path: string,
  name: string,
  context: HookContext & { readonly type: string },
): FieldError[] {
  const isForContainers = context.type === 'Pod' || context.type === 'Container';
  return isForContainers ? validateContainerResourceName(path, name, context) : validateResourceName(path, name);
}

/** Validates that the lists agree for each resource. Defaults of pod items are already rejected and not compared. */
function validateQuantities(path: string, item: LimitRangeItem, context: HookContext): FieldError[] {
  const hasDefaults = item.type !== 'Pod';
  const lists = [item.max, item.min, item.maxLimitRequestRatio];
  if (hasDefaults) lists.push(item.default, item.defaultRequest);
  const names = new Set(lists.flatMap((list) => Object.keys(list ?? {})));
  return [...names].sort().flatMap((name) =>
    validateQuantitiesOf(path, name, {
      amounts: {
        max: own(item.max ?? {}, name),
        min: own(item.min ?? {}, name),
        default: hasDefaults ? own(item.default ?? {}, name) : undefined,
        defaultRequest: hasDefaults ? own(item.defaultRequest ?? {}, name) : undefined,
        maxLimitRequestRatio: own(item.maxLimitRequestRatio ?? {}, name),
      },
      mayOvercommit: isOvercommitAllowed(name, context),
      sent: (list) => printedQuantityText(item[list] ?? {}, name),
    }),
  );
}

/** The quantities of one resource in all lists. */
interface Quantities {
  readonly amounts: Readonly<Record<ListName, string | undefined>>;
  readonly mayOvercommit: boolean;
  /** A quantity as the client sent it, if that differs. */
  readonly sent: (list: ListName) => string | undefined;
}

/** Quantities that must not be greater than others, with their names; the list with the error, and that of its value. */
const COMPARISONS: readonly {
  readonly left: readonly [ListName, string];
  readonly right: readonly [ListName, string];
  readonly at: ListName;
  readonly value: ListName;
}[] = [
  { left: ['min', 'min'], right: ['max', 'max'], at: 'min', value: 'min' },
  {
    left: ['min', 'min'],
    right: ['defaultRequest', 'default request'],
    at: 'defaultRequest',
    value: 'defaultRequest',
  },
  { left: ['defaultRequest', 'default request'], right: ['max', 'max'], at: 'defaultRequest', value: 'defaultRequest' },
  {
    left: ['defaultRequest', 'default request'],
    right: ['default', 'default limit'],
    at: 'defaultRequest',
    value: 'defaultRequest',
  },
  { left: ['min', 'min'], right: ['default', 'default'], at: 'default', value: 'min' },
  { left: ['default', 'default'], right: ['max', 'max'], at: 'default', value: 'max' },
];

function validateQuantitiesOf(path: string, name: string, quantities: Quantities): FieldError[] {
  const { amounts } = quantities;
  const { max, min, maxLimitRequestRatio: ratio, default: limit, defaultRequest: request } = amounts;
  const pathOf = (list: ListName) => keyPath(childPath(path, list), name);
  const sent = (list: ListName, text: string) => quantities.sent(list) ?? text;
  // The canonical text of a quantity beyond 1000E has another value.
  const amountOf = (list: ListName, text: string) => Quantity.parse(sent(list, text) || '0').roundUp(-3);
  // Go's comparison changes the left quantity if one of both is wide.
  const widened = new Set<ListName>();
  const shown = (list: ListName, text: string) =>
    widened.has(list) ? goSyntaxWidenedQuantity(sent(list, text), text) : goSyntaxQuantity(sent(list, text), 3, text);
  const problems: FieldError[] = [];
  for (const { left, right, at, value } of COMPARISONS) {
    const [[leftList, leftName], [rightList, rightName]] = [left, right];
    const [leftAmount, rightAmount] = [amounts[leftList], amounts[rightList]];
    if (leftAmount === undefined || rightAmount === undefined) continue;
    if (widened.has(rightList) || isWideQuantity(sent(rightList, rightAmount))) widened.add(leftList);
    if (amountOf(leftList, leftAmount).cmp(amountOf(rightList, rightAmount)) <= 0) continue;
    const detail = `${leftName} value ${leftAmount} is greater than ${rightName} value ${rightAmount}`;
    problems.push(invalid(pathOf(at), shown(value, amounts[value] ?? ''), detail));
  }
  const showRatio = (text: string) => shown('maxLimitRequestRatio', text);
  append(problems, validateRatio(pathOf('maxLimitRequestRatio'), ratio, { min, max, showRatio }));
  if (!quantities.mayOvercommit && limit !== undefined && request !== undefined && !isEqualQuantity(limit, request)) {
    const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${name}`;
    problems.push(invalid(pathOf('defaultRequest'), shown('defaultRequest', request), detail));
  }
  return problems;
}

function isEqualQuantity(left: string, right: string): boolean {
  return Quantity.parse(left).equals(Quantity.parse(right));
}

const ONE = Quantity.of(1n);
/** The largest integer whose milli value fits in 64 bits. */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n;

function validateRatio(
  path: string,
  ratio: string | undefined,
  {
    min,
    max,
    showRatio,
  }: Pick<Quantities['amounts'], 'min' | 'max'> & {
    readonly showRatio: (text: string) => Verbatim;
  },
): FieldError[] {
  if (ratio === undefined) return [];
  const problems: FieldError[] = [];
  const maxRatio = Quantity.parse(ratio);
  if (maxRatio.cmp(ONE) < 0) problems.push(invalid(path, showRatio(ratio), `ratio ${ratio} is less than 1`));
  if (min === undefined || max === undefined) return problems;
  const [least, greatest] = [Quantity.parse(min), Quantity.parse(max)];
  const fitsMilli = [maxRatio, least, greatest].every((quantity) => quantity.value() < MAX_MILLI_VALUE);
  const read = (quantity: Quantity) => Number(fitsMilli ? quantity.milliValue() : quantity.value());
  const limit = read(greatest) / read(least);
  if (read(maxRatio) / (fitsMilli ? 1000 : 1) > limit) {
    const detail = `ratio ${ratio} is greater than max/min = ${limit.toFixed(6)}`;
    problems.push(invalid(path, showRatio(ratio), detail));
  }
  return problems;
}
