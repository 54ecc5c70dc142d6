/**
 * From labels to those who select them, and from selectors to what they might adopt, without a look at everything in the
 * namespace. Both go by one label that a selector asks for: `{ app: web, tier: front }` is filed under `app=web`, and so
 * is every orphan that carries `app: web`.
 */
import type { Stored } from '../../client/api.js';
import type { Kind } from '../../kinds/kind.js';
import type { LabelSelectorObject, Labels } from '../../meta/labels.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { controllerOf } from '../runtime/owners.js';
import type { SharedInformer } from '../runtime/shared-informer.js';

/** Those in a namespace that select these labels. One that selects everything selects nothing. */
export type Selecting<Object> = (namespace: string, labels: Labels | undefined) => readonly Object[];

export function selecting<AnyKind extends Kind>(
  informer: SharedInformer<AnyKind>,
  selectorOf: (object: Stored<AnyKind>) => LabelSelectorObject | undefined,
): Selecting<Stored<AnyKind>> {
  const filed = informer.index('a label that its selector asks for', (object) => [
    fileOf(namespaceOf(object), selectorOf(object)?.matchLabels ?? {}),
  ]);
  return (namespace, labels = {}) => {
    const candidates = [fileOf(namespace, {}), ...filesOf(namespace, labels)].flatMap(filed);
    return candidates.filter((candidate) => {
      const selector = labelSelectorFromObject(selectorOf(candidate));
      return selector.requirements.length > 0 && matchesLabels(selector, labels);
    });
  };
}

/** Objects of a namespace that have no controller and might fit a selector. */
export type Orphans<Object> = (namespace: string, selector: LabelSelectorObject) => readonly Object[];

export function orphans<AnyKind extends Kind>(informer: SharedInformer<AnyKind>): Orphans<Stored<AnyKind>> {
  const filed = informer.index('a label of an orphan', (object) => {
    if (controllerOf(object as ApiObject) !== undefined) return [];
    const namespace = namespaceOf(object);
    return [fileOf(namespace, {}), ...filesOf(namespace, (object as ApiObject).metadata.labels ?? {})];
  });
  return (namespace, { matchLabels = {} }) => filed(fileOf(namespace, matchLabels));
}

/** Under what the first of the labels is filed; what has none is filed under the namespace. */
function fileOf(namespace: string, labels: Labels): string {
  return filesOf(namespace, labels)[0] ?? `${namespace}/`;
}

function filesOf(namespace: string, labels: Labels): string[] {
  return Object.entries(labels).map(([key, value]) => `${namespace}/${key}=${value}`);
}

function namespaceOf(object: unknown): string {
  return (object as ApiObject).metadata.namespace ?? '';
}
