/** Validation of ResourceClaims and ResourceClaimTemplates, in every version. */
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { Namespace } from '../../../../src/kinds/core/v1/namespace.js';
import {
  ResourceClaim,
  type ResourceClaimInput,
  ResourceClaimTemplate,
  type ResourceClaimTemplateInput,
  ResourceClaimTemplateV1alpha3,
  ResourceClaimTemplateV1beta1,
  ResourceClaimV1alpha3,
  ResourceClaimV1beta1,
  type ResourceClaimV1beta1Input,
} from '../../../../src/kinds/index.js';
import { rejectionCauses } from '../rejections.js';

const ALL = { DynamicResourceAllocation: true, DRAPrioritizedList: true };
const clusterOf = (featureGates: Record<string, boolean> = ALL) =>
  testCluster({ featureGates, runtimeConfig: 'api/all=true' });

const claimsOf = (cluster = clusterOf()) => cluster.api(ResourceClaim, 'default');
const input = (devices: object) =>
  ({ metadata: { name: 'a' }, spec: { devices } }) as ResourceClaimInput & { metadata: { name: string } };
const create = (devices: object) => claimsOf().create(input(devices));
const requests = (...list: object[]) => ({ requests: list });
const exactly = (more: object = {}) => ({ name: 'r', exactly: { deviceClassName: 'c', ...more } });
const first = (more: object = {}) => ({ name: 'r', firstAvailable: [{ name: 's', deviceClassName: 'c', ...more }] });

const AT = 'spec.devices.requests[0]';
const REFERENCE =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

