/**
 * Admin access to devices requires a label on the namespace. Validation hooks cannot read other objects, so the
 * `allocate` hook checks the label and keeps the error with the draft until validation.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { fieldError, forbidden, keyPath } from '../../meta/field-error.js';
import { own } from '../../util/json.js';
import type { StrategyContext } from '../kind.js';
import { type AnyClaimSpec, wishOf } from './claim-features.js';

const errorsByDraft = new WeakMap<object, FieldError>();

/** Checks a new object. Updates need no check, because requests are immutable. */
export function checkAdminAccess(draft: object, spec: AnyClaimSpec, context: StrategyContext): void {
  errorsByDraft.delete(draft);
  if (!context.features.enabled('DRAAdminAccess')) return;
  const index = (spec.devices.requests ?? []).findIndex((request) => wishOf(request).adminAccess === true);
  if (index < 0) return;
  // The reference server uses the claim's path for templates too.
  const problem = markProblem(`${keyPath('spec.devices.requests', index)}.adminAccess`, context);
  if (problem !== undefined) errorsByDraft.set(draft, problem);
}

/** The error that {@link checkAdminAccess} found for the object. */
export function adminAccessProblems(object: object): readonly FieldError[] {
  const problem = errorsByDraft.get(object);
  return problem === undefined ? [] : [problem];
}

function markProblem(path: string, { objects, namespace, dialect }: StrategyContext): FieldError | undefined {
  const holder = objects.get({ group: '', resource: 'namespaces', namespace: '', name: namespace });
  if (holder === undefined) {
    const detail = `could not retrieve namespace to verify admin access: namespaces "${namespace}" not found`;
    return fieldError('internal', path, { detail });
  }
  const label = markLabel(dialect);
  if (own(holder.metadata.labels ?? {}, label) === 'true') return undefined;
  return forbidden(path, `admin access to devices requires the \`${label}: true\` label on the containing namespace`);
}

function markLabel(dialect: Dialect): string {
  return `${dialect.group(serviceGroup('resource'))}/admin-access`;
}
