/**
 * The APIService kind: the server of a group version, which is this server or a Service, and its position in discovery.
 * Every served version has one. `http/aggregate/` proxies requests to Services.
 */

import { type FieldError, invalid, keyPath, notSupported, required } from '../../../meta/field-error.js';
import { dns1035LabelProblems, dnsSubdomainProblems, pathSegmentProblems } from '../../../meta/names.js';
import { quote } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { base64ByteLength } from '../../../util/base64.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type APIServiceKind,
  type APIServiceObject,
  type APIServiceSpec,
  apiServiceBase,
} from '../../generated/apiregistration-v1.js';
import type { HookContext, NameValidator } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { statusSubresource } from '../../shared/strategies.js';
import { datedCondition, LOCAL } from './availability.js';
import { initialApiServices } from './initial.js';
import { apiServiceReconciler } from './reconciler.js';

export interface APIService extends APIServiceObject {}

/** Requires a path segment. Spec validation checks that the name is `<version>.<group>`. */
const segmentName: NameValidator = (name) => pathSegmentProblems(name);

export const APIService: APIServiceKind<APIService> = defineBuiltIn({
  ...apiServiceBase,
  names: { categories: ['api-extensions'] },
  columns: [
    nameColumn,
    textColumn('Service', 'The service that handles this API version.', serviceCell),
    textColumn('Available', 'Whether the API version is available.', availableCell),
    ageColumn,
  ],
  initial: initialApiServices,
  reconciler: apiServiceReconciler,
  strategy: {
    create: { metadataValidation: 'repeated', prepare: markLocalAvailable, validate },
    name: { validate: segmentName },
    update: { allowUnconditionalUpdate: false, validationOrder: ['metadata', 'update', 'create'] },
    write: { separateStatus: true },
  },
  subresources: {
    status: statusSubresource({
      tables: false,
      metadata: ['labels', 'annotations', 'ownerReferences', 'finalizers'],
      ownableFields: { except: ['metadata', 'spec'] },
      metadataValidation: 'repeated',
      validate: validateStatus,
    }),
  },
});

function serviceCell(object: APIService): string {
  const { service } = object.spec;
  return service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`;
}

/** `True`, or the status and its reason. */
function availableCell(object: APIService): string {
  const { conditions = [] } = object.status;
  const { status = 'Unknown', reason = '' } = conditions.find(({ type: what }) => what === 'Available') ?? {};
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}

/** Versions of this server are available at once. */
function markLocalAvailable(draft: APIService, { now }: HookContext): void {
  const service = draft;
  if (service.spec.service !== undefined) return;
  service.status = { conditions: [datedCondition(LOCAL, now)] };
}

const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;

function validate(object: APIService): FieldError[] {
  const { spec } = object;
  const { group = '', version = '', groupPriorityMinimum, versionPriority } = spec;
  const found = nameProblems(object, `${version}.${group}`);
  if (group !== '')
    append(
      found,
      dnsSubdomainProblems(group).map((detail) => invalid('spec.group', group, detail)),
    );
  else if (version !== 'v1') {
    found.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  }
  append(
    found,
    dns1035LabelProblems(version).map((detail) => invalid('spec.version', version, detail)),
  );
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > MAX_GROUP_PRIORITY) {
    const detail = `must be positive and less than ${MAX_GROUP_PRIORITY}`;
    found.push(invalid('spec.groupPriorityMinimum', groupPriorityMinimum, detail));
  }
  if (versionPriority <= 0 || versionPriority > MAX_VERSION_PRIORITY) {
    const detail = `must be positive and less than ${MAX_VERSION_PRIORITY}`;
    found.push(invalid('spec.versionPriority', versionPriority, detail));
  }
  return [...found, ...backendProblems(spec)];
}

/** An invalid name is reported by the name rule. */
function nameProblems(object: APIService, wanted: string): FieldError[] {
  const { name = '', generateName = '' } = object.metadata as { name?: string; generateName?: string };
  const detail = `must be \`spec.version+"."+spec.group\`: ${quote(wanted)}`;
  const found: FieldError[] = [];
  for (const [field, value] of Object.entries({ generateName, name })) {
    if (value === '' || value === wanted || pathSegmentProblems(value).length > 0) continue;
    found.push(invalid(`metadata.${field}`, value, detail));
  }
  return found;
}

function backendProblems({ service, caBundle = '', insecureSkipTLSVerify = false }: APIServiceSpec): FieldError[] {
  const found: FieldError[] = [];
  if (service === undefined) {
    if (caBundle !== '') {
      const size = `${base64ByteLength(caBundle)} bytes`;
      found.push(invalid('spec.caBundle', size, 'local APIServices may not have a caBundle'));
    }
    if (insecureSkipTLSVerify) {
      const detail = 'local APIServices may not have insecureSkipTLSVerify';
      found.push(invalid('spec.insecureSkipTLSVerify', true, detail));
    }
    return found;
  }
  if (!service.namespace) found.push(required('spec.service.namespace'));
  if (!service.name) found.push(required('spec.service.name'));
  if (service.port < 1 || service.port > 65_535) {
    const detail = 'port is not valid: must be between 1 and 65535, inclusive';
    found.push(invalid('spec.service.port', service.port, detail));
  }
  if (insecureSkipTLSVerify && caBundle !== '') {
    found.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
  }
  return found;
}

const CONDITION_STATUSES = ['True', 'False', 'Unknown'];

function validateStatus(next: APIService): FieldError[] {
  const { conditions = [] } = next.status;
  return conditions.flatMap(({ status }, index) => {
    if (CONDITION_STATUSES.includes(status)) return [];
    return [notSupported(`${keyPath('status.conditions', index)}.status`, status, CONDITION_STATUSES)];
  });
}
