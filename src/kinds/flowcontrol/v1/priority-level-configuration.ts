/**
 * PriorityLevelConfiguration: how much of the server the requests of one level may take, and what becomes of those
 * that find no room. Who holds requests back by it is in `flowcontrol/`.
 */
import * as z from 'zod';
import { type Dialect, serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden, invalid, notSupported, required } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import {
  always,
  defaulted,
  defaultedPointer,
  int32,
  mapList,
  namedString,
  optional,
  pointer,
  timeOrNull,
  enumString,
} from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, WriteContext } from '../../kind.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';
import { bootstrapMetadata, bootstrapObjects } from './bootstrap.js';
import { priorityLevelColumns } from './columns.js';
import { validateConditions } from './conditions.js';
import { pointerDump } from './pointer-dump.js';
import { mandatoryLevel, ownedLevelSpec, suggestedLevels } from './priority-level-bootstrap.js';
import { PRIORITY_LEVELS } from './resources.js';
import { keepUp } from './upkeep.js';

const queuingConfigurationShape = () => ({
  queues: defaulted(int32(), 64),
  handSize: defaulted(int32(), 8),
  queueLengthLimit: defaulted(int32(), 50),
});
export interface QueuingConfiguration extends Output<typeof queuingConfigurationShape> {}
export interface QueuingConfigurationInput extends Input<typeof queuingConfigurationShape> {}
const queuingConfiguration: Type<QueuingConfiguration, QueuingConfigurationInput> = type(
  'QueuingConfiguration',
  queuingConfigurationShape,
);

const limitResponseShape = () => ({
  type: enumString<'Queue' | 'Reject'>('v1.LimitResponseType'),
  queuing: pointer(queuingConfiguration()),
});
export interface LimitResponse extends Output<typeof limitResponseShape> {}
export interface LimitResponseInput extends Input<typeof limitResponseShape> {}
const limitResponse: Type<LimitResponse, LimitResponseInput> = type('LimitResponse', limitResponseShape);

export const limitedShape = () => ({
  nominalConcurrencyShares: defaultedPointer(int32(), 30),
  limitResponse: always(limitResponse()),
  lendablePercent: defaultedPointer(int32(), 0),
  borrowingLimitPercent: pointer(int32()),
});
interface Limited extends Output<typeof limitedShape> {}
interface LimitedInput extends Input<typeof limitedShape> {}
const limited: Type<Limited, LimitedInput> = type('LimitedPriorityLevelConfiguration', limitedShape);

const exemptShape = () => ({
  nominalConcurrencyShares: defaultedPointer(int32(), 0),
  lendablePercent: defaultedPointer(int32(), 0),
});
interface Exempt extends Output<typeof exemptShape> {}
interface ExemptInput extends Input<typeof exemptShape> {}
const exempt: Type<Exempt, ExemptInput> = type('ExemptPriorityLevelConfiguration', exemptShape);

export const priorityLevelConfigurationSpecShape = () => ({
  type: enumString<'Exempt' | 'Limited'>('v1.PriorityLevelEnablement'),
  limited: pointer(limited()),
  exempt: pointer(exempt()),
});
export interface PriorityLevelConfigurationSpec extends Output<typeof priorityLevelConfigurationSpecShape> {}
export interface PriorityLevelConfigurationSpecInput extends Input<typeof priorityLevelConfigurationSpecShape> {}
const priorityLevelConfigurationSpec: Type<PriorityLevelConfigurationSpec, PriorityLevelConfigurationSpecInput> = type(
  'PriorityLevelConfigurationSpec',
  priorityLevelConfigurationSpecShape,
);

