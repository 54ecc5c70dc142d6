/**
 * Validates an object by its dialect's rules for types: required fields, allowed values and unique names.
 */
import type { Dialect } from '../meta/dialect.js';
import type { FieldRule, TypeRule } from '../meta/dialect-rules.js';
import {
  childPath,
  duplicate,
  type FieldError,
  keptOnUpdate,
  keyPath,
  notSupported,
  required,
} from '../meta/field-error.js';
import { append } from '../util/arrays.js';
import { isRecord, type MutableRecord, own } from '../util/json.js';
import { getOrInsertComputed } from '../util/once.js';
import { arrange } from './arrange.js';
import { typeRuleOf } from './in-dialect.js';
import type { ObjectNode, SchemaNode } from './schema-node.js';

/** The parts of an object, or of the items of a list, that have rules. */
interface Check {
  readonly rule: TypeRule | undefined;
  readonly node: ObjectNode;
  readonly fields: readonly (readonly [string, Check])[];
}

const NONE: readonly FieldError[] = Object.freeze([]);

/** The errors of an object by the rules of the dialect. Most kinds have no rules. */
export function typeRuleErrors(schema: ObjectNode, object: unknown, dialect: Dialect): readonly FieldError[] {
  const check = checkOf(schema, dialect);
  if (check === 'none') return NONE;
  const found: FieldError[] = [];
  collect(check, object, '', found);
  return found.map(keptOnUpdate);
}

/** Adds the defaults of the dialect's rules to an object that was stored without them. */
export function withRuleDefaults<Value>(schema: ObjectNode, object: Value, dialect: Dialect): Value {
  const check = checkOf(schema, dialect);
  return check === 'none' ? object : (fillIn(check, object) as Value);
}

function checkOf(schema: ObjectNode, dialect: Dialect): Check | 'none' {
  return getOrInsertComputed(checks, schema, () => compile(schema, dialect, new Set()) ?? 'none');
}

/** By schema in the dialect. */
const checks = new WeakMap<ObjectNode, Check | 'none'>();

/** `above` are the types that contain the node: no type with a rule contains itself or is the value of a map. */
function compile(node: SchemaNode, dialect: Dialect, above: Set<SchemaNode>, ofItems?: TypeRule): Check | undefined {
  if (node.type === 'list') return compile(node.items, dialect, above, ofItems);
  if (node.type !== 'object' || above.has(node)) return undefined;
  above.add(node);
  const rule = ofItems ?? typeRuleOf(node, dialect);
  const fields: [string, Check][] = [];
  for (const { name, node: child } of node.fields.values()) {
    const inner = compile(child, dialect, above, rule?.fields[name]?.items);
    if (inner !== undefined) fields.push([name, inner]);
  }
  above.delete(node);
  return rule === undefined && fields.length === 0 ? undefined : { rule, node, fields };
}

function collect(check: Check, value: unknown, path: string, found: FieldError[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(check, item, keyPath(path, index), found);
    return;
  }
  if (!isRecord(value)) return;
  const { rule, node, fields } = check;
  if (rule !== undefined) {
    if (rule.isNonEmpty === true && Object.keys(value).length === 0) found.push(required(path));
    for (const [name, one] of Object.entries(rule.fields)) {
      const isRequired = one.required === 'nonEmpty' || node.fields.get(name)?.required === true;
      append(found, fieldErrors(one, own(value, name), { path: childPath(path, name), isRequired }));
    }
  }
  for (const [name, inner] of fields) collect(inner, own(value, name), childPath(path, name), found);
}

/** Returns the value itself if nothing is missing. */
function fillIn(check: Check, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => fillIn(check, item));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isRecord(value)) return value;
  const filled: MutableRecord = {};
  for (const [name, rule] of Object.entries(check.rule?.fields ?? {})) {
    if (rule.default !== undefined && !Object.hasOwn(value, name)) filled[name] = rule.default;
  }
  for (const [name, inner] of check.fields) {
    const present = own(value, name);
    const complete = fillIn(inner, present);
    if (complete !== present) filled[name] = complete;
  }
  return Object.keys(filled).length === 0 ? value : arrange(check.node, { ...value, ...filled });
}

function fieldErrors(
  rule: FieldRule,
  value: unknown,
  { path, isRequired }: { readonly path: string; readonly isRequired: boolean },
): FieldError[] {
  // Stored objects have null for a list that was not given.
  const isMissing = value === undefined || value === null || (rule.required === 'nonEmpty' && value === '');
  if (isMissing) return rule.required !== undefined && isRequired ? [required(path)] : [];
  if (rule.values !== undefined && !rule.values.includes(value as string)) {
    return [notSupported(path, value, rule.values)];
  }
  return rule.uniqueBy === undefined ? [] : repeatedErrors(value as readonly unknown[], rule.uniqueBy, path);
}

function repeatedErrors(items: readonly unknown[], key: string, path: string): FieldError[] {
  const seen = new Set<unknown>();
  return items.flatMap((item, index) => {
    const value = isRecord(item) ? own(item, key) : undefined;
    if (value === undefined || !seen.has(value)) {
      seen.add(value);
      return [];
    }
    return [duplicate(childPath(keyPath(path, index), key), value)];
  });
}
