/**
 * The PriorityLevelConfiguration kind: the concurrency limit of a priority level, and what happens to excess requests.
 * `src/flowcontrol` applies it to requests.
 */

import { type Dialect, serviceGroup } from '../../../meta/dialect.js';
import { childPath, type FieldError, forbidden, invalid, notSupported, required } from '../../../meta/field-error.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ExemptPriorityLevelConfiguration,
  type LimitedPriorityLevelConfiguration,
  type LimitResponse,
  type PriorityLevelConfigurationKind,
  type PriorityLevelConfigurationObject,
  type PriorityLevelConfigurationSpec,
  priorityLevelConfigurationBase,
  type QueuingConfiguration,
} from '../../generated/flowcontrol-v1.js';
import type { HookContext } from '../../kind.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';
import { bootstrapMetadata, bootstrapObjects } from './bootstrap.js';
import { priorityLevelColumns } from './columns.js';
import { pointerDump, validateConditions } from './common-rules.js';
import { mandatoryLevel, ownedLevelSpec, suggestedLevels } from './priority-level-bootstrap.js';
import { PRIORITY_LEVELS } from './resources.js';
import { bootstrapReconciler } from './upkeep.js';

export interface PriorityLevelConfiguration extends PriorityLevelConfigurationObject {}

export const PriorityLevelConfiguration: PriorityLevelConfigurationKind<PriorityLevelConfiguration> = defineBuiltIn({
  ...priorityLevelConfigurationBase,
  lifecycle: { introducedIn: '1.29' },
  columns: priorityLevelColumns,
  initial: (dialect) =>
    bootstrapObjects(mandatoryLevel, suggestedLevels()).map(([name, spec]) => ({
      metadata: bootstrapMetadata(name, dialect, { spec: ownedLevelSpec(spec), isReported: false }),
      spec,
      status: {},
    })),
  reconciler: (server) =>
    bootstrapReconciler(server, {
      resource: PRIORITY_LEVELS,
      specs: () => bootstrapObjects(mandatoryLevel, suggestedLevels()),
    }),
  strategy: {
    write: { generation: specGeneration, separateStatus: true },
    update: { validationOrder: ['update', 'create'] },
    create: { validate },
  },
  subresources: { status: statusSubresource({ metadata: 'whole', validate: validateStatus }) },
});

/** The annotation by which v1beta3 distinguishes zero shares from absent shares. */
export function zeroSharesAnnotation(dialect: Dialect): string {
  return `${dialect.group(serviceGroup('flowcontrol'))}/v1beta3-preserve-zero-concurrency-shares`;
}

function validate(object: PriorityLevelConfiguration, { dialect }: HookContext): FieldError[] {
  const { metadata, spec } = object;
  // Validation also runs for an object without a name.
  const { name = '' }: { name?: string } = metadata;
  const found: FieldError[] = [];
  // The annotation belongs to v1beta3 and is invalid in this version.
  const annotation = zeroSharesAnnotation(dialect);
  if (Object.hasOwn(metadata.annotations ?? {}, annotation)) {
    found.push(forbidden('metadata.annotations', `annotation '${annotation}' is forbidden`));
  }
  return [...found, ...validateSpec(spec, name), ...fixedSpecProblems(spec, name), ...validateStatus(object)];
}

function validateStatus(object: PriorityLevelConfiguration): FieldError[] {
  return validateConditions(object.status.conditions);
}

function validateSpec(spec: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const found: FieldError[] = [];
  if ((name === 'exempt') !== (spec.type === 'Exempt')) {
    found.push(invalid('spec.type', spec.type, "type must be 'Exempt' if and only if name is 'exempt'"));
  }
  switch (spec.type) {
    case 'Exempt':
      if (spec.limited !== undefined) found.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
      if (spec.exempt !== undefined) append(found, validateShares('spec.exempt', spec.exempt));
      return found;
    case 'Limited':
      if (spec.exempt !== undefined) found.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
      if (spec.limited !== undefined) append(found, validateLimited('spec.limited', spec.limited));
      else found.push(required('spec.limited', 'must not be empty when type is Limited'));
      return found;
    default:
      return [...found, notSupported('spec.type', spec.type, ['Exempt', 'Limited'])];
  }
}

