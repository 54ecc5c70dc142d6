/**
 * The annotations of Deployments and their ReplicaSets: the revision, earlier revisions of a ReplicaSet, and the Deployment's
 * size when a ReplicaSet was last scaled.
 */
import type { Dialect } from '../../../meta/dialect.js';
import type { HasMetadata } from '../../runtime/owners.js';

export interface AnnotationKeys {
  readonly revision: string;
  readonly history: string;
  readonly desired: string;
  readonly max: string;
  readonly rollbackTo: string;
  /** Annotations that are never copied between a Deployment and its ReplicaSets. */
  readonly own: ReadonlySet<string>;
}

export type Annotations = Readonly<Record<string, string>>;

/** The maximum length of the revision history; the oldest revisions are dropped first. */
const MAX_HISTORY_LENGTH = 2000;
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

/** The revision; 0 without one, undefined if it is not a number. */
export function revisionOf(object: HasMetadata, { revision }: AnnotationKeys): number | undefined {
  const text = annotationsOf(object)[revision];
  return text === undefined ? 0 : wholeNumber(text);
}

/** Parses a 32-bit count; undefined if it is not one. */
export function countIn(text: string | undefined): number | undefined {
  const count = text === undefined || !/^[0-9]+$/.test(text) ? undefined : Number(text);
  return count !== undefined && count < 2 ** 31 ? count : undefined;
}

/** Parses a whole number; undefined if it is not one. */
export function wholeNumber(text: string | undefined): number | undefined {
  return text === undefined || !/^[+-]?[0-9]+$/.test(text) ? undefined : Number(text);
}

/**
 * The annotations of the new ReplicaSet: copied from the Deployment, with the revision raised if it is lower. Returns the same
 * object if nothing changes.
 */
export function newSetAnnotations(
  current: Annotations,
  input: { readonly keys: AnnotationKeys; readonly deployment: HasMetadata; readonly revision: number },
): Annotations {
  const { keys, deployment, revision } = input;
  const before = current[keys.revision];
  const beforeNumber = before === undefined || before === '' ? 0 : wholeNumber(before);
  // The annotation has an invalid value, so it is left unchanged.
  if (beforeNumber === undefined) return current;
  const changes: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotationsOf(deployment))) {
    if (!keys.own.has(key) && current[key] !== value) changes[key] = value;
  }
  if (beforeNumber < revision) {
    changes[keys.revision] = String(revision);
    // It was an earlier revision: the Deployment was rolled back to it.
    if (before !== undefined) {
      const history = longerHistory(current[keys.history] ?? '', before);
      if (history !== undefined) changes[keys.history] = history;
    }
  }
  return Object.keys(changes).length === 0 ? current : { ...current, ...changes };
}

/** Undefined if not even this revision fits. */
function longerHistory(history: string, revision: string): string | undefined {
  if (history === '' || history.startsWith(',')) return revision;
  const revisions = history.split(',');
  let length = history.length + revision.length + 1;
  while (length > MAX_HISTORY_LENGTH) {
    const oldest = revisions.shift();
    if (oldest === undefined) return undefined;
    length -= oldest.length + 1;
  }
  return [...revisions, revision].join(',');
}
