/**
 * Which objects of a collection a request is about: selectors parsed, checked against what the kind offers, and
 * turned into a key range and one compiled test.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { errors, StatusError } from '../meta/errors.js';
import type { FieldSelector } from '../meta/fields.js';
import { matchesFields, parseFieldSelector, requiresExactMatch } from '../meta/fields.js';
import { SelectorError } from '../meta/label-selector-text.js';
import { matchesLabels, parseLabelSelector } from '../meta/labels.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type { Range } from '../storage/types.js';
import { quote } from '../text/go/go-text.js';
import { ConversionPending, differsFromStored, toServed } from './versions.js';

export interface Selection {
  readonly range: Range;
  /** Absent when every object of the range is meant. */
  readonly matches?: (object: ApiObject) => boolean;
  /** False when no object can be meant at all. */
  readonly possible: boolean;
}

/**
 * Throws 400 for a selector that cannot be read or names a field the kind does not offer. With `whileStoring` the test is
 * run in the moment of a write, where nothing can be waited for and nothing may fail.
 */
export function selectionOf(request: ApiRequest, served: ServedKind, whileStoring = false): Selection {
  const { labelSelector = '', fieldSelector = '' } = request.options;
  const scope: Range = served.namespaced && request.namespace ? { namespace: request.namespace } : {};
  if (labelSelector === '' && fieldSelector === '') return { range: scope, possible: true };
  return worded(() => {
    const labels = labelSelector === '' ? undefined : parseLabelSelector(labelSelector);
    const fields = parseFieldSelector(fieldSelector);
    checkFieldLabels(fields, served);
    const byLabel =
      labels === undefined ? undefined : (object: ApiObject) => matchesLabels(labels, object.metadata.labels);
    const byField = fields.terms.length === 0 ? undefined : fieldTest(fields, served);
    const matches =
      byLabel === undefined ? byField : byField === undefined ? byLabel : (o: ApiObject) => byLabel(o) && byField(o);
    if (matches === undefined) return narrow(scope, fields, served);
    // What is selected by is a field of the version that was asked for.
    const show = whileStoring ? presentIfPossible : toServed;
    const inVersion = differsFromStored(served) ? (stored: ApiObject) => matches(show(served, stored)) : matches;
    return { ...narrow(scope, fields, served), matches: inVersion };
  });
}

/** As it is stored where its conversion has to be waited for, or fails: the names in most selectors are the same there. */
function presentIfPossible(served: ServedKind, stored: ApiObject): ApiObject {
  try {
    return toServed(served, stored);
  } catch (error) {
    if (error instanceof ConversionPending || StatusError.is(error)) return stored;
    throw error;
  }
}

/** Runs a parser of selectors and turns its complaint into a 400. */
function worded<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorError) throw errors.badRequest(error.message);
    throw error;
  }
}

function checkFieldLabels(fields: FieldSelector, served: ServedKind): void {
  const { selectableFields, unknownFieldLabel } = served.kind.strategy.read;
  for (const { field } of fields.terms) {
    if (field === 'metadata.name' || Object.hasOwn(selectableFields, field)) continue;
    // Kinds with fields of their own know whether they have a namespace; the others never ask.
    if (field === 'metadata.namespace' && (served.namespaced || unknownFieldLabel === undefined)) continue;
    throw errors.badRequest(
      unknownFieldLabel?.(field, served.dialect) ??
        `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
}

function fieldTest(fields: FieldSelector, served: ServedKind): (object: ApiObject) => boolean {
  const { selectableFields } = served.kind.strategy.read;
  return (object) =>
    matchesFields(fields, (field) => {
      if (field === 'metadata.name') return object.metadata.name;
      if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
      return selectableFields[field]?.(object) ?? '';
    });
}

/** A pinned name or namespace makes the range smaller, so that less is scanned and fewer events are looked at. */
function narrow(scope: Range, fields: FieldSelector, served: ServedKind): { range: Range; possible: boolean } {
  const pinnedNamespace = served.namespaced ? requiresExactMatch(fields, 'metadata.namespace') : undefined;
  const name = requiresExactMatch(fields, 'metadata.name');
  if (pinnedNamespace === '' || name === '') return { range: scope, possible: false };
  if (scope.namespace !== undefined && pinnedNamespace !== undefined && pinnedNamespace !== scope.namespace) {
    return { range: scope, possible: false };
  }
  const namespace = scope.namespace ?? pinnedNamespace;
  const oneKey = name !== undefined && (namespace !== undefined || !served.namespaced);
  return {
    range: { ...(namespace === undefined ? {} : { namespace }), ...(oneKey ? { name } : {}) },
    possible: true,
  };
}
