/**
 * The PodTemplate kind: a pod template as an object.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { labelSelectorFrom, printLabelSelector } from '../../../meta/labels.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type PodTemplateKind, type PodTemplateObject, podTemplateBase } from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { containerColumns, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import {
  dropDisabledTemplateFields,
  podTemplateDefaults,
  podTemplateProblems,
  podTemplateWarnings,
} from './pod-spec/pod-template.js';

export interface PodTemplate extends PodTemplateObject {}

export const PodTemplate: PodTemplateKind<PodTemplate> = defineBuiltIn({
  ...podTemplateBase,
  columns: [
    nameColumn,
    ...containerColumns<PodTemplate>((object) => object.template.spec).map((column) => ({ ...column, priority: 0 })),
    textColumn('Pod Labels', 'The labels of its pods.', (object) => {
      const { labels = {} } = object.template.metadata ?? {};
      return printLabelSelector(labelSelectorFrom(labels)) || NONE;
    }),
  ],
  strategy: {
    delete: { returnDeletedObject: true },
    write: {
      generation: (next, live) => !deepEqual(next['template'], live['template']),
      warnings: (object, live, context) =>
        live !== undefined && live.metadata.generation === object.metadata.generation
          ? []
          : podTemplateWarnings('template', object.template, context),
    },
    decode: { defaults: (draft) => podTemplateDefaults(draft.template) },
    create: {
      prepare: (draft, { features }) => dropDisabledTemplateFields(draft.template, undefined, features),
      validate: (object, context) => templateProblems(object, undefined, context),
    },
    update: {
      prepare: (draft, live, { features }) => dropDisabledTemplateFields(draft.template, live.template, features),
      validate: (next, live, context) => templateProblems(next, live, context),
    },
  },
});

function templateProblems(next: PodTemplate, live: PodTemplate | undefined, context: HookContext): FieldError[] {
  return podTemplateProblems('template', next.template, {
    ...context,
    live: live === undefined ? undefined : live.template.spec,
  });
}
