/**
 * Indexes from labels to the owners that select them, and from selectors to orphans, without scanning the namespace. Both
 * use one label of the selector: `{ app: web, tier: front }` is indexed under `app=web`, as is every orphan with `app: web`.
 */
import type { Stored } from '../../client/api.js';
import type { Kind } from '../../kinds/kind.js';
import type { LabelSelectorObject, Labels } from '../../meta/labels.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { controllerOf } from '../runtime/owners.js';
import type { SharedInformer } from '../runtime/shared-informer.js';

/** Returns the objects in a namespace whose selector matches the labels. An empty selector matches nothing. */
export type SelectorIndex<Object> = (namespace: string, labels: Labels | undefined) => readonly Object[];

export function selectorIndex<AnyKind extends Kind>(
  informer: SharedInformer<AnyKind>,
  selectorOf: (object: Stored<AnyKind>) => LabelSelectorObject | undefined,
): SelectorIndex<Stored<AnyKind>> {
  const byLabel = informer.index('a label that its selector asks for', (object) => [
    firstIndexKey(namespaceOf(object), selectorOf(object)?.matchLabels ?? {}),
  ]);
  return (namespace, labels = {}) => {
    const candidates = [firstIndexKey(namespace, {}), ...indexKeys(namespace, labels)].flatMap(byLabel);
    return candidates.filter((candidate) => {
      const selector = labelSelectorFromObject(selectorOf(candidate));
      return selector.requirements.length > 0 && matchesLabels(selector, labels);
    });
  };
}

/** Returns objects without controller that may match a selector. */
export type OrphanIndex<Object> = (namespace: string, selector: LabelSelectorObject) => readonly Object[];

export function orphanIndex<AnyKind extends Kind>(informer: SharedInformer<AnyKind>): OrphanIndex<Stored<AnyKind>> {
  const byLabel = informer.index('a label of an orphan', (object) => {
    if (controllerOf(object as ApiObject) !== undefined) return [];
    const namespace = namespaceOf(object);
    return [firstIndexKey(namespace, {}), ...indexKeys(namespace, (object as ApiObject).metadata.labels ?? {})];
  });
  return (namespace, { matchLabels = {} }) => byLabel(firstIndexKey(namespace, matchLabels));
}

/** The index key of the first label; without labels the key of the namespace. */
function firstIndexKey(namespace: string, labels: Labels): string {
  return indexKeys(namespace, labels)[0] ?? `${namespace}/`;
}

function indexKeys(namespace: string, labels: Labels): string[] {
  return Object.entries(labels).map(([key, value]) => `${namespace}/${key}=${value}`);
}

function namespaceOf(object: unknown): string {
  return (object as ApiObject).metadata.namespace ?? '';
}
