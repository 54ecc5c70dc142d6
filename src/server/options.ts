/**
 * Validation of request options per verb, in the order in which the reference server reports errors. spec: Parameters
 */
import type { FeatureGates } from '../kinds/feature-gates.js';
import { dryRunProblems } from '../kinds/shared/deletion-options.js';
import { managerNameErrors } from '../kinds/shared/metadata-errors.js';
import type { Dialect } from '../meta/dialect.js';
import { errors } from '../meta/errors.js';
import { type FieldError, forbidden, notSupported, required } from '../meta/field-error.js';
import type { PatchType, RequestOptions } from '../protocol/request.js';
import { metaGroup } from './context.js';
import { checkSelectorSyntax } from './selection.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** The validated options of a write. */
export interface CheckedWriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string | undefined;
  readonly force: boolean;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'ListOptions';

/** Throws 422 with all errors. */
export function checkWriteOptions(
  options: RequestOptions,
  kind: 'CreateOptions' | 'UpdateOptions',
  dialect: Dialect,
): CheckedWriteOptions {
  return checkOptions(options, writeProblems(options), { kind, dialect });
}

/** As {@link checkWriteOptions}; apply requires a field manager, and only apply allows `force`. */
export function checkPatchOptions(
  options: RequestOptions,
  patchType: PatchType,
  dialect: Dialect,
): CheckedWriteOptions {
  const problems: FieldError[] = [];
  if (patchType === 'apply' && !options.fieldManager) {
    problems.push(required('fieldManager', 'is required for apply patch'));
  }
  if (patchType !== 'apply' && options.force !== undefined) {
    problems.push(forbidden('force', 'may not be specified for non-apply patch'));
  }
  return checkOptions(options, [...problems, ...writeProblems(options)], { kind: 'PatchOptions', dialect });
}

function checkOptions(
  options: RequestOptions,
  problems: readonly FieldError[],
  optionsType: { kind: OptionsKind; dialect: Dialect },
): CheckedWriteOptions {
  refuse(problems, optionsType);
  return {
    dryRun: (options.dryRun?.length ?? 0) > 0,
    fieldValidation: (options.fieldValidation || 'Warn') as FieldValidation,
    fieldManager: options.fieldManager || undefined,
    force: options.force === true,
  };
}

function refuse(problems: readonly FieldError[], optionsType: { kind: OptionsKind; dialect: Dialect }): void {
  if (problems.length === 0) return;
  throw errors.invalid({ group: metaGroup(optionsType.dialect), kind: optionsType.kind }, '', problems);
}

function writeProblems(options: RequestOptions): readonly FieldError[] {
  const { fieldManager, dryRun, fieldValidation } = options;
  // The usual case.
  if (fieldManager === undefined && dryRun === undefined && fieldValidation === undefined) return NONE;
  return [
    ...managerNameErrors(fieldManager, 'fieldManager'),
    ...dryRunProblems(dryRun),
    ...fieldValidationProblems(fieldValidation),
  ];
}

const NONE: readonly FieldError[] = Object.freeze([]);

const FIELD_VALIDATION = ['', 'Ignore', 'Strict', 'Warn'];

function fieldValidationProblems(value: string | undefined): FieldError[] {
  return value === undefined || FIELD_VALIDATION.includes(value)
    ? []
    : [notSupported('fieldValidation', value, FIELD_VALIDATION)];
}

/** Throws 400 for a malformed selector, 422 for a list whose options contradict each other. */
export function checkListOptions(options: RequestOptions, dialect: Dialect): void {
  checkSelectorSyntax(options);
  const problems: FieldError[] = [];
  const match = options.resourceVersionMatch;
  const say = (detail: string) => problems.push(forbidden('resourceVersionMatch', detail));
  if (match) {
    if (!options.resourceVersion) say('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (options.continue) say('resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      problems.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && options.resourceVersion === '0') {
      say('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
  }
  if (options.sendInitialEvents !== undefined) {
    problems.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  refuse(problems, { kind: 'ListOptions', dialect });
}

/** The validated options of a watch. */
export interface CheckedWatchOptions {
  readonly sendInitialEvents: boolean;
  /** A bookmark marks the end of the initial events. */
  readonly markInitialEventsEnd: boolean;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds: number;
}

/** Throws 400 for a malformed selector, 422 for a watch whose options contradict each other. spec: Watch */
export function checkWatchOptions(
  options: RequestOptions,
  { dialect, features }: { readonly dialect: Dialect; readonly features: FeatureGates },
): CheckedWatchOptions {
  checkSelectorSyntax(options);
  const hasStreamingLists = features.enabled('WatchList');
  const fromState = !options.resourceVersion || options.resourceVersion === '0';
  // A watch without a resourceVersion gets initial events; with the gate as if it had requested them.
  const isLegacy = fromState && options.sendInitialEvents === undefined && !options.resourceVersionMatch;
  const isImplied = isLegacy && hasStreamingLists;
  const sendInitialEvents = isImplied ? true : options.sendInitialEvents;
  const match = isImplied ? 'NotOlderThan' : options.resourceVersionMatch;
  const allowBookmarks = options.allowWatchBookmarks === true;
  const problems: FieldError[] = [];
  const say = (detail: string) => problems.push(forbidden('resourceVersionMatch', detail));
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    say('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  }
  if (sendInitialEvents !== undefined && !hasStreamingLists) {
    const detail = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    problems.push(forbidden('sendInitialEvents', detail));
  }
  if (match) {
    if (sendInitialEvents === undefined) {
      say('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    }
    if (match !== 'NotOlderThan') problems.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
    if (options.continue) say('resourceVersionMatch is forbidden when continue is provided');
  }
  refuse(problems, { kind: 'ListOptions', dialect });
  return {
    sendInitialEvents: isLegacy || sendInitialEvents === true,
    markInitialEventsEnd: allowBookmarks && hasStreamingLists,
    allowBookmarks,
    timeoutSeconds: options.timeoutSeconds ?? 0,
  };
}