const conditionShape = () => ({
  type: optional(namedString('v1.PriorityLevelConfigurationConditionType')),
  status: optional(enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus')),
  lastTransitionTime: timeOrNull(),
  reason: optional(z.string()),
  message: optional(z.string()),
});
interface Condition extends Output<typeof conditionShape> {}
interface ConditionInput extends Input<typeof conditionShape> {}
export const levelCondition: Type<Condition, ConditionInput> = type(
  'PriorityLevelConfigurationCondition',
  conditionShape,
);

const statusShape = () => ({ conditions: optional(mapList(levelCondition(), 'type')) });
interface Status extends Output<typeof statusShape> {}
interface StatusInput extends Input<typeof statusShape> {}
const status: Type<Status, StatusInput> = type('PriorityLevelConfigurationStatus', statusShape);

const shape = () => ({ spec: always(priorityLevelConfigurationSpec()), status: always(status()) });
export interface PriorityLevelConfiguration extends ObjectBase, Output<typeof shape> {}
export interface PriorityLevelConfigurationInput extends InputBase, Input<typeof shape> {}

export const PriorityLevelConfiguration: Kind<
  PriorityLevelConfiguration,
  PriorityLevelConfigurationInput,
  'Cluster',
  'status'
> = defineBuiltIn({
  apiVersion: `${serviceGroup('flowcontrol.apiserver')}/v1`,
  kind: 'PriorityLevelConfiguration',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.29' },
  columns: priorityLevelColumns,
  initial: (dialect) =>
    bootstrapObjects(mandatoryLevel, suggestedLevels()).map(([name, spec]) => ({
      metadata: bootstrapMetadata(name, dialect, { spec: ownedLevelSpec(spec), isReported: false }),
      spec,
      status: {},
    })),
  reconciler: (server) =>
    keepUp(server, {
      resource: PRIORITY_LEVELS,
      specs: () => bootstrapObjects(mandatoryLevel, suggestedLevels()),
    }),
  body: shape,
  strategy: {
    write: { generation: specGeneration, separateStatus: true },
    update: { steps: ['change', 'whole'] },
    create: { validate },
  },
  subresources: { status: statusSubresource({ metadata: 'whole', validate: validateStatus }) },
});

/** By which v1beta3 tells a level without shares from one that says nothing. */
export function zeroSharesAnnotation(dialect: Dialect): string {
  return `${dialect.group(serviceGroup('flowcontrol'))}/v1beta3-preserve-zero-concurrency-shares`;
}

function validate(object: ApiObject, { dialect }: WriteContext): FieldError[] {
  const { metadata, spec } = object as unknown as PriorityLevelConfiguration;
  // An object that lacks a name is judged, too.
  const { name = '' }: { name?: string } = metadata;
  const found: FieldError[] = [];
  // An older version keeps its zeros by it; in this one it would mean nothing.
  const annotation = zeroSharesAnnotation(dialect);
  if (Object.hasOwn(metadata.annotations ?? {}, annotation)) {
    found.push(forbidden('metadata.annotations', `annotation '${annotation}' is forbidden`));
  }
  return [...found, ...validateSpec(spec, name), ...fixedSpecProblems(spec, name), ...validateStatus(object)];
}

function validateStatus(object: ApiObject): FieldError[] {
  return validateConditions((object as unknown as PriorityLevelConfiguration).status.conditions);
}

function validateSpec(spec: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const found: FieldError[] = [];
  if ((name === 'exempt') !== (spec.type === 'Exempt')) {
    found.push(invalid('spec.type', spec.type, "type must be 'Exempt' if and only if name is 'exempt'"));
  }
  switch (spec.type) {
    case 'Exempt':
      if (spec.limited !== undefined) found.push(forbidden('spec.limited', 'must be nil if the type is not Limited'));
      if (spec.exempt !== undefined) found.push(...validateShares('spec.exempt', spec.exempt));
      return found;
    case 'Limited':
      if (spec.exempt !== undefined) found.push(forbidden('spec.exempt', 'must be nil if the type is Limited'));
      if (spec.limited !== undefined) found.push(...validateLimited('spec.limited', spec.limited));
      else found.push(required('spec.limited', 'must not be empty when type is Limited'));
      return found;
    default:
      return [...found, notSupported('spec.type', spec.type, ['Exempt', 'Limited'])];
  }
}

function validateShares(path: string, { nominalConcurrencyShares: shares, lendablePercent }: Exempt): FieldError[] {
  return [...validateNominal(path, shares), ...validateLendable(path, lendablePercent)];
}

function validateLimited(path: string, level: Limited): FieldError[] {
  const { nominalConcurrencyShares: shares, lendablePercent, borrowingLimitPercent: borrowed } = level;
  const found = validateNominal(path, shares);
  found.push(...validateResponse(childPath(path, 'limitResponse'), level.limitResponse));
  found.push(...validateLendable(path, lendablePercent));
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
/** So many bits of a flow's hash are there to deal a hand from. */
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

/** Two levels must be as they are: one for what may never wait, one for what belongs nowhere else. */
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
