/** CronJobs. */
import { mergePatch } from 'orchplane';
import { CronJob } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { NEGATIVE, pod, problemsOf } from '../apps/problems.js';
import { refusals } from '../refusals.js';

const jobTemplate = (more: object = {}) => ({
  spec: { template: { spec: { restartPolicy: 'Never' as const, ...pod } }, ...more },
});
const open = () => testCluster().api(CronJob);
const input = (more: object = {}, name = 'c') => ({
  metadata: { name },
  spec: { schedule: '*/5 * * * *', jobTemplate: jobTemplate(), ...more },
});
const TEMPLATE = 'spec.jobTemplate.spec';

describe('a cron job', () => {
  test('gets its defaults, its template only those of the pods', async () => {
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
    ['no schedule', { schedule: '' }, ['spec.schedule: Required value']],
    [
      'no schedule at all',
      { schedule: 'x' },
      ['spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]'],
    ],
    [
      'a zone in the schedule',
      { schedule: 'TZ=UTC 0 0 * * *' },
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'an unknown zone',
      { timeZone: 'Nowhere' },
      ['spec.timeZone: Invalid value: "Nowhere": unknown time zone Nowhere'],
    ],
    ['no zone', { timeZone: '' }, ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']],
    ['a deadline in the past', { startingDeadlineSeconds: -1 }, [`spec.startingDeadlineSeconds: ${NEGATIVE}`]],
    ['a history below nothing', { failedJobsHistoryLimit: -1 }, [`spec.failedJobsHistoryLimit: ${NEGATIVE}`]],
    [
      'an unknown policy',
      { concurrencyPolicy: 'Maybe' },
      ['spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"'],
    ],
    [
      'a selector',
      { jobTemplate: jobTemplate({ selector: {}, manualSelector: true }) },
      [
        `${TEMPLATE}.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: \`selector\` will be auto-generated`,
        `${TEMPLATE}.manualSelector: Unsupported value: true: supported values: "nil", "false"`,
      ],
    ],
    [
      'indexes without a number',
      { jobTemplate: jobTemplate({ completionMode: 'Indexed' }) },
      [`${TEMPLATE}.completions: Required value: when completion mode is Indexed`],
    ],
  ])('refuses %s', async (_, more, problems) => {
    expect(await refusals(open().create(input(more) as never))).toEqual(problems);
  });

  test('has room in its name for a time', async () => {
    expect(await problemsOf(open().create(input({}, 'a'.repeat(52))))).toEqual([]);
    const long = 'a'.repeat(53);
    expect(await refusals(open().create(input({}, long)))).toEqual([
      `metadata.name: Invalid value: "${long}": must be no more than 52 characters`,
    ]);
  });

  test('may change its template, and counts that', async () => {
    const jobs = open();
    await jobs.create(input());
    const { metadata } = await jobs.patch('c', mergePatch({ spec: { jobTemplate: jobTemplate({ backoffLimit: 2 }) } }));
    expect(metadata.generation).toBe(2);
  });
});
