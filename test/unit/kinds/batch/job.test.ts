/** Validation, defaulting and generated fields of Jobs. */
import { mergePatch } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { Job } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { countIndexes, indexesProblem, overlappingIndex } from '../../../../src/kinds/batch/v1/job/indexes.js';
import { MISMATCH, NEGATIVE, pod, problemsOf } from '../apps/problems.js';
import { rejectionCauses } from '../rejections.js';

const spec = { restartPolicy: 'Never' as const, ...pod };
const open = (options = {}) => testCluster(options).api(Job);
const input = (more: object = {}, metadata: object = {}) => ({
  metadata: { name: 'j', ...metadata },
  spec: { template: { spec }, ...more },
});
const indexed = { completionMode: 'Indexed', completions: 5 };

const PRESERVED =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

describe('the orphaning warning of a Job deletion', () => {
  const handle = () => createFetchHandler(testCluster());
  const jobs = 'http://cluster/apis/batch/v1/namespaces/default/jobs';
  test.each<[string, string, object | undefined, number]>([
    ['a collection', jobs, undefined, 200],
    ['a missing Job', `${jobs}/none`, undefined, 404],
    ['a Job with another uid', `${jobs}/j`, { preconditions: { uid: 'x' } }, 409],
    ['an existing Job', `${jobs}/j`, undefined, 200],
  ])('warns about orphaned pods unless a propagationPolicy is set, for %s', async (_what, url, body, code) => {
    const fetch = handle();
    const headers = { 'content-type': 'application/json' };
    await fetch(new Request(jobs, { method: 'POST', headers, body: JSON.stringify(input()) }));
    const remove = (options: object = {}) =>
      fetch(new Request(url, { method: 'DELETE', headers, body: JSON.stringify({ ...body, ...options }) }));
    const quiet = await remove({ propagationPolicy: 'Orphan', dryRun: ['All'] });
    expect([quiet.status, quiet.headers.get('warning')]).toEqual([code, null]);
    const response = await remove();
    expect([response.status, response.headers.get('warning')]).toEqual([code, `299 - "${PRESERVED}"`]);
  });
});