describe('a ResourceClaim', () => {
  test('gets default counts, allocation modes and toleration operators', async () => {
    const created = await create(
      requests(
        exactly(),
        { ...first({ tolerations: [{ key: 'k' }] }), name: 's' },
        { ...exactly({ allocationMode: 'All' }), name: 't' },
      ),
    );
    expect(created.spec.devices.requests).toEqual([
      exactly({ allocationMode: 'ExactCount', count: 1 }),
      {
        ...first({ allocationMode: 'ExactCount', count: 1, tolerations: [{ key: 'k', operator: 'Equal' }] }),
        name: 's',
      },
      { ...exactly({ allocationMode: 'All' }), name: 't' },
    ]);
    expect(created.status).toEqual({});
  });

  test.each([
    [
      'no name',
      { exactly: { deviceClassName: 'c' } },
      [expect.stringMatching(/requests\[0\]\.name: Invalid value: ""/)],
    ],
    [
      'neither exactly nor firstAvailable',
      { name: 'r' },
      [`${AT}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`],
    ],
    [
      'both exactly and firstAvailable',
      { ...exactly(), ...first() },
      [
        `${AT}: Invalid value: "null": exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`,
      ],
    ],
    ['no class', exactly({ deviceClassName: '' }), [`${AT}.exactly.deviceClassName: Required value`]],
    [
      'a count with allocation mode All',
      exactly({ allocationMode: 'All', count: 2 }),
      [`${AT}.exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`],
    ],
    ['a negative count', exactly({ count: -1 }), [`${AT}.exactly.count: Invalid value: -1: must be greater than zero`]],
    [
      'an unknown allocation mode',
      exactly({ allocationMode: 'Some' }),
      [`${AT}.exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"`],
    ],
    ['an empty selector', exactly({ selectors: [{}] }), [`${AT}.exactly.selectors[0].cel: Required value`]],
    [
      'an invalid selector expression',
      exactly({ selectors: [{ cel: { expression: 'device.color == "red"' } }] }),
      [
        `${AT}.exactly.selectors[0].cel.expression: Invalid value: "device.color == \\"red\\"": compilation failed: ERROR: <input>:1:7: undefined field 'color'\n | device.color == "red"\n | ......^`,
      ],
    ],
    [
      'invalid tolerations',
      exactly({
        tolerations: [
          { key: '-', operator: 'Exists', value: 'v' },
          { operator: 'In', effect: 'Never' },
        ],
      }),
      [
        expect.stringMatching(/tolerations\[0\]\.key: Invalid value: "-": name part must consist/),
        `${AT}.exactly.tolerations[0].value: Invalid value: "v": must be empty for operator \`Exists\``,
        `${AT}.exactly.tolerations[1].operator: Unsupported value: "In": supported values: "Equal", "Exists"`,
        `${AT}.exactly.tolerations[1].effect: Unsupported value: "Never": supported values: "NoExecute", "NoSchedule"`,
      ],
    ],
    [
      'a duplicate alternative',
      { name: 'r', firstAvailable: [...first().firstAvailable, ...first().firstAvailable] },
      [`${AT}.firstAvailable[1].name: Duplicate value: "s"`],
    ],
    [
      'too many alternatives',
      { name: 'r', firstAvailable: Array.from({ length: 9 }, (_, i) => ({ name: `s${i}`, deviceClassName: 'c' })) },
      [`${AT}.firstAvailable: Too many: 9: must have at most 8 items`],
    ],
  ])('rejects a request with %s', async (_what, request, expected) => {
    expect(await rejectionCauses(create(requests(request)))).toEqual(expected);
  });

  test.each([
    ['a duplicate request', requests(exactly(), exactly()), ['spec.devices.requests[1].name: Duplicate value: "r"']],
    [
      'too many requests',
      requests(...Array.from({ length: 33 }, (_, i) => ({ ...exactly(), name: `r${i}` }))),
      ['spec.devices.requests: Too many: 33: must have at most 32 items'],
    ],
    [
      'an empty constraint',
      { ...requests(exactly()), constraints: [{}] },
      ['spec.devices.constraints[0].matchAttribute: Required value'],
    ],
    [
      'a constraint on an unknown request',
      {
        ...requests(first()),
        constraints: [{ requests: ['r', 'r/s', 'r/t', 'a/b/c', 'r'], matchAttribute: 'd/x' }, { matchAttribute: 'x' }],
      },
      [
        `spec.devices.constraints[0].requests[2]: Invalid value: "r/t": ${REFERENCE}`,
        `spec.devices.constraints[0].requests[3]: Invalid value: "a/b/c": ${REFERENCE}`,
        'spec.devices.constraints[0].requests[4]: Duplicate value: "r"',
        'spec.devices.constraints[1].matchAttribute: Invalid value: "x": must include a domain',
      ],
    ],
    [
      'an empty configuration',
      { ...requests(exactly()), config: [{ requests: ['x'] }] },
      [
        `spec.devices.config[0].requests[0]: Invalid value: "x": ${REFERENCE}`,
        'spec.devices.config[0].opaque: Required value',
      ],
    ],
  ])('rejects %s', async (_what, devices, expected) => {
    expect(await rejectionCauses(create(devices))).toEqual(expected);
  });

  test('has an immutable spec', async () => {
    const claims = claimsOf();
    const claim = await claims.create(input(requests(exactly())));
    const spec = { devices: requests(first()) } as ResourceClaim['spec'];
    expect(await rejectionCauses(claims.update({ ...claim, spec }))).toEqual([
      'spec: Invalid value: resource.ResourceClaimSpec{Devices:resource.DeviceClaim{Requests:[]resource.DeviceRequest{resource.DeviceRequest{Name:"r", Exactly:(*resource.ExactDeviceRequest)(nil), FirstAvailable:[]resource.DeviceSubRequest{resource.DeviceSubRequest{Name:"s", DeviceClassName:"c", Selectors:[]resource.DeviceSelector(nil), AllocationMode:"ExactCount", Count:1, Tolerations:[]resource.DeviceToleration(nil)}}}}, Constraints:[]resource.DeviceConstraint(nil), Config:[]resource.DeviceClaimConfiguration(nil)}}: field is immutable',
    ]);
    const wrong = { devices: requests({ name: 'r' }) } as ResourceClaim['spec'];
    const none = `${AT}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`;
    expect(await rejectionCauses(claims.update({ ...claim, spec: wrong }))).toEqual([
      none,
      expect.stringMatching(/^spec: Invalid value: .*: field is immutable$/),
      none,
    ]);
  });

  test('drops fields whose feature gate is disabled', async () => {
    const claims = claimsOf(clusterOf({ DynamicResourceAllocation: true }));
    const claim = await claims.create(input(requests(exactly({ adminAccess: true }))));
    expect(claim.spec.devices.requests?.[0]?.exactly).not.toHaveProperty('adminAccess');
    expect(await rejectionCauses(claims.create(input(requests(first()))))).toEqual([
      `${AT}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`,
    ]);
  });

  test('allows admin access only in labelled namespaces', async () => {
    const cluster = clusterOf({ ...ALL, DRAAdminAccess: true });
    const admin = input(requests(exactly({ adminAccess: true })));
    expect(await rejectionCauses(claimsOf(cluster).create(admin))).toEqual([
      `${AT}.adminAccess: Forbidden: admin access to devices requires the \`resource.orch.io/admin-access: true\` label on the containing namespace`,
    ]);
    await cluster
      .api(Namespace)
      .create({ metadata: { name: 'n', labels: { 'resource.orch.io/admin-access': 'true' } } });
    const claim = await cluster.api(ResourceClaim, 'n').create(admin);
    expect(claim.spec.devices.requests?.[0]?.exactly?.adminAccess).toBe(true);
  });

  test('gets an allocation with admin access only in labelled namespaces', async () => {
    const label = 'resource.orch.io/admin-access';
    const cluster = clusterOf({ ...ALL, DRAAdminAccess: true });
    await cluster.api(Namespace).create({ metadata: { name: 'n', labels: { [label]: 'true' } } });
    const setStatus = async (namespace: string, result: object = {}) => {
      const claims = cluster.api(ResourceClaim, namespace);
      const created = await claims.create({ ...input(requests(exactly())), metadata: { generateName: 'a' } });
      const results = [{ request: 'r', driver: 'd', pool: 'p', device: 'x', adminAccess: true, ...result }];
      const status = { allocation: { devices: { results } } };
      return claims.status.update(created.metadata.name, { ...created, status } as typeof created);
    };
    expect(await rejectionCauses(setStatus('default'))).toEqual([
      `status.allocation.devices.results[0].adminAccess: Forbidden: admin access to devices requires the \`${label}: true\` label on the containing namespace`,
    ]);
    await setStatus('default', { adminAccess: false });
    const allocated = await setStatus('n');
    expect(allocated.status.allocation?.devices.results?.[0]?.adminAccess).toBe(true);
    await cluster.api(Namespace).edit('n', (namespace) => {
      delete namespace.metadata.labels?.[label];
    });
    const reservedFor = [{ resource: 'pods', name: 'p', uid: 'u' }];
    const claims = cluster.api(ResourceClaim, 'n');
    await claims.status.update(allocated.metadata.name, {
      ...allocated,
      status: { ...allocated.status, reservedFor },
    });
  });
});

