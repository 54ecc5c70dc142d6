/**
 * Access to devices for administration is for namespaces that are marked for it. The mark stands on another object,
 * which rules cannot see; so it is looked for before the object is judged, and what was found is kept with the draft.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { fieldError, forbidden, keyPath } from '../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { own } from '../../util/json.js';
import type { StrategyContext } from '../kind.js';
import { type AnyClaimSpec, wishOf } from './claim-features.js';

const found = new WeakMap<object, FieldError>();

/** Looks at a new object. An update needs no look: what it asks for cannot be changed. */
export function checkAdminAccess(draft: DraftObject, spec: AnyClaimSpec, context: StrategyContext): void {
  found.delete(draft);
  if (!context.features.enabled('DRAAdminAccess')) return;
  const index = (spec.devices.requests ?? []).findIndex((request) => wishOf(request).adminAccess === true);
  if (index < 0) return;
  // The path of a template's request is that of a claim's, too.
  const problem = markProblem(`${keyPath('spec.devices.requests', index)}.adminAccess`, context);
  if (problem !== undefined) found.set(draft, problem);
}

/** What {@link checkAdminAccess} has to say about it. */
export function adminAccessProblems(object: ApiObject): readonly FieldError[] {
  const problem = found.get(object);
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
