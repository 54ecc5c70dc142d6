/**
 * The Ingress kind: routes external hosts and paths to backends. spec: Ingress
 */
import { serviceGroup } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { invalid } from '../../../../meta/field-error.js';
import { quote } from '../../../../text/go/go-text.js';
import { own } from '../../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../../define-kind.js';
import { type IngressBody, type IngressBodyInput, ingressBody } from '../../../generated/networking-v1.js';
import type { HookContext, Kind } from '../../../kind.js';
import { specGeneration, statusSubresource } from '../../../shared/strategies.js';
import { ingressColumns } from './columns.js';
import { ingressSpecProblems, ingressStatusProblems } from './validate.js';

export interface Ingress extends ObjectBase, IngressBody {}
export interface IngressInput extends InputBase, IngressBodyInput {}

export const Ingress: Kind<Ingress, IngressInput, 'Namespaced', 'status'> = defineBuiltIn({
  apiVersion: `${serviceGroup('networking')}/v1`,
  kind: 'Ingress',
  scope: 'Namespaced',
  names: { shortNames: ['ing'] },
  body: ingressBody,
  strategy: {
    write: { separateStatus: true, generation: specGeneration, warnings },
    create: {
      validate: (object, context) => [...ingressSpecProblems(object.spec), ...classProblems(object, context)],
    },
    update: {
      // Only a new object must have consistent class annotation and field.
      validate: (next, _live, _context, metadata) => [...metadata.forCreate(), ...ingressSpecProblems(next.spec)],
    },
  },
  subresources: {
    status: statusSubresource({
      validate: (next) => ingressStatusProblems(next.status.loadBalancer),
    }),
  },
  columns: ingressColumns,
});

/** The deprecated class annotation. */
function classAnnotation(object: Ingress, { dialect }: HookContext): { key: string; value: string | undefined } {
  const key = dialect.key('ingress.class');
  return { key, value: own(object.metadata.annotations ?? {}, key) };
}

function classProblems(object: Ingress, context: HookContext): FieldError[] {
  const { ingressClassName } = object.spec;
  const { key, value } = classAnnotation(object, context);
  if (value === undefined || ingressClassName === undefined || value === ingressClassName) return [];
  // The reference server's path lacks `metadata`.
  return [invalid(`annotations.${key}`, value, 'must match `ingressClassName` when both are specified')];
}

function warnings(object: Ingress, live: Ingress | undefined, context: HookContext): readonly string[] {
  const { key, value } = classAnnotation(object, context);
  if (live !== undefined || value === undefined || object.spec.ingressClassName !== undefined) return [];
  return [`annotation ${quote(key)} is deprecated, please use 'spec.ingressClassName' instead`];
}
