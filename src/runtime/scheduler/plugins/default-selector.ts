/**
 * The selector of the pods that belong together with a pod: by its Services and its controller.
 * upstream: pkg/scheduler/framework/plugins/helper/spread.go DefaultSelector
 */
import { controllerOf } from '../../../controllers/runtime/owners.js';
import { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import { StatefulSet } from '../../../kinds/apps/v1/stateful-set.js';
import { ReplicationController } from '../../../kinds/core/v1/replication-controller.js';
import { Service } from '../../../kinds/core/v1/service/service.js';
import {
  type LabelSelector,
  type Labels,
  labelSelectorFrom,
  labelSelectorFromObject,
  nothing,
  selectsLabels,
} from '../../../meta/labels.js';
import type { ObjectReader, StoredPod } from '../snapshot.js';

/** Empty if the pod has neither Services nor a controller. */
export function defaultSelector(pod: StoredPod, objects: ObjectReader): LabelSelector {
  const { namespace, labels } = pod.metadata;
  let merged: Labels = {};
  for (const { spec } of objects.list(Service, namespace)) {
    const { selector } = spec;
    if (selector !== undefined && selectsLabels({ matchLabels: selector }, labels)) merged = { ...merged, ...selector };
  }
  const owner = controllerOf(pod);
  const find = () => {
    switch (`${owner?.apiVersion} ${owner?.kind}`) {
      case 'v1 ReplicationController': {
        const set = objects.get(ReplicationController, owner?.name ?? '', namespace);
        return set === undefined ? undefined : { matchLabels: set.spec.selector ?? {} };
      }
      case 'apps/v1 ReplicaSet':
        return objects.get(ReplicaSet, owner?.name ?? '', namespace)?.spec.selector;
      case 'apps/v1 StatefulSet':
        return objects.get(StatefulSet, owner?.name ?? '', namespace)?.spec.selector;
      default:
        return undefined;
    }
  };
  const services = labelSelectorFrom(merged);
  const controller = labelSelectorFromObject(find());
  return controller === nothing ? services : allOf(services, controller);
}

/** A selector with the requirements of both. */
export function allOf(left: LabelSelector, right: LabelSelector): LabelSelector {
  return { requirements: [...left.requirements, ...right.requirements], tests: [...left.tests, ...right.tests] };
}
