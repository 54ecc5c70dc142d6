/**
 * The field set of an applied configuration: every field that it contains, as sent. The same walk validates the
 * configuration against the schema. spec: Server-side apply
 */

import type { ListNode, ScalarNode, SchemaNode } from '../../schema/schema-node.js';
import { goSyntax, goType, printGoValue } from '../../text/go/go-value.js';
import { BoundedTexts } from '../../util/bounded-texts.js';
import { isRecord } from '../../util/json.js';
import { EMPTY_SET, type FieldSet, FieldSetBuilder, LEAF, withSelf } from './field-set.js';
import { fieldElement, type PathElement, printElement, UNKNOWN_ITEM } from './path-element.js';
import {
  hasElement,
  hasItems,
  hasMembers,
  ItemError,
  indexItems,
  isDeclared,
  isEmptyRecord,
  itemElement,
  listOf,
  type MemberNode,
  memberNode,
} from './typed.js';

/** The configuration does not match the schema; the messages contain the paths. */
export class IntentError extends Error {
  override readonly name = 'IntentError';

  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? problems[0] : `errors:\n  ${problems.join('\n  ')}`);
  }
}

/** The field set of an applied configuration. Throws {@link IntentError} if it does not match the schema. */
export function fieldsOfIntent(node: SchemaNode, value: unknown): FieldSet {
  const problems = new BoundedTexts();
  const set = fieldsOf(node, value, { above: undefined, step: '', problems, allowsDuplicates: false });
  if (problems.texts.length > 0) throw new IntentError(problems.texts);
  return set ?? EMPTY_SET;
}

/** Why a value does not match the schema; undefined if it does. */
export function schemaProblem(
  node: SchemaNode,
  value: unknown,
  { allowsDuplicates = true }: { readonly allowsDuplicates?: boolean } = {},
): string | undefined {
  if (matchesSchema(node, value, allowsDuplicates)) return undefined;
  const problems = new BoundedTexts();
  fieldsOf(node, value, { above: undefined, step: '', problems, allowsDuplicates });
  return problems.texts.length === 0 ? undefined : new IntentError(problems.texts).message;
}

/** Whether {@link schemaProblem} finds nothing, without paths and field sets. */
function matchesSchema(node: SchemaNode, value: unknown, allowsDuplicates: boolean): boolean {
  if (value === null || value === undefined) return true;
  if (typeProblem(node, value) !== undefined) return false;
  switch (node.type) {
    case 'list': {
      const items = listOf(value);
      if (hasItems(node)) {
        if (!items.every((item) => hasElement(node, item))) return false;
        if (!allowsDuplicates && new Set(items.map((item) => itemElement(node, item))).size < items.length)
          return false;
      }
      return items.every((item) => matchesSchema(node.items, item, allowsDuplicates));
    }
    case 'object':
    case 'map': {
      const record = value as Readonly<Record<string, unknown>>;
      return Object.keys(record).every((name) => {
        const child = memberNode(node, name);
        return child !== undefined && matchesSchema(child, record[name], allowsDuplicates);
      });
    }
    case 'scalar':
    case 'any':
      return true;
  }
}

/** The field set of an existing object, without validation. All items without a path element count as one. */
export function fieldsOfObject(node: SchemaNode, value: unknown): FieldSet {
  return fieldsOf(node, value, undefined) ?? EMPTY_SET;
}

/** The position of the validating walk; undefined without validation. Paths are only printed for errors. */
interface Validation {
  readonly above: Validation | undefined;
  /** The path element from the parent. */
  readonly step: PathElement;
  readonly problems: BoundedTexts;
  readonly allowsDuplicates: boolean;
}

function validationAt(step: PathElement, above: Validation): Validation {
  return { above, step, problems: above.problems, allowsDuplicates: above.allowsDuplicates };
}

function report(validation: Validation, problem: string): void {
  let path = '';
  for (let at: Validation | undefined = validation; at !== undefined; at = at.above) {
    if (at.step !== '') path = printElement(at.step) + path;
  }
  validation.problems.add(path === '' ? problem : `${path}: ${problem}`);
}

/**
 * The fields owned at and below a node, without the membership of the node itself, which the caller adds. Undefined:
 * none.
 */
function fieldsOf(node: SchemaNode, value: unknown, validation: Validation | undefined): FieldSet | undefined {
  if (validation !== undefined && !isOfType(node, value, validation)) return undefined;
  if (hasMembers(node, value)) return isRecord(value) ? fieldsOfMembers(node, value, validation) : undefined;
  if (hasItems(node)) return fieldsOfItems(node, listOf(value), validation);
  if (validation !== undefined) validateInside(node, value, validation);
  return LEAF;
}

