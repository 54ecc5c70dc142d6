/**
 * The RuntimeClass kind: a container runtime, its overhead and the nodes that support it. An admission plugin applies
 * it to pods.
 */

import { duplicate, type FieldError, invalid, keyPath } from '../../../meta/field-error.js';
import { labelErrors } from '../../../meta/labels.js';
import { dnsLabelProblems } from '../../../meta/names.js';
import { quote, type Verbatim, verbatim } from '../../../text/go/go-text.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type RuntimeClassKind, type RuntimeClassObject, runtimeClassBase } from '../../generated/node-v1.js';
import type { HookContext, MetadataErrors } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { labelDeprecation } from '../../shared/deprecated-node-labels.js';
import { roundResourceList, validateResourceRequirements } from '../../shared/resources.js';
import { type Toleration, validateTolerations } from '../../shared/tolerations.js';

export interface RuntimeClass extends RuntimeClassObject {}

export const RuntimeClass: RuntimeClassKind<RuntimeClass> = defineBuiltIn({
  ...runtimeClassBase,
  columns: [
    nameColumn,
    textColumn('Handler', 'The runtime handler that nodes use for pods of this class.', (object) => object['handler']),
    ageColumn,
  ],
  strategy: {
    update: {
      allowUnconditionalUpdate: false,
      allowCreateOnUpdate: true,
      metadataValidation: 'inValidate',
      validate: validateUpdate,
    },
    decode: { defaults: (draft) => roundResourceList(draft.overhead?.podFixed) },
    create: { metadataValidation: 'repeated', validate },
    write: { warnings },
  },
});

function validate(object: RuntimeClass, context: HookContext): FieldError[] {
  const { handler, overhead: cost, scheduling: where } = object;
  return [
    ...dnsLabelProblems(handler).map((detail) => invalid('handler', handler, detail)),
    // The overhead has the rules of container resources.
    ...(cost === undefined ? [] : validateResourceRequirements('overhead', { limits: cost.podFixed }, context)),
    ...labelErrors(where?.nodeSelector ?? {}, 'scheduling.nodeSelector'),
    // The reference server repeats the field's name in the path.
    ...validateTolerations(`${TOLERATIONS}.tolerations`, where?.tolerations ?? []),
    ...repeatedTolerations(where?.tolerations ?? []),
  ];
}

const TOLERATIONS = 'scheduling.tolerations';

/** Tolerations that differ only in `tolerationSeconds` are duplicates. */
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

function warnings(object: RuntimeClass, _live: RuntimeClass | undefined, { dialect }: HookContext): readonly string[] {
  const { nodeSelector = {} } = object.scheduling ?? {};
  return Object.keys(nodeSelector).flatMap((label) => {
    const why = labelDeprecation(label, dialect);
    return why === undefined ? [] : [`scheduling.nodeSelector: ${why}`];
  });
}

function validateUpdate(
  next: RuntimeClass,
  live: RuntimeClass,
  context: HookContext,
  metadata: MetadataErrors,
): FieldError[] {
  const found = [...metadata.forCreate(), ...validate(next, context), ...metadata.forUpdate()];
  if (next['handler'] !== live['handler']) found.push(invalid('handler', next['handler'], 'field is immutable'));
  return found;
}
