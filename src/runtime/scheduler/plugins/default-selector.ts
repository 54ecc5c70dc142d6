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
  const { apiVersion = '', kind = '', name = '' } = owner ?? {};
  const type = `${apiVersion} ${kind}`;
  if (type === 'v1 ReplicationController') {
    // Its labels replace those of Services.
    return labelSelectorFrom({ ...merged, ...objects.get(ReplicationController, name, namespace)?.spec.selector });
  }
  const services = labelSelectorFrom(merged);
  const set =
    type === 'apps/v1 ReplicaSet'
      ? objects.get(ReplicaSet, name, namespace)
      : type === 'apps/v1 StatefulSet'
        ? objects.get(StatefulSet, name, namespace)
        : undefined;
  return set?.spec.selector === undefined ? services : allOf(services, labelSelectorFromObject(set.spec.selector));
}

/** A selector with the requirements of both. */
export function allOf(left: LabelSelector, right: LabelSelector): LabelSelector {
  return { requirements: [...left.requirements, ...right.requirements], tests: [...left.tests, ...right.tests] };
}
