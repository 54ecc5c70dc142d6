/** Validation and defaulting of CronJobs. */
import { mergePatch } from 'orchplane';
import { CronJob } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { NEGATIVE, pod, problemsOf } from '../apps/problems.js';
import { rejectionCauses } from '../rejections.js';

const jobTemplate = (more: object = {}) => ({
  spec: { template: { spec: { restartPolicy: 'Never' as const, ...pod } }, ...more },
});
const open = () => testCluster().api(CronJob);
const input = (more: object = {}, name = 'c') => ({
  metadata: { name },
  spec: { schedule: '*/5 * * * *', jobTemplate: jobTemplate(), ...more },
});
const TEMPLATE = 'spec.jobTemplate.spec';
const FAILURE_POLICY = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] };

describe('a CronJob', () => {
  test('sets the defaults of a CronJob, and only pod defaults in its template', async () => {
    const { spec } = await open().create(input());
    expect(spec).toMatchObject({
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    });
    expect(Object.keys(spec.jobTemplate.spec)).toEqual(['template']);
    expect(spec.jobTemplate.spec.template.spec.dnsPolicy).toBe('ClusterFirst');
  });

  test.each<[string, object, string[]]>([
    ['an empty schedule', { schedule: '' }, ['spec.schedule: Required value']],
    [
      'an invalid schedule',
      { schedule: 'x' },
      ['spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]'],
    ],
    [
      'a time zone in the schedule',
      { schedule: 'TZ=UTC 0 0 * * *' },
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'an unknown time zone',
      { timeZone: 'Nowhere' },
      ['spec.timeZone: Invalid value: "Nowhere": unknown time zone Nowhere'],
    ],
    [
      'an empty time zone',
      { timeZone: '' },
      ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
    ],
    [
      'a negative startingDeadlineSeconds',
      { startingDeadlineSeconds: -1 },
      [`spec.startingDeadlineSeconds: ${NEGATIVE}`],
    ],
    ['a negative history limit', { failedJobsHistoryLimit: -1 }, [`spec.failedJobsHistoryLimit: ${NEGATIVE}`]],
    [
      'an unknown concurrencyPolicy',
      { concurrencyPolicy: 'Maybe' },
      ['spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"'],
    ],
    [
      'a selector in the job template',
      { jobTemplate: jobTemplate({ selector: {}, manualSelector: true }) },
      [
        `${TEMPLATE}.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: \`selector\` will be auto-generated`,
        `${TEMPLATE}.manualSelector: Unsupported value: true: supported values: "nil", "false"`,
      ],
    ],
    [
      'an indexed job without completions',
      { jobTemplate: jobTemplate({ completionMode: 'Indexed' }) },
      [`${TEMPLATE}.completions: Required value: when completion mode is Indexed`],
    ],
    [
      'a condition without status in the failure policy of its template',
      { jobTemplate: jobTemplate({ podFailurePolicy: FAILURE_POLICY }) },
      [
        `${TEMPLATE}.podFailurePolicy.rules[0].onPodConditions[0].status: Required value: valid values: ["False" "True" "Unknown"]`,
      ],
    ],
  ])('rejects %s', async (_, more, problems) => {
    expect(await rejectionCauses(open().create(input(more) as never))).toEqual(problems);
  });

  test('has a name of at most 52 characters', async () => {
    expect(await problemsOf(open().create(input({}, 'a'.repeat(52))))).toEqual([]);
    const long = 'a'.repeat(53);
    expect(await rejectionCauses(open().create(input({}, long)))).toEqual([
      `metadata.name: Invalid value: "${long}": must be no more than 52 characters`,
    ]);
  });

  test('increments its generation when its template changes', async () => {
    const jobs = open();
    await jobs.create(input());
    const { metadata } = await jobs.patch('c', mergePatch({ spec: { jobTemplate: jobTemplate({ backoffLimit: 2 }) } }));
    expect(metadata.generation).toBe(2);
  });
});