describe('the status of a ResourceClaim', () => {
  const result = { request: 'r', driver: 'd', pool: 'p', device: 'x' };
  const allocation = { devices: { results: [result] } };
  const stored = { devices: { results: [{ ...result, adminAccess: null }] } };
  const consumer = { resource: 'pods', name: 'p', uid: 'u' };

  async function change(status: object, before: object = {}) {
    const claims = claimsOf();
    let claim = await claims.create(input(requests(exactly())));
    if (Object.keys(before).length > 0) claim = await claims.status.update('a', { ...claim, status: before } as never);
    return claims.status.update('a', {
      ...claim,
      metadata: { ...claim.metadata, labels: { k: 'v' } },
      status,
    } as never);
  }

  test('stores an allocation, and changes nothing else', async () => {
    const claim = await change({ allocation, reservedFor: [consumer] });
    expect(claim.status).toEqual({ allocation: stored, reservedFor: [consumer] });
    expect(claim.metadata.labels).toBeUndefined();
  });

  test('drops devices that are no longer allocated', async () => {
    const device = { driver: 'd', pool: 'p', device: 'x' };
    expect((await change({ devices: [device] }, { allocation, devices: [device] })).status).toEqual({});
  });

  test.each([
    [
      'a reservation without an allocation',
      { reservedFor: [consumer] },
      ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'],
    ],
    [
      'consumers without names',
      { allocation, reservedFor: [{}] },
      ['resource', 'name', 'uid'].map((field) => `status.reservedFor[0].${field}: Required value`),
    ],
    [
      'a duplicate consumer',
      { allocation, reservedFor: [consumer, consumer] },
      ['status.reservedFor[1].uid: Duplicate value: "u"'],
    ],
    [
      'an unknown request',
      { allocation: { devices: { results: [{ ...result, request: 'x' }] } } },
      [`status.allocation.devices.results[0].request: Invalid value: "x": ${REFERENCE}`],
    ],
    [
      'an invalid driver, pool or device',
      { allocation: { devices: { results: [{ ...result, driver: '_', pool: 'a//b', device: 'a.b' }] } } },
      [
        expect.stringMatching(/results\[0\]\.driver: Invalid value: "_"/),
        expect.stringMatching(/results\[0\]\.pool: Invalid value: ""/),
        'status.allocation.devices.results[0].device: Invalid value: "a.b": must not contain dots',
      ],
    ],
    [
      'configurations without a source',
      { allocation: { devices: { config: [{}, { source: 'X', opaque: { driver: 'd', parameters: {} } }] } } },
      [
        'status.allocation.devices.config[0].source: Required value',
        'status.allocation.devices.config[0].opaque: Required value',
        'status.allocation.devices.config[1].source: Unsupported value: "X": supported values: "FromClaim", "FromClass"',
      ],
    ],
    [
      'a node selector without terms',
      { allocation: { ...allocation, nodeSelector: {} } },
      ['status.allocation.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term'],
    ],
    [
      'devices that are not allocated',
      { allocation, devices: [{ driver: 'd', pool: 'p', device: 'y', data: 1 }] },
      [
        'status.devices[0]: Invalid value: d/p/y: must be an allocated device in the claim',
        'status.devices[0].data: Invalid value: "<value omitted>": parameters must be a valid JSON object',
      ],
    ],
    [
      'invalid network data',
      {
        allocation,
        devices: [
          {
            driver: 'd',
            pool: 'p',
            device: 'x',
            networkData: {
              interfaceName: 'i'.repeat(257),
              hardwareAddress: 'h'.repeat(129),
              ips: ['1.2.3.4', '1.2.3.04/24', '10.0.0.1/8', '10.0.0.1/8'],
            },
          },
        ],
      },
      [
        'status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes',
        'status.devices[0].networkData.hardwareAddress: Too long: may not be more than 128 bytes',
        'status.devices[0].networkData.ips[0]: Invalid value: "1.2.3.4": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)',
        'status.devices[0].networkData.ips[1]: Invalid value: "1.2.3.04/24": must be in canonical form ("1.2.3.4/24")',
        'status.devices[0].networkData.ips[3]: Duplicate value: "10.0.0.1/8"',
      ],
    ],
  ])('rejects %s', async (_what, status, expected) => {
    expect(await rejectionCauses(change(status))).toEqual(expected);
  });

  test('summarizes the status of a ResourceClaim in a table', async () => {
    const state = ResourceClaim.columns?.find(({ name }) => name === 'State');
    const shown = (claim: unknown) => state?.cell(claim as never, { nowMs: 0 } as never);
    expect(shown(await create(requests(exactly())))).toBe('pending');
    expect(shown(await change({ allocation, reservedFor: [consumer] }))).toBe('allocated,reserved');
  });

  test('has an immutable allocation', async () => {
    const other = { devices: { results: [{ ...result, device: 'y' }] } };
    expect(await rejectionCauses(change({ allocation: other }, { allocation }))).toEqual([
      'status.allocation: Invalid value: resource.AllocationResult{Devices:resource.DeviceAllocationResult{Results:[]resource.DeviceRequestAllocationResult{resource.DeviceRequestAllocationResult{Request:"r", Driver:"d", Pool:"p", Device:"y", AdminAccess:(*bool)(nil), Tolerations:[]resource.DeviceToleration(nil)}}, Config:[]resource.DeviceAllocationConfiguration(nil)}, NodeSelector:(*core.NodeSelector)(nil)}: field is immutable',
    ]);
  });

  test('rejects new consumers while the claim is being deleted', async () => {
    const claims = claimsOf();
    const made = await claims.create({
      ...input(requests(exactly())),
      metadata: { name: 'a', finalizers: ['e.com/f'] },
    });
    await claims.status.update('a', { ...made, status: { allocation, reservedFor: [consumer] } } as never);
    await claims.delete('a');
    const going = await claims.get('a');
    const more = { allocation, reservedFor: [consumer, { ...consumer, uid: 'v' }] };
    expect(await rejectionCauses(claims.status.update('a', { ...going, status: more } as never))).toEqual([
      'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
    ]);
    await claims.status.update('a', { ...going, status: { allocation } } as never);
  });
});

