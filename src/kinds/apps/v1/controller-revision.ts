/**
 * The ControllerRevision kind: an immutable snapshot of a workload's state, for rollbacks. docs/specification.md R4
 */
import { type FieldError, invalid, required } from '../../../meta/field-error.js';
import { parseApiVersion } from '../../../meta/gvk.js';
import type { ApiObject } from '../../../meta/object.js';
import { verbatim } from '../../../text/go/go-text.js';
import { isRecord, printJson } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ControllerRevisionKind,
  type ControllerRevisionObject,
  controllerRevisionBase,
} from '../../generated/apps-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import { nonNegative } from '../../shared/field-rules.js';

export interface ControllerRevision extends ControllerRevisionObject {}

export const ControllerRevision: ControllerRevisionKind<ControllerRevision> = defineBuiltIn({
  ...controllerRevisionBase,
  strategy: {
    create: {
      validate: (object, context) => [...revisionProblems(object), ...dataProblems(object['data'], context)],
    },
    update: {
      validate: (next, live, _context, metadata) => [
        ...metadata.forCreate(),
        ...revisionProblems(next),
        ...dataUpdateProblems(next['data'], live['data']),
      ],
    },
  },
  columns: [
    nameColumn,
    textColumn('Controller', 'The workload that the revision belongs to.', controllerCell),
    textColumn('Revision', 'The revision number.', (object) => object['revision']),
    ageColumn,
  ],
});

function revisionProblems(object: ControllerRevision): FieldError[] {
  return nonNegative('revision', object.revision);
}

function dataProblems(data: unknown, { dialect }: HookContext): FieldError[] {
  if (data === undefined || data === null) {
    return dialect.rules.revisionDataIsOptional ? [] : [required('data', 'data is mandatory')];
  }
  return isRecord(data) ? [] : [required('data', 'data must be a valid JSON object')];
}

/** Data is compared as JSON text, as in the reference server: a different key order is a change. */
function dataUpdateProblems(next: unknown, live: unknown): FieldError[] {
  const [after, before] = [textOf(next), textOf(live)];
  return after === before ? [] : [invalid('data', dumpRaw(after), 'field is immutable')];
}

function textOf(data: unknown): string {
  return data === undefined ? '' : printJson(data);
}

function dumpRaw(text: string) {
  const bytes = [...new TextEncoder().encode(text)].map((byte) => `0x${byte.toString(16)}`);
  const raw = text === '' ? '[]uint8(nil)' : `[]uint8{${bytes.join(', ')}}`;
  return verbatim(`runtime.RawExtension{Raw:${raw}, Object:runtime.Object(nil)}`);
}

function controllerCell({ metadata }: ApiObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return NONE;
  const group = parseApiVersion(owner.apiVersion)?.group ?? '';
  return `${(group === '' ? owner.kind : `${owner.kind}.${group}`).toLowerCase()}/${owner.name}`;
}
