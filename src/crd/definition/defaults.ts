/**
 * Defaults must be what they stand in for: values of their own schema, without fields that it does not know, and
 * whole resources where resources are embedded. Inside of metadata they must lead to metadata that make sense.
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

/** What the rules of a schema in CEL say about a default that is fine otherwise. */
export type DefaultRules = (schema: SchemaView, value: unknown, path: string) => readonly FieldError[];

/** What is wrong with the defaults anywhere in a structural schema. */
export function defaultErrors(root: SchemaView, path: string, rules: DefaultRules): FieldError[] {
  const resource = { ...root, embeddedResource: true };
  return nodeErrors(resource, { path, resource, steps: [], insideMeta: false, rules });
}

/** Where a node stands. */
interface Place {
  readonly path: string;
  /** The nearest resource around it, itself included, and the way from there; items have no name. */
  readonly resource: SchemaView;
  readonly steps: readonly (string | undefined)[];
  readonly insideMeta: boolean;
  readonly rules: DefaultRules;
}

/** Defaults below `additionalProperties` are not looked at. */
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

/** A resource that is complete, with a value at the end of a way. */
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
  // What is shown has lost by now what metadata do not know.
  const found = deepEqual(pruned, given) ? [] : [invalid(path, shownValue(value), 'must not have unknown fields')];
  if (error !== undefined) return [...found, error];
  const ofResources = embeddedErrors(node, value, { base: path, isResource });
  return [...found, ...(ofResources.length > 0 ? ofResources : valueErrors(node, value, place))];
}

function valueErrors(node: SchemaView, value: unknown, { path, rules }: Place): FieldError[] {
  const found = validateValue(node, value, { base: path, purpose: 'defaults' });
  return found.length > 0 ? found : [...rules(node, value, path)];
}
