/** Validation of StorageVersions. */
import { StorageVersion } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import type { StorageVersionStatusInput } from '../../../../src/kinds/generated/internal-v1alpha1.js';
import { invalidWith } from '../rejections.js';

async function setStatus(status: StorageVersionStatusInput) {
  const versions = testCluster({ runtimeConfig: 'api/all=true' }).api(StorageVersion);
  const version = await versions.create({ metadata: { name: 'apps.deployments' }, spec: {}, status: {} });
  return versions.status.update(version.metadata.name, { ...version, status });
}

test.each([
  ['things', ['name must be in the form of <group>.<resource>']],
  [
    'A.1',
    [
      expect.stringMatching(/^Invalid value: "A.1": the group segment a lowercase RFC 1123 subdomain/),
      expect.stringMatching(/^Invalid value: "A.1": the resource segment a DNS-1035 label/),
    ],
  ],
])('rejects the name %s', async (name, messages) => {
  const causes = messages.map((message: unknown) => ({
    field: 'metadata.name',
    message: typeof message === 'string' ? `Invalid value: "${name}": ${message}` : message,
  }));
  await expect(
    testCluster({ runtimeConfig: 'api/all=true' })
      .api(StorageVersion)
      .create({ metadata: { name }, spec: {}, status: {} }),
  ).rejects.toMatchObject({
    reason: 'Invalid',
    status: { details: { causes } },
  });
});

const server = (apiServerID: string, encodingVersion: string, ...decodableVersions: string[]) => ({
  apiServerID,
  encodingVersion,
  decodableVersions,
});

test('accepts a commonEncodingVersion only if all servers agree', async () => {
  const storageVersions = [server('a', 'apps/v1', 'apps/v1', 'v1'), server('b', 'apps/v1', 'apps/v1')];
  expect((await setStatus({ storageVersions, commonEncodingVersion: 'apps/v1' })).status).toMatchObject({
    commonEncodingVersion: 'apps/v1',
  });
  await expect(setStatus({ storageVersions })).rejects.toMatchObject(
    invalidWith(['status.commonEncodingVersion', 'Invalid value: "null": the common encoding version is apps/v1']),
  );
  await expect(setStatus({ storageVersions, commonEncodingVersion: 'v2' })).rejects.toMatchObject(
    invalidWith(['status.commonEncodingVersion', 'Invalid value: "v2": the actual common encoding version is apps/v1']),
  );
  await expect(setStatus({ commonEncodingVersion: 'v1' })).rejects.toMatchObject(
    invalidWith([
      'status.commonEncodingVersion',
      'Invalid value: "v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
    ]),
  );
});

test('rejects invalid server ids and versions', async () => {
  const storageVersions = [server('', 'a/b/c', '/v1', 'V'), server('b', 'v1')];
  await expect(setStatus({ storageVersions })).rejects.toMatchObject(
    invalidWith(
      ['status.storageVersions[0].apiServerID', expect.stringMatching(/^Invalid value: "": a lowercase RFC 1123/)],
      [
        'status.storageVersions[0].encodingVersion',
        expect.stringMatching(/^Invalid value: "a\/b\/c": an apiVersion is/),
      ],
      ['status.storageVersions[0].decodableVersions[0]', 'Invalid value: "/v1": group part: must be non-empty'],
      ['status.storageVersions[0].decodableVersions[1]', expect.stringMatching(/^Invalid value: "V": version part: a/)],
      [
        'status.storageVersions[0].decodableVersions',
        'Invalid value: []string{"/v1", "V"}: decodableVersions must include encodingVersion a/b/c',
      ],
      [
        'status.storageVersions[1].decodableVersions',
        'Invalid value: []string{}: decodableVersions must include encodingVersion v1',
      ],
    ),
  );
});

test('requires unique server ids', async () => {
  const storageVersions = [server('a', 'v1', 'v1'), server('a', 'v1', 'v1')];
  await expect(setStatus({ storageVersions, commonEncodingVersion: 'v1' })).rejects.toMatchObject(
    invalidWith(['status.storageVersions[1].apiServerID', 'Duplicate value: "a"']),
  );
});

test('requires unique condition types, statuses and reasons', async () => {
  const condition = { type: 'T', status: 'True', reason: 'R', message: 'm' } as const;
  const bad = { type: 'T', status: '-', reason: '', message: '' } as unknown as typeof condition;
  await expect(setStatus({ conditions: [condition, bad] })).rejects.toMatchObject(
    invalidWith(
      [
        'status[1].type',
        'Invalid value: "T": the type of the condition is not unique, it also appears in conditions[0]',
      ],
      ['status[1].status', expect.stringMatching(/^Invalid value: "-": name part/)],
      ['status[1].reason', 'Required value: reason cannot be empty'],
      ['status[1].message', 'Required value: message cannot be empty'],
    ),
  );
});