describe('a ResourceClaim in v1beta1', () => {
  const older = (devices: object) =>
    ({ metadata: { name: 'a' }, spec: { devices } }) as ResourceClaimV1beta1Input & { metadata: { name: string } };

  test('compares an applied empty list only if the manager applied in the same version before', async () => {
    const template = (devices?: object) =>
      ({ metadata: { name: 'a' }, spec: devices === undefined ? {} : { spec: { devices } } }) as never;
    const flat = { name: 'r', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 };
    const sent = template(requests({ ...flat, firstAvailable: [] }));
    const api = clusterOf();
    const [older, newer] = [ResourceClaimTemplateV1alpha3, ResourceClaimTemplateV1beta1].map((kind) =>
      api.api(kind as typeof ResourceClaimTemplateV1beta1),
    );
    await newer?.apply(template(requests(flat)), { fieldManager: 'one' });
    await newer?.apply(template(), { fieldManager: 'two' });
    await older?.apply(template(), { fieldManager: 'three' });
    await expect(newer?.apply(sent, { fieldManager: 'two' })).rejects.toMatchObject({ reason: 'Conflict' });
    // What its earlier fields leave is found in their version, which drops the empty list.
    expect(await newer?.apply(sent, { fieldManager: 'three' })).toMatchObject({ spec: { spec: { devices: {} } } });
  });

  test('converts a v1beta1 ResourceClaim between flat and nested requests', async () => {
    const cluster = clusterOf();
    const api = cluster.api(ResourceClaimV1beta1, 'default');
    const flat = { name: 'r', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 };
    const created = await api.create(older(requests({ name: 'r', deviceClassName: 'c' }, { ...first(), name: 's' })));
    expect(created.spec.devices.requests?.[0]).toEqual(flat);
    expect((await cluster.api(ResourceClaimV1alpha3, 'default').get('a')).spec).toEqual(created.spec);
    const { spec } = await cluster.api(ResourceClaim, 'default').get('a');
    expect(spec.devices.requests?.[0]).toEqual(exactly({ allocationMode: 'ExactCount', count: 1 }));
    expect(Object.keys(spec.devices.requests?.[1] ?? {})).toEqual(['name', 'firstAvailable']);
    const result = { request: 's/s', driver: 'd', pool: 'p', device: 'x', adminAccess: null };
    const allocation = { devices: { results: [result] } };
    const allocated = await api.status.update('a', { ...created, status: { allocation } } as never);
    expect(allocated.spec).toEqual(created.spec);
    expect(allocated.status).toEqual({ allocation });
  });

  test.each([
    [{ name: 'r' }, [`${AT}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`]],
    [
      { name: 'r', allocationMode: 'ExactCount' },
      [
        `${AT}.exactly.deviceClassName: Required value`,
        `${AT}.exactly.count: Invalid value: 0: must be greater than zero`,
      ],
    ],
  ])('validates a v1beta1 ResourceClaim in its storage version: %o', async (request, expected) => {
    const api = clusterOf().api(ResourceClaimV1beta1, 'default');
    expect(await rejectionCauses(api.create(older(requests(request))))).toEqual(expected);
  });
});

