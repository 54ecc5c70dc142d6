/**
 * Compiles stage selectors into predicates.
 */
import { labelSelectorText } from '../../client/selectors.js';
import { everything, matchesLabels, parseLabelSelector } from '../../meta/labels.js';
import { isRecord, own } from '../../util/json.js';
import type { AnyObject } from '../runtime/owners.js';
import type { StageSelector } from './stage.js';

/** Throws BadRequest for invalid labels. */
export function compileSelector(selector: StageSelector): (object: AnyObject) => boolean {
  const { namespace, deleting = false, finalizers, annotations = {}, fields = {}, conditions = {} } = selector;
  const labels = selector.labels === undefined ? everything : parseLabelSelector(labelSelectorText(selector.labels));
  const paths = Object.entries(fields).map(([path, value]) => ({ steps: path.split('.'), value }));
  return (object) => {
    const { metadata } = object;
    if (namespace !== undefined && metadata.namespace !== namespace) return false;
    if (deleting !== 'either' && (metadata.deletionTimestamp !== undefined) !== deleting) return false;
    if (finalizers !== undefined && !hasFinalizers(metadata.finalizers ?? [], finalizers)) return false;
    return (
      matchesLabels(labels, metadata.labels) &&
      Object.entries(annotations).every(([key, value]) => (own(metadata.annotations ?? {}, key) ?? null) === value) &&
      paths.every(({ steps, value }) => isSame(valueAt(object, steps), value)) &&
      Object.entries(conditions).every(([type, status]) => conditionStatus(object, type) === status)
    );
  };
}

function hasFinalizers(present: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0 ? present.length === 0 : wanted.every((name) => present.includes(name));
}

function valueAt(object: unknown, steps: readonly string[]): unknown {
  let value = object;
  for (const step of steps) value = isRecord(value) ? own(value, step) : undefined;
  return value;
}

function isSame(present: unknown, wanted: string | number | boolean | null): boolean {
  if (wanted === null) return present === undefined || present === null || present === '';
  return present !== undefined && present !== null && String(present) === String(wanted);
}

function conditionStatus(object: unknown, type: string): unknown {
  const conditions = valueAt(object, ['status', 'conditions']);
  if (!Array.isArray(conditions)) return null;
  const condition: unknown = conditions.find((each) => isRecord(each) && each['type'] === type);
  return isRecord(condition) ? condition['status'] : null;
}
