/**
 * What a Deployment writes on its ReplicaSets, and on itself: the number of a revision, the revisions a ReplicaSet was
 * before, and the size that the Deployment had when the ReplicaSet was last sized.
 */
import type { Dialect } from '../../../meta/dialect.js';
import type { HasMetadata } from '../../runtime/owners.js';

export interface AnnotationKeys {
  readonly revision: string;
  readonly history: string;
  readonly desired: string;
  readonly max: string;
  readonly rollbackTo: string;
  /** Those that are never copied from a Deployment to its ReplicaSets, nor back. */
  readonly own: ReadonlySet<string>;
}

export type Annotations = Readonly<Record<string, string>>;

/** Keys stay short: so many characters of former revisions are kept, the oldest go first. */
const LONGEST_HISTORY = 2000;
const NO_ANNOTATIONS: Annotations = Object.freeze({});

export function annotationKeys(dialect: Dialect): AnnotationKeys {
  const revision = dialect.subkey('deployment', 'revision');
  const history = dialect.subkey('deployment', 'revision-history');
  const desired = dialect.subkey('deployment', 'desired-replicas');
  const max = dialect.subkey('deployment', 'max-replicas');
  const rollbackTo = 'deprecated.deployment.rollback.to';
  const lastApplied = dialect.subkey('kubectl', 'last-applied-configuration');
  return {
    revision,
    history,
    desired,
    max,
    rollbackTo,
    own: new Set([revision, history, desired, max, rollbackTo, lastApplied]),
  };
}

export function annotationsOf({ metadata }: HasMetadata): Annotations {
  return metadata.annotations ?? NO_ANNOTATIONS;
}

/** The number of a revision; 0 without one, undefined when it is not a number. */
export function revisionOf(object: HasMetadata, { revision }: AnnotationKeys): number | undefined {
  const text = annotationsOf(object)[revision];
  return text === undefined ? 0 : wholeNumber(text);
}

/** A count in an annotation; undefined when it is not one. */
export function countIn(text: string | undefined): number | undefined {
  const count = text === undefined || !/^[0-9]+$/.test(text) ? undefined : Number(text);
  return count !== undefined && count < 2 ** 31 ? count : undefined;
}

/** A whole number in an annotation; undefined when it is not one. */
export function wholeNumber(text: string | undefined): number | undefined {
  return text === undefined || !/^[+-]?[0-9]+$/.test(text) ? undefined : Number(text);
}

/**
 * What the newest ReplicaSet's annotations become: the Deployment's are copied, and the revision is raised where that is
 * lower. What is there and is the same in both stays the same object, so that callers can see that nothing changed.
 */
export function newSetAnnotations(
  current: Annotations,
  about: { readonly keys: AnnotationKeys; readonly deployment: HasMetadata; readonly revision: number },
): Annotations {
  const { keys, deployment, revision } = about;
  const before = current[keys.revision];
  const beforeNumber = before === undefined || before === '' ? 0 : wholeNumber(before);
  // Somebody has written something else there: nothing is known any more, so nothing is touched.
  if (beforeNumber === undefined) return current;
  const changes: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotationsOf(deployment))) {
    if (!keys.own.has(key) && current[key] !== value) changes[key] = value;
  }
  if (beforeNumber < revision) {
    changes[keys.revision] = String(revision);
    // It was another revision before: the Deployment has gone back to it.
    if (before !== undefined) {
      const history = longerHistory(current[keys.history] ?? '', before);
      if (history !== undefined) changes[keys.history] = history;
    }
  }
  return Object.keys(changes).length === 0 ? current : { ...current, ...changes };
}

/** Undefined where not even this one revision fits. */
function longerHistory(history: string, revision: string): string | undefined {
  if (history === '' || history.startsWith(',')) return revision;
  const revisions = history.split(',');
  let length = history.length + revision.length + 1;
  while (length > LONGEST_HISTORY) {
    const oldest = revisions.shift();
    if (oldest === undefined) return undefined;
    length -= oldest.length + 1;
  }
  return [...revisions, revision].join(',');
}
