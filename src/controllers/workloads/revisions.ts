/**
 * States of a workload's template, kept as ControllerRevisions: what a revision holds, what it is called, and which of two
 * is the newer. StatefulSets and DaemonSets keep their history here, each by its own rules.
 *
 * A revision holds the template as a patch that puts it back:
 *
 *   { spec: { template: { $patch: 'replace', metadata: {…}, spec: {…} } } }
 *
 * Its keys are in order, so that equal templates are equal texts: the server compares what it holds as text.
 */
import type { ControllerRevision } from '../../kinds/apps/v1/controller-revision.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { NAME_ALPHABET } from '../../util/ids.js';
import { encodeSorted, escapeForPages, isRecord, type MutableRecord, printJson, setOwn } from '../../util/json.js';
import { compareText } from '../../util/order.js';
import type { PodTemplateLike } from './new-pod.js';

export type StoredRevision = ObjectOf<typeof ControllerRevision>;

/** The label of pods and revisions that says which revision they are of. */
export const REVISION_LABEL = 'controller-revision-hash';

/** What a revision of this template holds. */
export function revisionData(template: PodTemplateLike): unknown {
  return sorted({ spec: { template: { ...template, $patch: 'replace' } } });
}

/** The template that a revision holds; undefined where it holds something else. */
export function templateOf({ data }: Pick<StoredRevision, 'data'>): PodTemplateLike | undefined {
  const spec = isRecord(data) ? data['spec'] : undefined;
  const template = isRecord(spec) ? spec['template'] : undefined;
  if (!isRecord(template)) return undefined;
  const { $patch, ...rest } = template;
  return rest as PodTemplateLike;
}

/** Whether two revisions hold the same, to the letter. */
export function isSameData(left: unknown, right: unknown): boolean {
  return printJson(left) === printJson(right);
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The name of what a revision holds, as the reference derives it: the text's hash (FNV-1, 32 bits), digit by digit in
 * letters that spell no words. `collisions` tells data apart whose hashes were found to be the same.
 */
export function revisionHash(data: unknown, collisions: number): string {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(`${escapeForPages(encodeSorted(data))}${collisions}`)) {
    hash = (Math.imul(hash, FNV_PRIME) ^ byte) >>> 0;
  }
  return Array.from(String(hash), (digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join('');
}

/** Longer names leave no room for the hash. */
const LONGEST_PREFIX = 223;

export function revisionName(owner: string, hash: string): string {
  return `${owner.slice(0, LONGEST_PREFIX)}-${hash}`;
}

/** The older first. */
export function inRevisionOrder(revisions: readonly StoredRevision[]): StoredRevision[] {
  return [...revisions].sort(
    (left, right) =>
      left.revision - right.revision ||
      compareText(left.metadata.creationTimestamp, right.metadata.creationTimestamp) ||
      compareText(left.metadata.name, right.metadata.name),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const copy: MutableRecord = {};
  for (const key of Object.keys(value).sort()) if (value[key] !== undefined) setOwn(copy, key, sorted(value[key]));
  return copy;
}
