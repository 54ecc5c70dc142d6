/**
 * Every rule an object must meet, all at once: metadata, the schema's value rules, the kind's own. Throws one 422
 * with every field error, in the order and the number in which the reference server reports them.
 */
import type { Kind, SubresourceStrategy } from '../../kinds/kind.js';
import { errors } from '../../meta/errors.js';
import type { FieldError } from '../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { repeatedItems } from '../../schema/repeated-items.js';
import { bodyProblems } from '../../schema/rules.js';
import type { WriteJob } from '../job.js';
import { metadataProblems, metadataUpdateProblems } from './validate-metadata.js';

const OF_A_STRUCT = { strictFinalizers: true };
const OF_ANY_OBJECT = { strictFinalizers: false };

export function validateCreate(draft: DraftObject, job: WriteJob): void {
  const object = draft as unknown as ApiObject;
  refuse(object, job, wholeProblems(object, job));
}

export function validateUpdate(
  draft: DraftObject,
  live: ApiObject,
  about: { readonly job: WriteJob; readonly subresource: SubresourceStrategy | undefined },
): void {
  const { job, subresource } = about;
  const next = draft as unknown as ApiObject;
  const { kind } = job.served;
  const updateProblems = metadataUpdateProblems(next, live);
  let problems: readonly FieldError[] = [
    // Once for any object …
    ...metadataProblems(next, anyName(kind), OF_ANY_OBJECT),
    ...updateProblems,
    // … and once more for the kind.
    ...updateProblems,
  ];
  const rules = (subresource ?? kind.strategy).validateUpdate;
  if (kind.manner === 'document') {
    problems = [...problems, ...documentProblems(next, job, () => rules?.(next, live, job.moment))];
  } else {
    problems = [...problems, ...(rules?.(next, live, job.moment) ?? [])];
    if (subresource === undefined) {
      const { revalidatesOnUpdate } = kind.strategy;
      const again = revalidatesOnUpdate ? wholeProblems(next, job) : bodyProblems(kind.body, kind.schema, next);
      problems = [...problems, ...again];
    }
  }
  refuse(next, job, problems);
}

function wholeProblems(object: ApiObject, job: WriteJob): FieldError[] {
  const { kind } = job.served;
  const rules = () => kind.strategy.validate?.(object, job.moment);
  const ofBody =
    kind.manner === 'document'
      ? documentProblems(object, job, rules)
      : [...bodyProblems(kind.body, kind.schema, object), ...(rules() ?? [])];
  const rulesOfMetadata = kind.manner === 'struct' ? OF_A_STRUCT : OF_ANY_OBJECT;
  return [...metadataProblems(object, kind, rulesOfMetadata), ...ofBody];
}

/** A document is judged by its schema, types and presence included, and by rules that were written for its type. */
function documentProblems(
  object: ApiObject,
  job: WriteJob,
  rules: () => readonly FieldError[] | undefined,
): readonly FieldError[] {
  const { kind } = job.served;
  const problems = [...bodyProblems(kind.body, kind.schema, object), ...repeatedItems(kind.schema, object)];
  if (problems.length === 0) return judged(rules, job);
  try {
    return [...problems, ...(rules() ?? [])];
  } catch {
    // The rules expect what the schema promises, and this object does not keep the promise: the schema has said so.
    return problems;
  }
}

/** Rules report what they find; one that throws has failed itself, and the client gets a 500. */
function judged(rules: () => readonly FieldError[] | undefined, job: WriteJob): readonly FieldError[] {
  try {
    return rules() ?? [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw errors.internal(`validate of ${job.served.kind.kind} failed: ${why}`, error);
  }
}

function refuse(object: ApiObject, job: WriteJob, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  throw errors.invalid(job.served.groupKind, object.metadata.name ?? '', problems);
}

const anyNameKinds = new WeakMap<Kind, Kind>();

/** The rules for any object do not know the kind's rule for names. */
function anyName(kind: Kind): Kind {
  let relaxed = anyNameKinds.get(kind);
  if (relaxed === undefined) {
    relaxed = { ...kind, strategy: { ...kind.strategy, nameRule: () => [] } };
    anyNameKinds.set(kind, relaxed);
  }
  return relaxed;
}
