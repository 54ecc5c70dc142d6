/** Validation of APIServices, and the order of discovery. */
import { APIService, type APIServiceInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { orderApiServices } from '../../../../src/kinds/apiregistration/priorities.js';
import { invalidWith } from '../rejections.js';

const local = { group: 'example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };
const remote = { ...local, service: { namespace: 'n', name: 's' } };

const create = (spec: object, metadata: object = { name: 'v1.example.com' }) =>
  testCluster()
    .api(APIService)
    .create({ metadata, spec, status: { conditions: [] } } as unknown as APIServiceInput);

describe('an APIService', () => {
  test('reports an APIService without a service as available at once', async () => {
    expect((await create(local)).status).toEqual({
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: '2030-01-01T00:00:00Z',
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    });
  });

  test('sets the default port of an APIService with a service', async () => {
    const { spec, status } = await create(remote);
    expect(spec.service).toEqual({ namespace: 'n', name: 's', port: 443 });
    expect(status).toEqual({});
  });

  test.each([
    [{ ...local, groupPriorityMinimum: 0 }, 'groupPriorityMinimum', '0: must be positive and less than 20000'],
    [{ ...local, groupPriorityMinimum: 20_001 }, 'groupPriorityMinimum', '20001: must be positive and less than 20000'],
    [{ ...local, versionPriority: 1001 }, 'versionPriority', '1001: must be positive and less than 1000'],
    [{ ...local, caBundle: 'eA==' }, 'caBundle', '"1 bytes": local APIServices may not have a caBundle'],
    [
      { ...local, insecureSkipTLSVerify: true },
      'insecureSkipTLSVerify',
      'true: local APIServices may not have insecureSkipTLSVerify',
    ],
    [
      { ...remote, service: { ...remote.service, port: 0 } },
      'service.port',
      '0: port is not valid: must be between 1 and 65535, inclusive',
    ],
    [
      { ...remote, insecureSkipTLSVerify: true, caBundle: 'eA==' },
      'insecureSkipTLSVerify',
      'true: may not be true if caBundle is present',
    ],
  ])('rejects an APIService with %o', async (spec, field, message) => {
    await expect(create(spec)).rejects.toMatchObject(invalidWith([`spec.${field}`, `Invalid value: ${message}`]));
  });

  test('requires the namespace and name of the service of an APIService', async () => {
    await expect(create({ ...local, service: {} })).rejects.toMatchObject(
      invalidWith(['spec.service.namespace', 'Required value'], ['spec.service.name', 'Required value']),
    );
  });

  test('requires an APIService to be named after its version and group', async () => {
    const must = 'must be `spec.version+"."+spec.group`: "v1.example.com"';
    await expect(create(local, { name: 'other' })).rejects.toMatchObject(
      invalidWith(['metadata.name', `Invalid value: "other": ${must}`]),
    );
    await expect(create(local, { generateName: 'v1.' })).rejects.toMatchObject(
      invalidWith(
        ['metadata.generateName', `Invalid value: "v1.": ${must}`],
        ['metadata.name', expect.stringContaining(must)],
      ),
    );
    await expect(create(local, { name: 'a/b' })).rejects.toMatchObject(
      invalidWith(['metadata.name', `Invalid value: "a/b": may not contain '/'`]),
    );
  });

  test('allows an empty group of an APIService only in v1', async () => {
    await expect(create({ ...local, group: '', version: 'v2' }, { name: 'v2.' })).rejects.toMatchObject(
      invalidWith(['spec.group', 'Required value: only v1 may have an empty group and it better be legacy kube']),
    );
  });

  test.each([
    [{ ...local, group: 'A_B' }, 'v1.A_B', 'spec.group'],
    [{ ...local, version: 'V1' }, 'V1.example.com', 'spec.version'],
  ])('rejects an APIService with the invalid group or version %o', async (spec, name, field) => {
    await expect(create(spec, { name })).rejects.toMatchObject({
      status: { details: { causes: [{ field, reason: 'FieldValueInvalid' }] } },
    });
  });

  test('has a status whose conditions are True, False or Unknown', async () => {
    const services = testCluster().api(APIService);
    await services.create({ metadata: { name: 'v1.example.com' }, spec: remote });
    // The reconciler has reported the missing Service by now.
    const created = await services.get('v1.example.com');
    const put = (status: string) =>
      services.status.update('v1.example.com', {
        ...created,
        metadata: { ...created.metadata, labels: { k: 'v' } },
        status: { conditions: [{ type: 'Available', status: status as 'True' }] },
      });
    const message = 'Unsupported value: "Maybe": supported values: "True", "False", "Unknown"';
    await expect(put('Maybe')).rejects.toMatchObject(invalidWith(['status.conditions[0].status', message]));
    const { status, metadata } = await put('False');
    expect(status.conditions).toMatchObject([{ status: 'False' }]);
    expect(metadata.labels).toBeUndefined();
  });
});

test('orders groups and versions in discovery by priority', () => {
  const service = (group: string, version: string, [groupPriorityMinimum = 0, versionPriority = 0]: number[]) => ({
    metadata: { name: `${version}.${group}` },
    spec: { group, version, groupPriorityMinimum, versionPriority },
  });
  const ordered = orderApiServices([
    service('b', 'v1beta1', [100, 5]),
    service('c', 'v1', [100, 5]),
    service('a', 'v1', [200, 5]),
    service('b', 'v1', [50, 5]),
    service('b', 'v2alpha1', [300, 9]),
  ]);
  expect(ordered.map((versions) => versions.map(({ metadata }) => metadata.name))).toEqual([
    ['v2alpha1.b', 'v1.b', 'v1beta1.b'],
    ['v1.a'],
    ['v1.c'],
  ]);
});