describe('a ResourceClaimTemplate', () => {
  const templates = () => clusterOf().api(ResourceClaimTemplate, 'default');
  const template = (spec: object) =>
    ({ metadata: { name: 'a' }, spec }) as ResourceClaimTemplateInput & { metadata: { name: string } };

  test('validates the metadata and the spec of its claims', async () => {
    const spec = {
      metadata: { name: 'x', finalizers: ['f'], labels: { '-': '' } },
      spec: { devices: requests({ name: 'r' }) },
    };
    expect(await rejectionCauses(templates().create(template(spec)))).toEqual([
      expect.stringMatching(/^spec\.metadata\.labels: Invalid value: "-"/),
      'spec.metadata.name: Forbidden: cannot be set',
      'spec.metadata.finalizers: Forbidden: cannot be set',
      'spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required',
    ]);
  });

  test('has an immutable spec', async () => {
    const api = templates();
    const made = await api.create(template({ spec: { devices: requests(exactly()) } }));
    const spec = { ...made.spec, spec: { devices: {} } };
    expect(await rejectionCauses(api.update({ ...made, spec } as never))).toEqual([
      expect.stringMatching(
        /^spec: Invalid value: resource\.ResourceClaimTemplateSpec\{ObjectMeta:v1\.ObjectMeta\{Name:"".*Config:\[\]resource\.DeviceClaimConfiguration\(nil\)\}\}\}: field is immutable$/,
      ),
    ]);
  });
});
