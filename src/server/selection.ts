/**
 * Selectors of a request: parsed, checked against the selectable fields of the kind, and compiled into a key range and
 * one predicate.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { errors, StatusError } from '../meta/errors.js';
import { compileFields, type FieldSelector, parseFieldSelector, requiresExactMatch } from '../meta/fields.js';
import { SelectorError } from '../meta/label-selector-text.js';
import { matchesLabels, parseLabelSelector } from '../meta/labels.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest, RequestOptions } from '../protocol/request.js';
import type { Range } from '../storage/types.js';
import { quote } from '../text/go/go-text.js';
import { translateError } from '../util/catch-error.js';
import { ConversionPending, differsFromStored, toServed } from './versions.js';

export interface Selection {
  readonly range: Range;
  /** Absent when every object of the range is selected. */
  readonly matches?: (object: ApiObject) => boolean;
  /** False when no object can match. */
  readonly canMatch: boolean;
}

/** Throws 400 for a malformed selector. The server checks that before other options, and the fields after them. */
export function checkSelectorSyntax({ labelSelector = '', fieldSelector = '' }: RequestOptions): void {
  if (labelSelector === '' && fieldSelector === '') return;
  const parse = () => {
    if (labelSelector !== '') parseLabelSelector(labelSelector);
    parseFieldSelector(fieldSelector);
  };
  translateError(SelectorError, parse, ({ message }) => errors.badRequest(message));
}

/**
 * Throws 400 for a malformed selector or an unsupported field. With `whileStoring` the predicate runs during a commit, where
 * it must neither wait nor fail.
 */
export function selectionOf(request: ApiRequest, served: ServedKind, whileStoring = false): Selection {
  const { labelSelector = '', fieldSelector = '' } = request.options;
  const scope: Range = served.namespaced && request.namespace ? { namespace: request.namespace } : {};
  if (labelSelector === '' && fieldSelector === '') return { range: scope, canMatch: true };
  const select = (): Selection => {
    const labels = labelSelector === '' ? undefined : parseLabelSelector(labelSelector);
    const fields = parseFieldSelector(fieldSelector);
    checkFieldLabels(fields, served);
    const byLabel =
      labels === undefined ? undefined : (object: ApiObject) => matchesLabels(labels, object.metadata.labels);
    const byField = fields.terms.length === 0 ? undefined : fieldTest(fields, served);
    const matches =
      byLabel === undefined ? byField : byField === undefined ? byLabel : (o: ApiObject) => byLabel(o) && byField(o);
    if (matches === undefined) return narrowRange(scope, fields, served);
    // Selectors refer to fields of the requested version.
    const convert = whileStoring ? toServedIfPossible : toServed;
    const matchesStored = differsFromStored(served) ? (stored: ApiObject) => matches(convert(served, stored)) : matches;
    return { ...narrowRange(scope, fields, served), matches: matchesStored };
  };
  return translateError(SelectorError, select, ({ message }) => errors.badRequest(message));
}

/** The stored object if its conversion is asynchronous or fails: most selectable fields are the same in all versions. */
function toServedIfPossible(served: ServedKind, stored: ApiObject): ApiObject {
  try {
    return toServed(served, stored);
  } catch (error) {
    if (error instanceof ConversionPending || StatusError.is(error)) return stored;
    throw error;
  }
}

function checkFieldLabels(fields: FieldSelector, served: ServedKind): void {
  const { selectableFields, unknownFieldLabel } = served.kind.strategy.read;
  for (const { field } of fields.terms) {
    if (field === 'metadata.name' || Object.hasOwn(selectableFields, field)) continue;
    // Kinds with their own selectable fields reject the namespace if they are cluster-scoped; others accept it always.
    if (field === 'metadata.namespace' && (served.namespaced || unknownFieldLabel === undefined)) continue;
    throw errors.badRequest(
      unknownFieldLabel?.(field, served.dialect) ??
        `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
}

function fieldTest(fields: FieldSelector, served: ServedKind): (object: ApiObject) => boolean {
  const { selectableFields } = served.kind.strategy.read;
  const matches = compileFields(fields);
  return (object) =>
    matches((field) => {
      if (field === 'metadata.name') return object.metadata.name;
      if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
      return selectableFields[field]?.(object) ?? '';
    });
}

/** An exact name or namespace narrows the key range, so that less is scanned and fewer events are tested. */
function narrowRange(scope: Range, fields: FieldSelector, served: ServedKind): { range: Range; canMatch: boolean } {
  const pinnedNamespace = served.namespaced ? requiresExactMatch(fields, 'metadata.namespace') : undefined;
  const name = requiresExactMatch(fields, 'metadata.name');
  if (pinnedNamespace === '' || name === '') return { range: scope, canMatch: false };
  if (scope.namespace !== undefined && pinnedNamespace !== undefined && pinnedNamespace !== scope.namespace) {
    return { range: scope, canMatch: false };
  }
  const namespace = scope.namespace ?? pinnedNamespace;
  const oneKey = name !== undefined && (namespace !== undefined || !served.namespaced);
  return {
    range: { ...(namespace === undefined ? {} : { namespace }), ...(oneKey ? { name } : {}) },
    canMatch: true,
  };
}
