/**
 * ControllerRevisions: their data, names and order. StatefulSets and DaemonSets store the history of their template here,
 * each by its own rules.
 *
 * A revision contains the template as a patch that restores it:
 *
 *   { spec: { template: { $patch: 'replace', metadata: {…}, spec: {…} } } }
 *
 * Keys are sorted, so that equal templates are equal as text; the server compares the data as text.
 */
import type { ControllerRevision } from '../../kinds/apps/v1/controller-revision.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { NAME_ALPHABET } from '../../util/ids.js';
import { encodeSorted, escapeForPages, isRecord, type MutableRecord, printJson, setOwn } from '../../util/json.js';
import { once } from '../../util/once.js';
import { compareText } from '../../util/order.js';
import { type AnyObject, controllerReference } from '../runtime/owners.js';
import { type TemplateSelection, templateSelection } from './dependents.js';
import type { PodTemplateLike } from './pod-control.js';

export type StoredRevision = ObjectOf<typeof ControllerRevision>;

/** The label of pods and revisions with the revision's hash. */
export const REVISION_LABEL = 'controller-revision-hash';

export function revisionData(template: PodTemplateLike): unknown {
  return sorted({ spec: { template: { ...template, $patch: 'replace' } } });
}

/** The template in a revision; undefined if it contains something else. */
export function templateOf({ data }: Pick<StoredRevision, 'data'>): PodTemplateLike | undefined {
  const spec = isRecord(data) ? data['spec'] : undefined;
  const template = isRecord(spec) ? spec['template'] : undefined;
  if (!isRecord(template)) return undefined;
  const { $patch, ...rest } = template;
  return rest as PodTemplateLike;
}

/** Whether two JSON values are equal as text: with their keys in the same order. Ends at the first difference. */
export function isSameData(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  // Numbers and bigints of the same value are equal as text.
  if (!isObject(left) || !isObject(right)) return typeof left !== typeof right && printJson(left) === printJson(right);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  const others = Object.keys(right);
  if (keys.length !== others.length) return false;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string;
    if (key !== others[at] || !isSameData(left[key], right[key])) return false;
  }
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Selects the revisions that contain a template. */
export function revisionSelection(): TemplateSelection<StoredRevision, PodTemplateLike> {
  return templateSelection((template) => {
    const dataOf = once(() => revisionData(template));
    return ({ data }) => isSameData(data, dataOf());
  });
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The hash for a revision's name, as the reference server computes it: FNV-1 (32 bits) of the data, with each digit mapped to
 * a safe letter. `collisions` distinguishes data with equal hashes.
 * upstream: pkg/controller/history/controller_history.go HashControllerRevision
 */
export function revisionHash(data: unknown, collisions: number): string {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(`${escapeForPages(encodeSorted(data))}${collisions}`)) {
    hash = (Math.imul(hash, FNV_PRIME) ^ byte) >>> 0;
  }
  return Array.from(String(hash), (digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join('');
}

/** Longer prefixes leave no room for the hash. */
const MAX_PREFIX_LENGTH = 223;

export function revisionName(owner: string, hash: string): string {
  return `${owner.slice(0, MAX_PREFIX_LENGTH)}-${hash}`;
}

/** The metadata of a new revision. */
export function revisionMetadata(owner: RevisionOwner, name: string, hash: Readonly<Record<string, string>>) {
  const { namespace, annotations } = owner.metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...owner.spec.template.metadata?.labels, ...hash },
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    ownerReferences: [controllerReference(owner)],
  };
}

type RevisionOwner = AnyObject & { readonly spec: { readonly template: PodTemplateLike } };

/** Oldest first. */
export function inRevisionOrder(revisions: readonly StoredRevision[]): StoredRevision[] {
  return [...revisions].sort(
    (left, right) =>
      Number(left.revision) - Number(right.revision) || // bigints above 2^53
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
