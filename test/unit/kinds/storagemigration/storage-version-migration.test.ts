/** Validation of StorageVersionMigrations. */
import { StorageVersionMigration, type StorageVersionMigrationInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import type {
  MigrationCondition,
  StorageVersionMigrationStatusInput,
} from '../../../../src/kinds/generated/storagemigration-v1alpha1.js';
import { invalidWith } from '../rejections.js';

interface Named {
  metadata: { name: string };
}

const open = () =>
  testCluster({ featureGates: { StorageVersionMigrator: true }, runtimeConfig: 'api/all=true' }).api(
    StorageVersionMigration,
  );
const input = (resource: object, metadata: object = {}) =>
  ({ metadata: { name: 'm', ...metadata }, spec: { resource } }) as StorageVersionMigrationInput & Named;
const things = { group: 'apps', version: 'v1', resource: 'deployments' };

const time = '2024-01-02T03:04:05Z';
const condition = (type: MigrationCondition['type'], status: MigrationCondition['status']): MigrationCondition => ({
  type,
  status,
  reason: 'R',
  message: 'm',
  lastUpdateTime: time,
});
const dump = (...conditions: readonly MigrationCondition[]) => {
  const shown = conditions.map(
    ({ type, status }) =>
      `storagemigration.MigrationCondition{Type:"${type}", Status:"${status}", LastUpdateTime:time.Date(2024, time.January, 2, 3, 4, 5, 0, time.Local), Reason:"R", Message:"m"}`,
  );
  return `Invalid value: []storagemigration.MigrationCondition{${shown.join(', ')}}`;
};

async function setStatus(
  status: StorageVersionMigrationStatusInput,
  before: StorageVersionMigrationStatusInput | undefined = undefined,
) {
  const migrations = open();
  let migration = await migrations.create(input(things));
  if (before !== undefined) migration = await migrations.status.update('m', { ...migration, status: before });
  return migrations.status.update('m', { ...migration, status });
}

test('requires a resource and a version', async () => {
  await expect(open().create(input({}))).rejects.toMatchObject(
    invalidWith(
      ['spec.resource.resource', 'Required value: resource is required'],
      ['spec.resource.version', 'Required value: version is required'],
    ),
  );
});

test('has an immutable resource', async () => {
  const migrations = open();
  const { metadata } = await migrations.create(input(things));
  const { resourceVersion } = metadata;
  await expect(
    migrations.update(input({ version: 'v2', resource: 'jobs' }, { resourceVersion })),
  ).rejects.toMatchObject(
    invalidWith(
      ['group', 'Invalid value: "": field is immutable'],
      ['version', 'Invalid value: "v2": field is immutable'],
      ['resource', 'Invalid value: "jobs": field is immutable'],
    ),
  );
});

test.each([
  [
    'abc',
    'Invalid value: "abc": failed to parse resource version "abc": strconv.ParseInt: parsing "abc": invalid syntax',
  ],
  [
    '9223372036854775808',
    'Invalid value: "9223372036854775808": failed to parse resource version "9223372036854775808": strconv.ParseInt: parsing "9223372036854775808": value out of range',
  ],
  ['-1', 'Invalid value: -1: must be greater than or equal to 0'],
])('rejects the resourceVersion %s', async (resourceVersion, message) => {
  await expect(setStatus({ resourceVersion })).rejects.toMatchObject(invalidWith(['status.resourceVersion', message]));
});

test('rejects a change of the resourceVersion', async () => {
  await expect(setStatus({ resourceVersion: '2' }, { resourceVersion: '1' })).rejects.toMatchObject(
    invalidWith(['status.resourceVersion', 'Invalid value: "2": resourceVersion cannot be updated']),
  );
});

test('validates the fields of conditions', async () => {
  const bad = [
    { ...condition('Running', 'False'), lastUpdateTime: null, reason: 'a b' },
    { ...condition('Running', 'Yes' as 'True'), reason: '', message: 'x'.repeat(32 * 1024 + 1) },
    { ...condition('a b' as 'Running', 'True'), reason: 'r'.repeat(1025) },
  ];
  await expect(setStatus({ conditions: bad })).rejects.toMatchObject(
    invalidWith(
      ['status.conditions[0].lastTransitionTime', 'Required value: must be set'],
      ['status.conditions[0].reason', expect.stringMatching(/^Invalid value: "a b": a condition reason must start/)],
      ['status.conditions[1].type', 'Duplicate value: "Running"'],
      ['status.conditions[1].status', 'Unsupported value: "Yes": supported values: "False", "True", "Unknown"'],
      ['status.conditions[1].reason', 'Required value: must be set'],
      ['status.conditions[1].message', 'Too long: may not be more than 32768 bytes'],
      ['status.conditions[2].type', expect.stringMatching(/^Invalid value: "a b": name part/)],
      ['status.conditions[2].reason', 'Too long: may not be more than 1024 bytes'],
    ),
  );
});

const [running, succeeded, failed] = [
  condition('Running', 'True'),
  condition('Succeeded', 'True'),
  condition('Failed', 'True'),
];

test.each([
  [[succeeded, failed], 'Both success and failed conditions cannot be true at the same time'],
  [[running, succeeded], 'Running condition cannot be true when success condition is true'],
  [[running, failed], 'Running condition cannot be true when failed condition is true'],
])('rejects contradictory conditions (%#)', async (conditions, message) => {
  await expect(setStatus({ conditions })).rejects.toMatchObject(
    invalidWith(['status.conditions', `${dump(...conditions)}: ${message}`]),
  );
});

test('rejects a change of a final condition', async () => {
  await expect(setStatus({ conditions: [] }, { conditions: [succeeded] })).rejects.toMatchObject(
    invalidWith(['status.conditions', `${dump()}: Success condition cannot be set to false once it is true`]),
  );
  await expect(setStatus({}, { conditions: [failed] })).rejects.toMatchObject(
    invalidWith([
      'status.conditions',
      'Invalid value: []storagemigration.MigrationCondition(nil): Failed condition cannot be set to false once it is true',
    ]),
  );
});

test('does not store an empty list of conditions', async () => {
  expect((await setStatus({ conditions: [] }, { conditions: [running] })).status).toEqual({});
});
