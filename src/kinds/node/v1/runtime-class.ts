/**
 * RuntimeClass: a way to run containers, what it costs beside them, and where it is to be had. What it does to a Pod
 * that names it is done by admission.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { duplicate, invalid, keyPath } from '../../../meta/field-error.js';
import { labelErrors } from '../../../meta/labels.js';
import { dnsLabelProblems } from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import { atomic, optional, pointer, resourceList } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import type { Verbatim } from '../../../text/go/go-text.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { toleration } from '../../core/v1/scheduling-types.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, MetadataErrors, WriteContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { labelDeprecation } from '../../shared/deprecated-node-labels.js';
import { validateResourceRequirements } from '../../shared/resources.js';
import { roundResourceList } from '../../shared/resources.js';
import { type Toleration, validateTolerations } from '../../shared/tolerations.js';

const overheadShape = () => ({ podFixed: optional(resourceList()) });
interface Overhead extends Output<typeof overheadShape> {}
interface OverheadInput extends Input<typeof overheadShape> {}
const overhead: Type<Overhead, OverheadInput> = type('Overhead', overheadShape);

const schedulingShape = () => ({
  nodeSelector: optional(atomic(z.record(z.string(), z.string()))),
  tolerations: optional(z.array(toleration())),
});
interface Scheduling extends Output<typeof schedulingShape> {}
interface SchedulingInput extends Input<typeof schedulingShape> {}
const scheduling: Type<Scheduling, SchedulingInput> = type('Scheduling', schedulingShape);

const shape = () => ({
  handler: z.string(),
  overhead: pointer(overhead()),
  scheduling: pointer(scheduling()),
});
export interface RuntimeClass extends ObjectBase, Output<typeof shape> {}
export interface RuntimeClassInput extends InputBase, Input<typeof shape> {}

export const RuntimeClass: Kind<RuntimeClass, RuntimeClassInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('node')}/v1`,
  kind: 'RuntimeClass',
  scope: 'Cluster',
  columns: [
    nameColumn,
    textColumn('Handler', 'What the node runs containers of this class with.', (object) => object['handler']),
    ageColumn,
  ],
  body: shape,
  strategy: {
    update: { unconditional: false, createsAbsent: true, metadata: 'placed', validate: validateUpdate },
    decode: { defaults: (draft) => roundResourceList((draft as unknown as RuntimeClass).overhead?.podFixed) },
    create: { metadata: 'plain', validate },
    write: { warnings },
  },
});

function validate(object: ApiObject, context: WriteContext): FieldError[] {
  const { handler, overhead: cost, scheduling: where } = object as unknown as RuntimeClass;
  return [
    ...dnsLabelProblems(handler).map((detail) => invalid('handler', handler, detail)),
    // What runs beside the containers is limited as they are.
    ...(cost === undefined ? [] : validateResourceRequirements('overhead', { limits: cost.podFixed }, context)),
    ...labelErrors(where?.nodeSelector ?? {}, 'scheduling.nodeSelector'),
    // The reference server names the field twice.
    ...validateTolerations(`${TOLERATIONS}.tolerations`, where?.tolerations ?? []),
    ...repeatedTolerations(where?.tolerations ?? []),
  ];
}

const TOLERATIONS = 'scheduling.tolerations';

/** Two that differ in their seconds alone are the same. */
function repeatedTolerations(tolerations: readonly Toleration[]): FieldError[] {
  const seen = new Set<string>();
  return tolerations.flatMap((one, index) => {
    const { key = '', operator = '', value = '', effect = '' } = one;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) return [duplicate(keyPath(TOLERATIONS, index), tolerationDump(one))];
    seen.add(identity);
    return [];
  });
}

function tolerationDump({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Toleration): Verbatim {
  const pointed = tolerationSeconds === undefined || tolerationSeconds === null ? 'nil' : '0xc000000000';
  return verbatim(
    `core.Toleration{Key:${quote(key)}, Operator:${quote(operator)}, Value:${quote(value)}, ` +
      `Effect:${quote(effect)}, TolerationSeconds:(*int64)(${pointed})}`,
  );
}

function warnings(object: ApiObject, _live: ApiObject | undefined, { dialect }: WriteContext): readonly string[] {
  const { nodeSelector = {} } = (object as unknown as RuntimeClass).scheduling ?? {};
  return Object.keys(nodeSelector).flatMap((label) => {
    const why = labelDeprecation(label, dialect);
    return why === undefined ? [] : [`scheduling.nodeSelector: ${why}`];
  });
}

function validateUpdate(
  next: ApiObject,
  live: ApiObject,
  context: WriteContext,
  metadata: MetadataErrors,
): FieldError[] {
  const found = [...metadata.forCreate(), ...validate(next, context), ...metadata.forUpdate()];
  if (next['handler'] !== live['handler']) found.push(invalid('handler', next['handler'], 'field is immutable'));
  return found;
}
