/**
 * The CronJob kind: creates Jobs on a schedule. spec: CronJob
 */

import { type FieldError, invalid, notSupported, required } from '../../../meta/field-error.js';
import { lengthMessage } from '../../../meta/names.js';
import { cronProblem, timeZoneProblems } from '../../../text/time/cron.js';
import { dropDisabledTemplateFields, podTemplateDefaults } from '../../core/v1/pod-spec/pod-template.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type CronJobKind,
  type CronJobObject,
  type CronJobSpec,
  cronJobBase,
  type JobSpec,
} from '../../generated/batch-v1.js';
import type { HookContext } from '../../kind.js';
import {
  ageColumn,
  containerColumns,
  countColumn,
  NONE,
  nameColumn,
  selectorColumn,
  since,
  textColumn,
} from '../../shared/common-columns.js';
import { nonNegative } from '../../shared/field-rules.js';
import { goSyntaxLabelSelector } from '../../shared/go-syntax.js';
import { podNameWarnings, specGeneration, statusSubresource } from '../../shared/strategies.js';
import { jobSpecWarnings, jobTemplateProblems } from './job/validate.js';

export interface CronJob extends CronJobObject {}

export const CronJob: CronJobKind<CronJob> = defineBuiltIn({
  ...cronJobBase,
  names: { shortNames: ['cj'], categories: ['all'] },
  strategy: {
    write: { separateStatus: true, generation: specGeneration, warnings },
    decode: { defaults: (draft) => podTemplateDefaults(templateOf(draft).template) },
    create: {
      prepare: (draft, { features }) => dropDisabledTemplateFields(templateOf(draft).template, undefined, features),
      validate: (object, context) => [
        ...specProblems(object.spec, { context, live: undefined }),
        ...nameProblems(object.metadata.name),
      ],
    },
    update: {
      prepare: (draft, live, { features }) =>
        dropDisabledTemplateFields(templateOf(draft).template, templateOf(live).template, features),
      validate: (next, live, context) => specProblems(next.spec, { context, live: live.spec }),
    },
  },
  subresources: { status: statusSubresource({ metadataValidation: 'none' }) },
  columns: [
    nameColumn,
    textColumn('Schedule', 'The schedule as a cron expression.', (object) => object.spec.schedule),
    textColumn('Timezone', 'The time zone of the schedule.', (object) => object.spec.timeZone ?? NONE),
    {
      name: 'Suspend',
      type: 'boolean',
      description: 'Whether the creation of jobs is suspended.',
      cell: (object) => (object.spec.suspend ? 'True' : 'False'),
    },
    countColumn('Active', 'The number of jobs that are running.', (object) => (object.status.active ?? []).length),
    textColumn('Last Schedule', 'The time since the last job was scheduled.', (object, context) => {
      const { lastScheduleTime } = object.status;
      return lastScheduleTime === undefined ? NONE : since(lastScheduleTime, context);
    }),
    ageColumn,
    ...containerColumns<CronJob>((object) => templateOf(object).template.spec),
    selectorColumn((object) => templateOf(object).selector),
  ],
});

function templateOf(object: CronJob): JobSpec {
  return object.spec.jobTemplate.spec;
}

/** A Job's name is the CronJob's name and an eleven-character timestamp. */
const MAX_NAME = 63 - 11;

/** An absent name is reported by the metadata rules. */
function nameProblems(name = ''): FieldError[] {
  return name.length > MAX_NAME ? [invalid('metadata.name', name, lengthMessage(MAX_NAME))] : [];
}

interface SpecOptions {
  readonly context: HookContext;
  readonly live: CronJobSpec | undefined;
}

function specProblems(spec: CronJobSpec, options: SpecOptions): FieldError[] {
  const { live } = options;
  return [
    ...scheduleProblems(spec, live),
    ...nonNegative('spec.startingDeadlineSeconds', spec.startingDeadlineSeconds),
    ...(live !== undefined && live.timeZone === spec.timeZone ? [] : zoneProblems(spec.timeZone)),
    ...concurrencyProblems(spec.concurrencyPolicy),
    ...templateProblems('spec.jobTemplate.spec', spec.jobTemplate.spec, options),
    ...nonNegative('spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit),
    ...nonNegative('spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit),
  ];
}

function scheduleProblems({ schedule, timeZone }: CronJobSpec, live: CronJobSpec | undefined): FieldError[] {
  const path = 'spec.schedule';
  if (schedule === '') return [required(path)];
  const problem = cronProblem(schedule);
  const problems = problem === undefined ? [] : [invalid(path, schedule, problem)];
  if (!schedule.includes('TZ')) return problems;
  const hadZone = live?.schedule.includes('TZ') ?? false;
  if (!hadZone) {
    const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
    problems.push(invalid(path, schedule, detail));
  } else if (timeZone !== undefined) {
    problems.push(invalid(path, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'));
  }
  return problems;
}

function zoneProblems(timeZone: string | undefined): FieldError[] {
  if (timeZone === undefined) return [];
  return timeZoneProblems(timeZone).map((problem) => invalid('spec.timeZone', timeZone, problem));
}

const CONCURRENCY_POLICIES = ['Allow', 'Forbid', 'Replace'];

function concurrencyProblems(policy: string): FieldError[] {
  if (CONCURRENCY_POLICIES.includes(policy)) return [];
  return [notSupported('spec.concurrencyPolicy', policy, CONCURRENCY_POLICIES)];
}

/** Rejects a selector: every Job gets a generated one. */
function templateProblems(path: string, spec: JobSpec, { context, live }: SpecOptions): FieldError[] {
  const problems = jobTemplateProblems(path, spec, { context, live: live?.jobTemplate.spec.template.spec });
  if (spec.selector !== undefined) {
    problems.push(
      invalid(`${path}.selector`, goSyntaxLabelSelector(spec.selector), '`selector` will be auto-generated'),
    );
  }
  if (spec.manualSelector === true) problems.push(notSupported(`${path}.manualSelector`, true, ['nil', 'false']));
  return problems;
}

function warnings(object: CronJob, live: CronJob | undefined, context: HookContext): readonly string[] {
  if (live !== undefined && live.metadata.generation === object.metadata.generation) return [];
  return [...podNameWarnings(object, live), ...jobSpecWarnings('spec.jobTemplate.spec', templateOf(object), context)];
}