function fieldsOfMembers(
  node: MemberNode,
  record: Readonly<Record<string, unknown>>,
  validation: Validation | undefined,
): FieldSet | undefined {
  const siblings = new FieldSetBuilder(false);
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (value === undefined) continue;
    const element = fieldElement(name);
    const inner = validation === undefined ? undefined : validationAt(element, validation);
    const child = memberNode(node, name);
    if (child === undefined) {
      if (inner === undefined) continue;
      // The reference server stops at the first undeclared field of a map.
      report(inner, 'field not declared in schema');
      break;
    }
    const fields = fieldsOf(child, value, inner);
    // A field with content is owned through its content; a map key is owned itself.
    const self = value === null || !isDeclared(node, name) || (isRecord(value) && isEmptyRecord(value));
    const owned = self ? withSelf(fields ?? LEAF) : fields;
    if (owned !== undefined) siblings.add(element, owned);
  }
  return siblings.finish();
}

function fieldsOfItems(
  list: ListNode,
  items: readonly unknown[],
  validation: Validation | undefined,
): FieldSet | undefined {
  if (validation !== undefined) return validateItems(list, items, validation);
  const siblings = new FieldSetBuilder(false);
  const { elements, byElement } = indexItems(list, items);
  // Pruning can remove the keys of an item. The item still exists, so the list is not empty.
  if (elements.includes(undefined)) siblings.add(UNKNOWN_ITEM, LEAF);
  for (const [element, same] of byElement) {
    siblings.add(element, same.length > 1 ? LEAF : withSelf(fieldsOf(list.items, same[0], undefined) ?? LEAF));
  }
  return siblings.finish();
}

/** A duplicate item is still validated inside; an item without a path element ends the walk. */
function validateItems(list: ListNode, items: readonly unknown[], validation: Validation): FieldSet | undefined {
  const siblings = new FieldSetBuilder(false);
  const seen = new Set<PathElement>();
  for (const [index, item] of items.entries()) {
    const element = validateElement(list, item, index, validation);
    if (element === undefined) break;
    if (seen.has(element) && !validation.allowsDuplicates)
      report(validation, `duplicate entries for key ${printElement(element)}`);
    seen.add(element);
    siblings.add(element, withSelf(fieldsOf(list.items, item, validationAt(element, validation)) ?? LEAF));
  }
  return siblings.finish();
}

function validateElement(
  list: ListNode,
  item: unknown,
  index: number,
  validation: Validation,
): PathElement | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    report(validation, `element ${index}: ${error.message}`);
    return undefined;
  }
}

/** Null matches every type. */
function isOfType(node: SchemaNode, value: unknown, validation: Validation): boolean {
  const problem = value === null ? undefined : typeProblem(node, value);
  if (problem === undefined) return true;
  report(validation, problem);
  return false;
}

function typeProblem(node: SchemaNode, value: unknown): string | undefined {
  switch (node.type) {
    case 'object':
    case 'map':
      return mapProblem(value);
    case 'list':
      return Array.isArray(value) ? undefined : `expected list, got &{${printGoValue(value)}}`;
    case 'scalar':
      return scalarProblem(node, value);
    case 'any':
      // The schema has a map here, although every JSON value decodes.
      return node.goType === 'v1.FieldsV1' ? mapProblem(value) : undefined;
  }
}

function mapProblem(value: unknown): string | undefined {
  return isRecord(value) ? undefined : `expected map, got &{${printGoValue(value)}}`;
}

function scalarProblem(node: ScalarNode, value: unknown): string | undefined {
  switch (node.scalar) {
    case 'string':
    case 'bytes':
    case 'duration':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'int32':
    case 'int64':
    case 'number': {
      const isNumber = typeof value === 'number' || typeof value === 'bigint';
      return isNumber ? undefined : `expected numeric (int or float), got ${goType(value)}`;
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${printGoValue(value)}}`;
    case 'time':
    case 'microTime':
    case 'quantity':
    case 'intOrString': {
      // The published schema of an IntOrString has no type, so every value matches. A text with a format has another Go type.
      const isAny = node.goType === 'intstr.IntOrString';
      return typeof value === 'object' && !isAny ? `expected any scalar, got &{${printGoValue(value)}}` : undefined;
    }
  }
}

/** Atomic values are validated inside too. */
function validateInside(node: SchemaNode, value: unknown, validation: Validation): void {
  if (value === null) return;
  if (node.type === 'list') {
    listOf(value).forEach((item, index) => {
      fieldsOf(node.items, item, validationAt(`i:${index}`, validation));
    });
  } else if (node.type === 'map') {
    fieldsOfMembers({ ...node, atomic: false }, value as Record<string, unknown>, validation);
  } else if (node.type === 'object') {
    fieldsOfMembers(node, value as Record<string, unknown>, validation);
  }
}
