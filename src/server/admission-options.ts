/**
 * The options of a request as plugins, policies and webhooks see them: an object of its own.
 */
import type { Operation } from '../admission/types.js';
import { apiVersionOf } from '../meta/gvk.js';
import { metaGroup } from './context.js';
import type { WriteJob } from './job.js';

const KINDS: Readonly<Record<Operation, string>> = {
  CREATE: 'CreateOptions',
  // A patch is an update by the time plugins see it.
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: '',
};

export function admissionOptions(operation: Operation, job: WriteJob): Readonly<Record<string, unknown>> {
  const kind = KINDS[operation];
  if (kind === '') return NONE;
  const { context, request } = job;
  const typed = { kind, apiVersion: apiVersionOf({ group: metaGroup(context.dialect), version: 'v1' }) };
  if (operation === 'DELETE') return { ...typed, ...deletion(job.deletion ?? {}) };
  const { dryRun, fieldManager, fieldValidation } = request.options;
  return {
    ...typed,
    ...(dryRun === undefined ? {} : { dryRun: [...dryRun] }),
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
}

const NONE = Object.freeze({});

const DELETION_FIELDS = ['gracePeriodSeconds', 'preconditions', 'orphanDependents', 'propagationPolicy', 'dryRun'];

function deletion(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    DELETION_FIELDS.flatMap((field) => (options[field] === undefined ? [] : [[field, options[field]]])),
  );
}