describe('a Job', () => {
  test('generates its selector and pod labels', async () => {
    const { metadata, spec: stored } = await open().create(input());
    const labels = {
      'batch.orch.io/controller-uid': metadata.uid,
      'batch.orch.io/job-name': 'j',
      'controller-uid': metadata.uid,
      'job-name': 'j',
    };
    expect(stored.selector).toEqual({ matchLabels: { 'batch.orch.io/controller-uid': metadata.uid } });
    expect(stored.template.metadata.labels).toEqual(labels);
    expect(metadata.labels).toEqual(labels);
  });

  test('shares its labels with its pods unless its name is generated', async () => {
    const labeled = (metadata: object) => ({
      metadata,
      spec: { template: { metadata: { labels: { app: 'x' } }, spec } },
    });
    const named = await open().create(labeled({ name: 'j' }));
    expect(named.metadata.labels).toEqual(named.spec.template.metadata.labels);
    const generated = await open().create(labeled({ generateName: 'j' }));
    expect(generated.metadata.labels).toEqual({ app: 'x' });
    expect(generated.spec.template.metadata.labels).toMatchObject({ app: 'x', 'job-name': generated.metadata.name });
  });

  test('sets the status of a condition in its failure policy', async () => {
    const podFailurePolicy = {
      rules: [{ action: 'Ignore' as const, onPodConditions: [{ type: 'DisruptionTarget' }] }],
    };
    const { spec: stored } = await open().create(input({ podFailurePolicy }));
    expect(stored.podFailurePolicy?.rules[0]?.onPodConditions).toEqual([{ type: 'DisruptionTarget', status: 'True' }]);
  });

  test('reports invalid labels four times on update', async () => {
    const jobs = open();
    await jobs.create(input());
    const problems = await rejectionCauses(jobs.patch('j', mergePatch({ metadata: { labels: { '-': '' } } })));
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(Array(4).fill('metadata.labels'));
  });

  test('selects Jobs by status.successful', async () => {
    const jobs = open();
    await jobs.create(input());
    expect((await jobs.list({ fields: 'status.successful=0' })).items).toHaveLength(1);
    await expect(jobs.list({ fields: 'status.failed=0' })).rejects.toThrow(
      'field label "status.failed" not supported for Job',
    );
  });

  test('keeps the labels of the client', async () => {
    const { metadata } = await open().create(input({}, { labels: { own: 'x' } }));
    expect(metadata.labels).toEqual({ own: 'x' });
  });

  test.each<[object, object]>([
    [{}, { parallelism: 1, completions: 1, backoffLimit: 6, podReplacementPolicy: 'TerminatingOrFailed' }],
    [{ ...indexed, backoffLimitPerIndex: 1 }, { backoffLimit: 2147483647 }],
    [{ podFailurePolicy: { rules: [] } }, { podReplacementPolicy: 'Failed', podFailurePolicy: { rules: null } }],
  ])('completes the spec %j', async (more, expected) => {
    expect((await open().create(input(more) as never)).spec).toMatchObject(expected);
  });

  test('sets no completions for a Job with parallelism only', async () => {
    expect((await open().create(input({ parallelism: 2 }))).spec).not.toHaveProperty('completions');
  });

  const rule = (more: object) => ({ podFailurePolicy: { rules: [{ action: 'FailJob', ...more }] } });
  const RULE = 'spec.podFailurePolicy.rules[0]';
  const success = (more: object) => ({ ...indexed, successPolicy: { rules: [more] } });
  const SUCCESS = 'spec.successPolicy.rules[0]';
  test.each<[string, object, string[]]>([
    ['a negative parallelism', { parallelism: -1 }, [`spec.parallelism: ${NEGATIVE}`]],
    [
      'an unknown completionMode',
      { completionMode: 'Odd' },
      ['spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"'],
    ],
    [
      'backoffLimitPerIndex without Indexed mode',
      { backoffLimitPerIndex: 1 },
      ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
    ],
    [
      'a rule about an empty list of exit codes',
      { podFailurePolicy: { rules: [{ action: 'Count', onExitCodes: { operator: 'In', values: [] } }] } },
      [`${RULE}.onExitCodes.values: Invalid value: []int32{}: at least one value is required`],
    ],
    [
      'a rule about exit codes without any',
      { podFailurePolicy: { rules: [{ action: 'Count', onExitCodes: { operator: 'In' } }] } },
      [`${RULE}.onExitCodes.values: Invalid value: []int32(nil): at least one value is required`],
    ],
    [
      'a success policy without rules and indexes',
      { successPolicy: {} },
      [
        'spec.successPolicy: Invalid value: batch.SuccessPolicy{Rules:[]batch.SuccessPolicyRule(nil)}: requires indexed completion mode',
      ],
    ],
    [
      'maxFailedIndexes without backoffLimitPerIndex',
      { ...indexed, maxFailedIndexes: 1 },
      ['spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified'],
    ],
    [
      'too many indexes',
      { ...indexed, completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 },
      [
        'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
        'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
      ],
    ],
    [
      'a managedBy without a domain',
      { managedBy: 'me' },
      ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'a managedBy with an invalid path',
      { managedBy: 'a.b/c d' },
      [
        `spec.managedBy: Invalid value: "c d": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
      ],
    ],
    [
      'the restartPolicy Always',
      { template: { spec: pod } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'a failure policy rule without conditions',
      rule({}),
      [`${RULE}: Invalid value: specifying one of OnExitCodes and OnPodConditions is required`],
    ],
    [
      'unsorted exit codes',
      rule({ onExitCodes: { operator: 'In', values: [2, 0, 2] } }),
      [
        `${RULE}.onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator`,
        `${RULE}.onExitCodes.values[2]: Duplicate value: 2`,
        `${RULE}.onExitCodes.values: Invalid value: []int32{2, 0, 2}: must be ordered`,
      ],
    ],
    [
      'the action FailIndex without backoffLimitPerIndex',
      rule({ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }),
      [`${RULE}.action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set`],
    ],
    [
      'an empty success policy',
      success({}),
      [`${SUCCESS}: Required value: at least one of succeededCount or succeededIndexes must be specified`],
    ],
    [
      'a succeededCount above the number of indexes',
      success({ succeededIndexes: '0,2', succeededCount: 3 }),
      [
        `${SUCCESS}.succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)`,
      ],
    ],
    [
      'a manual selector that does not match its template',
      { manualSelector: true, selector: { matchLabels: { x: 'y' } } },
      [`spec.template.metadata.labels: Invalid value: map[string]string(nil): ${MISMATCH}`],
    ],
  ])('rejects %s', async (_, more, problems) => {
    expect(await rejectionCauses(open().create(input(more) as never))).toEqual(problems);
  });

  test('rejects a label of another job in its template', async () => {
    const template = { metadata: { labels: { 'job-name': 'other' } }, spec };
    const [problem] = await rejectionCauses(open().create(input({ template })));
    expect(problem).toMatch(/^spec\.template\.metadata\.labels\[job-name\]: .*: must be 'j'$/);
  });

  test.each<[object, object, string[]]>([
    [{}, { completions: 2 }, ['spec.completions: Invalid value: 2: field is immutable']],
    [{}, { completionMode: 'Indexed' }, ['spec.completionMode: Invalid value: "Indexed": field is immutable']],
    [
      indexed,
      { completions: 3 },
      ['spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism'],
    ],
    [indexed, { completions: 3, parallelism: 3 }, []],
    [
      {},
      { template: { spec: { nodeSelector: { a: 'b' } } } },
      [expect.stringMatching(/^spec\.template: .*NodeSelector:map\[string\]string\{"a":"b"\}.*: field is immutable$/)],
    ],
    [{ suspend: true }, { template: { spec: { nodeSelector: { a: 'b' } } } }, []],
    [{ suspend: true }, { template: { spec: { affinity: { nodeAffinity: {} } } } }, []],
    [
      { suspend: true },
      { template: { spec: { dnsPolicy: 'Default' } } },
      [expect.stringMatching(/^spec\.template: .*DNSPolicy:"Default".*: field is immutable$/)],
    ],
  ])('validates for a Job with spec %j the update %j', async (before, change, problems) => {
    const jobs = open();
    await jobs.create(input(before) as never);
    expect(await problemsOf(jobs.patch('j', mergePatch({ spec: change })))).toEqual(problems);
  });
});

test('rejects the pod names of an indexed Job without a name', async () => {
  const problems = await rejectionCauses(
    open().create(input({ completionMode: 'Indexed' }, { name: undefined }) as never),
  );
  expect(problems).toContain(
    'metadata.name: Invalid value: "": will not able to create pod with invalid DNS label: -0',
  );
});

describe('completed indexes', () => {
  test.each<[string, string | undefined]>([
    ['', undefined],
    ['0,2-4', undefined],
    ['5', 'too large index: "5"'],
    ['1,1', 'non-increasing order, previous: 1, current: 1'],
    ['3-1', 'non-increasing order, previous: 3, current: 1'],
    ['x', 'cannot convert string to integer for index: "x"'],
    [
      '1-2-3',
      `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
    ],
  ])('parses and validates the completed indexes %j', (text, problem) => {
    expect(indexesProblem(text, 5)).toBe(problem);
  });

  test('counts and compares completed indexes', () => {
    expect(countIndexes('0,2-4', 5)).toBe(4);
    expect(overlappingIndex('0-2', '4', 5)).toBeUndefined();
    expect(overlappingIndex('x,0-2', '2,3', 5)).toBe(2);
  });
});