function validateShares(
  path: string,
  { nominalConcurrencyShares: shares, lendablePercent }: ExemptPriorityLevelConfiguration,
): FieldError[] {
  return [...validateNominal(path, shares), ...validateLendable(path, lendablePercent)];
}

function validateLimited(path: string, level: LimitedPriorityLevelConfiguration): FieldError[] {
  const { nominalConcurrencyShares: shares, lendablePercent, borrowingLimitPercent: borrowed } = level;
  const found = validateNominal(path, shares);
  append(found, validateResponse(childPath(path, 'limitResponse'), level.limitResponse));
  append(found, validateLendable(path, lendablePercent));
  if (borrowed !== undefined && borrowed < 0) {
    const detail = 'if specified, must be a non-negative integer';
    found.push(invalid(childPath(path, 'borrowingLimitPercent'), borrowed, detail));
  }
  return found;
}

function validateNominal(path: string, shares: number): FieldError[] {
  if (shares >= 0) return [];
  return [invalid(childPath(path, 'nominalConcurrencyShares'), shares, 'must be a non-negative integer')];
}

function validateLendable(path: string, percent: number): FieldError[] {
  if (percent >= 0 && percent <= 100) return [];
  return [invalid(childPath(path, 'lendablePercent'), percent, 'must be between 0 and 100, inclusive')];
}

function validateResponse(path: string, response: LimitResponse): FieldError[] {
  const at = childPath(path, 'queuing');
  const { queuing } = response;
  switch (response.type) {
    case 'Reject':
      if (queuing === undefined) return [];
      return [forbidden(at, 'must be nil if limited.limitResponse.type is not Limited')];
    case 'Queue':
      if (queuing !== undefined) return validateQueuing(at, queuing);
      return [required(at, 'must not be empty if limited.limitResponse.type is Limited')];
    default:
      return [notSupported(childPath(path, 'type'), response.type, ['Queue', 'Reject'])];
  }
}

const MAX_QUEUES = 10_000_000;
/** The number of hash bits that are available for shuffle sharding. */
const MAX_HASH_BITS = 60;

function validateQueuing(path: string, { queueLengthLimit, queues, handSize }: QueuingConfiguration): FieldError[] {
  const found: FieldError[] = [];
  const bad = (field: string, value: number, detail: string) =>
    found.push(invalid(childPath(path, field), value, detail));
  if (queueLengthLimit <= 0) bad('queueLengthLimit', queueLengthLimit, 'must be positive');
  if (queues <= 0) bad('queues', queues, 'must be positive');
  else if (queues > MAX_QUEUES) bad('queues', queues, `must not be greater than ${MAX_QUEUES}`);
  if (handSize <= 0) bad('handSize', handSize, 'must be positive');
  else if (handSize > queues) bad('handSize', handSize, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * handSize) > MAX_HASH_BITS) {
    const needed = `required entropy bits of deckSize ${queues} and handSize ${handSize}`;
    bad('handSize', handSize, `${needed} should not be greater than ${MAX_HASH_BITS}`);
  }
  return found;
}

/** Rejects changes of the mandatory levels `exempt` and `catch-all`. */
function fixedSpecProblems(spec: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const { limited: limits, exempt: free } = spec;
  const parts = [
    `Type:${quote(spec.type)}`,
    `Limited:${pointerDump('LimitedPriorityLevelConfiguration', limits)}`,
    `Exempt:${pointerDump('ExemptPriorityLevelConfiguration', free)}`,
  ];
  const dump = verbatim(`flowcontrol.PriorityLevelConfigurationSpec{${parts.join(', ')}}`);
  if (name === 'exempt' && (spec.type !== 'Exempt' || limits !== undefined)) {
    return [invalid('spec', dump, `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`)];
  }
  if (name === 'catch-all' && !deepEqual(spec, mandatoryLevel(name))) {
    return [invalid('spec', dump, `spec of '${name}' must equal the fixed value`)];
  }
  return [];
}
