/**
 * Scale: how many replicas a workload has and is to have. It is never stored; `/scale` of a workload shows it, and a
 * changed one is an update of the workload. spec: scale
 */
import { type FieldError, invalid } from '../../../meta/field-error.js';
import { type LabelSelectorObject, labelSelectorFromObject, printLabelSelector } from '../../../meta/labels.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import { type ScaleBody, type ScaleBodyInput, scaleBody } from '../../generated/autoscaling-v1.js';
import type { Kind } from '../../kind.js';
import { ageColumn, countColumn, nameColumn } from '../../shared/common-columns.js';
import type { SubresourceView } from '../../subresource.js';

export interface Scale extends ObjectBase, ScaleBody {}
export interface ScaleInput extends InputBase, ScaleBodyInput {}

export const Scale: Kind<Scale, ScaleInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  scope: 'Namespaced',
  body: scaleBody,
  strategy: { create: { validate } },
  columns: [
    { ...nameColumn, format: '' },
    countColumn('Desired', 'How many replicas are wanted.', (object) => scaleOf(object).spec.replicas ?? 0),
    countColumn('Available', 'How many replicas there are.', (object) => scaleOf(object).status.replicas),
    ageColumn,
  ],
});

function scaleOf(object: ApiObject): Scale {
  return object as unknown as Scale;
}

function validate(object: ApiObject): readonly FieldError[] {
  const { replicas = 0 } = scaleOf(object).spec;
  return replicas >= 0 ? [] : [invalid('spec.replicas', replicas, 'must be greater than or equal to 0')];
}

/** What every workload with a scale has in common. */
interface Scalable {
  readonly spec: { readonly replicas?: number; readonly selector?: LabelSelectorObject };
  readonly status?: { readonly replicas?: number };
}

interface ScaleParticulars {
  readonly selector?: (live: ApiObject) => string;
}

/**
 * The `scale` address of a workload with `spec.replicas` and `status.replicas`. Its selector is `spec.selector` read as
 * a LabelSelector; a kind whose selector has another form says how it reads as text.
 */
export function scaleSubresource(about: ScaleParticulars = {}): SubresourceView {
  const { selector = selectorText } = about;
  return Object.freeze({
    type: 'view' as const,
    verbs: ['get', 'patch', 'update'] as const,
    kind: Scale,
    replicasPath: ['spec', 'replicas'],
    read: (live: ApiObject): DraftObject => {
      const { spec, status } = live as unknown as Scalable;
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
      spec.replicas = scaleOf(view).spec.replicas ?? 0;
    },
  });
}

function selectorText(live: ApiObject): string {
  const { selector } = (live as unknown as Scalable).spec;
  return selector === undefined ? '' : printLabelSelector(labelSelectorFromObject(selector));
}
