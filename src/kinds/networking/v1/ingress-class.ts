/**
 * The IngressClass kind: the controller of Ingresses.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden, invalid, notSupported, required, tooLong } from '../../../meta/field-error.js';
import { byteLength, dnsLabelProblems, dnsSubdomainProblems, patternMessage } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type IngressClassKind,
  type IngressClassObject,
  type IngressClassParametersReference,
  type IngressClassSpec,
  ingressClassBase,
} from '../../generated/networking-v1.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import { immutableErrors } from '../../shared/field-rules.js';
import { specGeneration } from '../../shared/strategies.js';
import { groupKindNameProblems } from '../reference.js';

const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

const NOT_PATH = /[^A-Za-z0-9/\-._~%!$&'()*+,;=:]/;

export interface IngressClass extends IngressClassObject {}

export const IngressClass: IngressClassKind<IngressClass> = defineBuiltIn({
  ...ingressClassBase,
  strategy: {
    write: { generation: specGeneration },
    update: { validationOrder: ['metadata', 'update', 'create'], validate: validateUpdate },
    create: { validate: (object) => specProblems(object.spec) },
  },
  columns: [
    nameColumn,
    textColumn(
      'Controller',
      'The controller that handles ingresses of this class.',
      (object) => object.spec.controller ?? '',
    ),
    textColumn('Parameters', 'The object with the parameters of the controller.', parametersCell),
    ageColumn,
  ],
});

function validateUpdate(next: IngressClass, live: IngressClass): readonly FieldError[] {
  return immutableErrors('spec.controller', next.spec.controller ?? '', live.spec.controller ?? '');
}

const MAX_CONTROLLER_BYTES = 250;

function specProblems({ controller = '', parameters }: IngressClassSpec): FieldError[] {
  const found: FieldError[] = [];
  if (byteLength(controller) > MAX_CONTROLLER_BYTES) found.push(tooLong('spec.controller', MAX_CONTROLLER_BYTES));
  append(found, domainPrefixedPathProblems('spec.controller', controller));
  return parameters === undefined ? found : [...found, ...parametersProblems('spec.parameters', parameters)];
}

function parametersProblems(path: string, parameters: IngressClassParametersReference): FieldError[] {
  const found = groupKindNameProblems(path, parameters);
  const { namespace } = parameters;
  const namespacePath = childPath(path, 'namespace');
  switch (parameters.scope) {
    case 'Cluster':
      if (namespace !== undefined) found.push(forbidden(namespacePath, "`parameters.scope` is set to 'Cluster'"));
      break;
    case 'Namespace':
      if (namespace === undefined) found.push(required(namespacePath, "`parameters.scope` is set to 'Namespace'"));
      else
        append(
          found,
          dnsLabelProblems(namespace).map((detail) => invalid(namespacePath, namespace, detail)),
        );
      break;
    default:
      found.push(notSupported(childPath(path, 'scope'), parameters.scope, ['Cluster', 'Namespace']));
  }
  return found;
}

function parametersCell(object: IngressClass): string {
  const { parameters } = object.spec;
  if (parameters === undefined) return NONE;
  const { apiGroup, kind, name } = parameters;
  return `${kind}${apiGroup ? `.${apiGroup}` : ''}/${name}`;
}

/** Requires a path with a domain: `example.com/controller`. */
function domainPrefixedPathProblems(path: string, value: string): FieldError[] {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  const host = value.slice(0, Math.max(slash, 0));
  const rest = value.slice(slash + 1);
  if (host === '' || rest === '') {
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const found = dnsSubdomainProblems(host).map((detail) => invalid(path, host, detail));
  if (NOT_PATH.test(rest)) found.push(invalid(path, rest, patternMessage('Invalid path', PATH_PATTERN, [])));
  return found;
}
