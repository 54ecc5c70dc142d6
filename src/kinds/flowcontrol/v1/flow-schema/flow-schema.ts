/**
 * FlowSchema: which requests go to which priority level. Who holds requests back by it is in `flowcontrol/`.
 */

import { type FieldSet, LEAF, setOfFields } from '../../../../merge/apply/field-set.js';
import { serviceGroup } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import type { ApiObject } from '../../../../meta/object.js';
import type { Input, Output } from '../../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../../define-kind.js';
import type { Kind } from '../../../kind.js';
import { specGeneration, statusSubresource } from '../../../shared/strategies.js';
import { bootstrapMetadata, bootstrapObjects, danglingCondition } from '../bootstrap.js';
import { flowSchemaColumns, flowSchemaOrder } from '../columns.js';
import { validateConditions } from '../conditions.js';
import { FLOW_SCHEMAS } from '../resources.js';
import { keepUp } from '../upkeep.js';
import { attendFlowSchemas } from './attend.js';
import { mandatoryFlow, suggestedFlows } from './bootstrap.js';
import { fixedSpecProblems } from './fixed.js';
import { type FlowSchemaSpec, flowSchemaShape } from './schema.js';
import { validateFlowSchemaSpec } from './validate.js';

export interface FlowSchema extends ObjectBase, Output<typeof flowSchemaShape> {}
export interface FlowSchemaInput extends InputBase, Input<typeof flowSchemaShape> {}

export const FlowSchema: Kind<FlowSchema, FlowSchemaInput, 'Cluster', 'status'> = defineBuiltIn({
  apiVersion: `${serviceGroup('flowcontrol.apiserver')}/v1`,
  kind: 'FlowSchema',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.29' },
  columns: flowSchemaColumns,
  rowOrder: flowSchemaOrder,
  initial: (dialect, now) =>
    bootstrapObjects(mandatoryFlow, suggestedFlows(dialect)).map(([name, spec]) => ({
      metadata: bootstrapMetadata(name, dialect, { spec: ownedSpec(spec), isReported: true }),
      spec,
      status: { conditions: [danglingCondition(spec.priorityLevelConfiguration.name, true, now)] },
    })),
  attend: (server) => {
    const dangling = attendFlowSchemas(server);
    const upkeep = keepUp(server, {
      resource: FLOW_SCHEMAS,
      specs: (dialect) => bootstrapObjects(mandatoryFlow, suggestedFlows(dialect)),
    });
    return {
      settle() {
        upkeep.settle();
        dangling.settle();
      },
    };
  },
  body: flowSchemaShape,
  strategy: {
    generation: specGeneration,
    statusApart: true,
    updateSteps: ['change', 'whole'],
    validate,
  },
  subresources: { status: statusSubresource({ metadata: 'whole', validateUpdate: validateStatus }) },
});

function ownedSpec({ distinguisherMethod }: FlowSchemaSpec): FieldSet {
  const distinguisher = { 'f:distinguisherMethod': { '.': LEAF, 'f:type': LEAF } };
  const rest = setOfFields(['matchingPrecedence', 'priorityLevelConfiguration.name', 'rules']);
  return distinguisherMethod === undefined ? rest : { ...distinguisher, ...rest };
}

function validate(object: ApiObject): FieldError[] {
  const { metadata, spec } = object as unknown as FlowSchema;
  // An object that lacks a name is judged, too.
  const { name = '' }: { name?: string } = metadata;
  return [
    ...validateFlowSchemaSpec('spec', spec, name),
    ...fixedSpecProblems('spec', spec, name),
    ...validateStatus(object),
  ];
}

function validateStatus(object: ApiObject): FieldError[] {
  return validateConditions((object as unknown as FlowSchema).status.conditions);
}
