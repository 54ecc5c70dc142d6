/**
 * Validates and decodes the selectors in access reviews. Validation is strict except for unknown operators: a newer
 * client may send them, and to ignore one only makes the reviewed request broader.
 */

import { type FieldError, forbidden, invalid, keyPath, required } from '../../../meta/field-error.js';
import { SelectorError } from '../../../meta/label-selector-text.js';
import { labelExpressionErrors } from '../../../meta/labels.js';
import type { SelectorRequirement } from '../../../protocol/access.js';
import { append } from '../../../util/arrays.js';
import type {
  FieldSelectorAttributes,
  FieldSelectorRequirement,
  LabelSelectorAttributes,
  ResourceAttributes,
} from '../../generated/authorization-v1.js';
import { readFieldRequirements, readLabelRequirements } from '../../selector-requirements.js';

/** Validates the selectors of resource attributes. */
export function selectorProblems(resource: ResourceAttributes | undefined): FieldError[] {
  const path = 'spec.resourceAttributes';
  return [
    ...problemsAt(`${path}.fieldSelector`, resource?.fieldSelector, fieldRequirementProblems),
    ...problemsAt(`${path}.labelSelector`, resource?.labelSelector, (requirement, at) =>
      labelExpressionErrors(requirement, at).filter(({ field }) => field !== `${at}.operator`),
    ),
  ];
}

/** The decoded selectors, and the requirements that could not be decoded. */
export interface ReadSelectors {
  readonly fieldSelector?: readonly SelectorRequirement[];
  readonly labelSelector?: readonly SelectorRequirement[];
  readonly errors: readonly string[];
}

/** Decodes selectors without {@link selectorProblems}. */
export function readSelectors({ fieldSelector, labelSelector }: ResourceAttributes): ReadSelectors {
  const fields = fieldSelector === undefined ? undefined : readFields(fieldSelector);
  const labels = labelSelector === undefined ? undefined : readLabels(labelSelector);
  return {
    ...(fields === undefined || fields.requirements.length === 0 ? {} : { fieldSelector: fields.requirements }),
    ...(labels === undefined || labels.requirements.length === 0 ? {} : { labelSelector: labels.requirements }),
    errors: [...told('fieldSelector', fields), ...told('labelSelector', labels)],
  };
}

function problemsAt<Requirement>(
  path: string,
  selector: { readonly rawSelector?: string; readonly requirements?: readonly Requirement[] } | undefined,
  problemsOf: (requirement: Requirement, path: string) => readonly FieldError[],
): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const problems: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    problems.push(invalid(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements'));
  }
  if (rawSelector === '' && requirements.length === 0) {
    const detail = `when ${path} is specified, requirements or rawSelector is required`;
    problems.push(required(`${path}.requirements`, detail));
  }
  for (const [index, requirement] of requirements.entries()) {
    append(problems, problemsOf(requirement, keyPath(`${path}.requirements`, index)));
  }
  return problems;
}

const WITH_VALUES = ['In', 'NotIn'];
const WITHOUT_VALUES = ['Exists', 'DoesNotExist'];

function fieldRequirementProblems({ key, operator, values = [] }: FieldSelectorRequirement, path: string) {
  const problems: FieldError[] = key === '' ? [required(`${path}.key`, 'must be specified')] : [];
  if (WITH_VALUES.includes(operator) && values.length === 0) {
    problems.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if (WITHOUT_VALUES.includes(operator) && values.length > 0) {
    problems.push(forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  return problems;
}

interface ReadSelector {
  readonly requirements: readonly SelectorRequirement[];
  /** True if a requirement was ignored. */
  readonly isLess: boolean;
}

const UNREADABLE: ReadSelector = { requirements: [], isLess: true };

/** Field selectors have only `=` and `!=`. */
function readFields({ rawSelector = '', requirements = [] }: FieldSelectorAttributes): ReadSelector {
  if (rawSelector !== '') {
    return readText(rawSelector, readFieldRequirements);
  }
  return readList(requirements, ({ operator, values }) => WITH_VALUES.includes(operator) && values.length === 1);
}

function readLabels({ rawSelector = '', requirements = [] }: LabelSelectorAttributes): ReadSelector {
  if (rawSelector !== '') {
    return readText(rawSelector, readLabelRequirements);
  }
  const known = [...WITH_VALUES, ...WITHOUT_VALUES];
  return readList(requirements, ({ operator }) => known.includes(operator));
}

/** A longer selector does not fit in the header of the request that is reviewed. */
const MAX_TEXT_LENGTH = 1024 * 1024;

function readText(text: string, parse: (text: string) => readonly SelectorRequirement[]): ReadSelector {
  if (text.length > MAX_TEXT_LENGTH) return UNREADABLE;
  try {
    return { requirements: parse(text), isLess: false };
  } catch (error) {
    if (error instanceof SelectorError) return UNREADABLE;
    throw error;
  }
}

function readList(
  given: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[],
  isKnown: (requirement: SelectorRequirement) => boolean,
): ReadSelector {
  const all = given.map(({ key, operator, values = [] }) => ({ key, operator, values }));
  const requirements = all.filter(isKnown);
  return { requirements, isLess: requirements.length < all.length };
}

function told(name: string, read: ReadSelector | undefined): string[] {
  if (read === undefined || !read.isLess) return [];
  const how = read.requirements.length > 0 ? 'partially ignored' : 'ignored';
  return [`spec.resourceAttributes.${name} ${how} due to parse error`];
}
