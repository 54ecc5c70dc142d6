/**
 * Validates the defaults in a structural schema: each must be valid for its own schema, without unknown fields, and a
 * complete resource where a resource is embedded. A default inside metadata must result in valid metadata.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid, keyPath, printFieldError } from '../../meta/field-error.js';
import type { MutableRecord } from '../../util/json.js';
import { copyJson, deepEqual, setOwn } from '../../util/json.js';
import type { SchemaView } from '../schema-view.js';
import { coerceEmbedded, embeddedErrors } from '../value/embedded.js';
import { shownValue } from '../value/json-kind.js';
import { hasDefault } from '../value/nulls.js';
import { pruneUnknown } from '../value/prune.js';
import { validateValue } from '../value/validate.js';

const META_FIELDS = ['metadata', 'apiVersion', 'kind'];

/** Evaluates the CEL validation rules of a schema for a default that is otherwise valid. */
export type DefaultRules = (schema: SchemaView, value: unknown, path: string) => readonly FieldError[];

/** Validates all defaults in a structural schema. */
export function defaultErrors(root: SchemaView, path: string, rules: DefaultRules): FieldError[] {
  const resource = { ...root, embeddedResource: true };
  return nodeErrors(resource, { path, resource, steps: [], insideMeta: false, rules });
}

/** The position of a schema node during the walk. */
interface Place {
  readonly path: string;
  /**
   * The nearest enclosing resource (possibly the node itself), and the steps from there; `undefined` stands for list
   * items.
   */
  readonly resource: SchemaView;
  readonly steps: readonly (string | undefined)[];
  readonly insideMeta: boolean;
  readonly rules: DefaultRules;
}

/** Defaults below `additionalProperties` are not validated, as in the reference server. */
function nodeErrors(node: SchemaView, given: Place): FieldError[] {
  const place = node.embeddedResource ? { ...given, resource: node, steps: [], insideMeta: false } : given;
  const { path, steps } = place;
  const found = hasDefault(node) ? oneDefaultErrors(node, node.raw.default, { ...place, path: `${path}.default` }) : [];
  if (node.items !== undefined) {
    found.push(...nodeErrors(node.items, { ...place, path: `${path}.items`, steps: [...steps, undefined] }));
  }
  for (const [name, property] of node.properties) {
    const insideMeta = place.insideMeta || (node.embeddedResource && META_FIELDS.includes(name));
    const at = keyPath(`${path}.properties`, name);
    found.push(...nodeErrors(property, { ...place, path: at, steps: [...steps, name], insideMeta }));
  }
  return found;
}

function oneDefaultErrors(node: SchemaView, value: unknown, place: Place): FieldError[] {
  return place.insideMeta ? metaDefaultErrors(node, value, place) : bodyDefaultErrors(node, value, place);
}

function metaDefaultErrors(node: SchemaView, value: unknown, place: Place): FieldError[] {
  const { path, resource } = place;
  const object = around(copyJson(value), place.steps);
  const { error } = coerceEmbedded(resource, object, { isResource: true });
  const problems = error === undefined ? embeddedErrors(resource, object, { isResource: true }) : [error];
  if (problems.length === 0) return valueErrors(node, value, place);
  const texts = problems.map(printFieldError);
  const shown = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  return [invalid(path, shownValue(value), `must result in valid metadata: ${shown}`)];
}

/** Builds a complete resource with the value at the end of the given steps. */
function around(value: unknown, steps: readonly (string | undefined)[]): MutableRecord {
  const inner = steps.reduceRight<unknown>((part, step) => {
    if (step === undefined) return [part];
    const holder: MutableRecord = {};
    setOwn(holder, step, part);
    return holder;
  }, value);
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(inner as MutableRecord) };
}

function bodyDefaultErrors(node: SchemaView, given: unknown, place: Place): FieldError[] {
  const { path } = place;
  const value = copyJson(given);
  const isResource = node.embeddedResource;
  const pruned = copyJson(given);
  pruneUnknown(node, pruned, { isResource });
  const { error } = coerceEmbedded(node, value, { base: path, isResource });
  // The message shows the value after coercion, without unknown metadata fields.
  const found = deepEqual(pruned, given) ? [] : [invalid(path, shownValue(value), 'must not have unknown fields')];
  if (error !== undefined) return [...found, error];
  const ofResources = embeddedErrors(node, value, { base: path, isResource });
  return [...found, ...(ofResources.length > 0 ? ofResources : valueErrors(node, value, place))];
}

function valueErrors(node: SchemaView, value: unknown, { path, rules }: Place): FieldError[] {
  const found = validateValue(node, value, { base: path, purpose: 'defaults' });
  return found.length > 0 ? found : [...rules(node, value, path)];
}
