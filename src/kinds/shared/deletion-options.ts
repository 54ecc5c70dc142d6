/**
 * Validation of DeleteOptions, of a delete request or of an Eviction.
 */

import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import { type FieldError, invalid, notSupported } from '../../meta/field-error.js';
import { stringSlice } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import type { DeletionRequest, PropagationPolicy } from '../deletion.js';

/** DeleteOptions before validation. */
export interface DeletionOptions {
  readonly gracePeriodSeconds?: number | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly dryRun?: readonly string[] | undefined;
  readonly preconditions?: DeletionRequest['preconditions'] | undefined;
}

const PROPAGATION = ['Foreground', 'Background', 'Orphan'];

/** Validates the options and converts them to a DeletionRequest. Throws a 422 StatusError for invalid options. */
export function checkDeleteOptions(
  options: DeletionOptions,
  dialect: Dialect,
): DeletionRequest & { readonly dryRun: boolean } {
  const { orphanDependents, propagationPolicy: policy, gracePeriodSeconds: grace } = options;
  const problems: FieldError[] = [];
  if (orphanDependents !== undefined && policy !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    problems.push(invalid('propagationPolicy', policy, detail));
  }
  if (policy !== undefined && !PROPAGATION.includes(policy)) {
    problems.push(notSupported('propagationPolicy', policy, [...PROPAGATION, 'nil']));
  }
  append(problems, dryRunProblems(options.dryRun));
  if (problems.length > 0) {
    throw errors.invalid({ group: dialect.group(serviceGroup('meta')), kind: 'DeleteOptions' }, '', problems);
  }
  return {
    dryRun: (options.dryRun?.length ?? 0) > 0,
    preconditions: options.preconditions ?? {},
    // As in the reference server, a negative period means one second.
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace < 0 ? 1 : grace }),
    ...(policy === undefined ? {} : { propagationPolicy: policy as PropagationPolicy }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
  };
}

/** The only supported value of `dryRun` is `All`. */
export function dryRunProblems(dryRun: readonly string[] | undefined): FieldError[] {
  if (dryRun === undefined || dryRun.every((value) => value === 'All')) return [];
  return [notSupported('dryRun', stringSlice(dryRun), ['All'])];
}
