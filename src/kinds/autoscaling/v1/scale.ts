/**
 * The Scale kind: the desired and actual number of replicas of a workload. It is not stored: the `scale` subresource
 * reads it from the workload, and an update of it updates the workload. spec: What the service does
 */
import { type FieldError, invalid } from '../../../meta/field-error.js';
import { type LabelSelectorObject, labelSelectorFromObject, printLabelSelector } from '../../../meta/labels.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type ScaleKind, type ScaleObject, scaleBase } from '../../generated/autoscaling-v1.js';
import { ageColumn, countColumn, nameColumn } from '../../shared/common-columns.js';
import type { SubresourceView } from '../../subresource.js';

export interface Scale extends ScaleObject {}

export const Scale: ScaleKind<Scale> = defineBuiltIn({
  ...scaleBase,
  strategy: { create: { validate } },
  columns: [
    { ...nameColumn, format: '' },
    countColumn('Desired', 'The number of replicas in the spec.', (object) => object.spec.replicas ?? 0),
    countColumn('Available', 'The number of replicas that exist.', (object) => object.status.replicas),
    ageColumn,
  ],
});

function validate(object: Scale): readonly FieldError[] {
  const { replicas = 0 } = object.spec;
  return replicas >= 0 ? [] : [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')];
}

/** The fields that every scalable workload has. */
interface Scalable {
  readonly spec: { readonly replicas?: number; readonly selector?: LabelSelectorObject };
  readonly status?: { readonly replicas?: number };
}

/**
 * The `scale` subresource of a workload with `spec.replicas` and `status.replicas`. `selector` returns the serialized
 * selector; by default `spec.selector` is a LabelSelector.
 */
export function scaleSubresource({
  selector = selectorText,
}: {
  readonly selector?: (live: ApiObject) => string;
} = {}): SubresourceView {
  return Object.freeze({
    type: 'view' as const,
    verbs: ['get', 'patch', 'update'] as const,
    kind: Scale,
    replicasPath: ['spec', 'replicas'],
    read: (live: ApiObject): DraftObject => {
      const { spec, status } = live as ApiObject & Scalable;
      const { name, namespace, uid, creationTimestamp } = live.metadata;
      const text = selector(live);
      return {
        apiVersion: '',
        kind: '',
        metadata: { name, uid, creationTimestamp, ...(namespace === undefined ? {} : { namespace }) },
        spec: spec.replicas ? { replicas: spec.replicas } : {},
        status: { replicas: status?.replicas ?? 0, ...(text === '' ? {} : { selector: text }) },
      };
    },
    write: (view: ApiObject, draft: DraftObject): void => {
      const spec = draft['spec'] as { replicas?: number };
      spec.replicas = (view as ApiObject & Scale).spec.replicas ?? 0;
    },
  });
}

function selectorText(live: ApiObject): string {
  const { selector } = (live as ApiObject & Scalable).spec;
  return selector === undefined ? '' : printLabelSelector(labelSelectorFromObject(selector));
}
