/** Deprecation reports, runtime configuration and feature gates of an emulated release. */
import { auditLog } from 'orchplane';
import { describe, expect, test, vi } from 'vitest';
import { emulate } from './wire.js';

const FLOW = '/apis/flowcontrol.apiserver.k8s.io';

describe('the use of a deprecated version', () => {
  test('records the use of a deprecated version in the audit event with the removal release', async () => {
    const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }], omitStages: ['RequestReceived'] } });
    const { send } = emulate('1.24', { audit });
    await send('GET', '/apis/batch/v1beta1/cronjobs');
    await send('GET', '/apis/batch/v1/cronjobs');
    expect(
      audit.events.map(({ annotations = {} }) => [
        annotations['k8s.io/deprecated'],
        annotations['k8s.io/removed-release'],
      ]),
    ).toEqual([
      ['true', '1.25'],
      [undefined, undefined],
    ]);
  });

  test('reports the use of a deprecated version with the names of the dialect, also in process', async () => {
    const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }], omitStages: ['RequestReceived'] } });
    const warnings: string[] = [];
    const onWarning = (text: string) => void warnings.push(text);
    const { cluster } = emulate('1.24', { audit, dialect: 'orch', client: { onWarning } });
    await cluster.api(cluster.kind('flowcontrol.apiserver.orch.io/v1beta1', 'FlowSchema')).list();
    expect(warnings).toEqual([
      'flowcontrol.apiserver.orch.io/v1beta1 FlowSchema is deprecated in v1.23+, unavailable in v1.26+; use flowcontrol.apiserver.orch.io/v1beta2 FlowSchema',
    ]);
    expect(audit.events[0]?.annotations).toMatchObject({
      'orch.io/deprecated': 'true',
      'orch.io/removed-release': '1.26',
    });
  });

  test('counts the use of a deprecated version in metrics', async () => {
    const { send } = emulate('1.24');
    await send('GET', '/apis/batch/v1beta1/cronjobs');
    await send('GET', '/apis/events.k8s.io/v1beta1/events');
    const { body } = await send('GET', '/metrics');
    const lines = (body as string)
      .split('\n')
      .filter((line) => line.startsWith('apiserver_requested_deprecated_apis{'));
    expect(lines).toEqual([
      'apiserver_requested_deprecated_apis{group="batch",removed_release="1.25",resource="cronjobs",subresource="",version="v1beta1"} 1',
      'apiserver_requested_deprecated_apis{group="events.k8s.io",removed_release="1.25",resource="events",subresource="",version="v1beta1"} 1',
    ]);
  });

  test('causes a warning for every request, also a failing one', async () => {
    const { send } = emulate('1.24');
    const warning = 'batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob';
    const path = '/apis/batch/v1beta1/namespaces/default/cronjobs';
    expect((await send('GET', `${path}/none`)).warnings).toEqual([warning]);
    expect((await send('POST', path, { metadata: { name: 'a' } })).warnings).toEqual([warning]);
    expect((await send('DELETE', path)).warnings).toEqual([warning]);
    const flow = await emulate('1.22').send('GET', `${FLOW}/v1beta1/flowschemas`);
    expect(flow.warnings).toEqual([]);
  });
});

describe('the runtime configuration', () => {
  test.each([
    ['batch/v1beta1=false', [404, 200, 200]],
    ['batch/v1beta1/cronjobs=false', [404, 200, 200]],
    ['api/beta=false', [404, 200, 404]],
    ['api/beta=false,batch/v1beta1=true', [200, 200, 404]],
    ['api/all=false,v1=true', [404, 404, 404]],
    ['', [200, 200, 200]],
  ])('enables and disables versions: %j', async (runtimeConfig, codes) => {
    const { send } = emulate('1.24', { runtimeConfig });
    const paths = ['/apis/batch/v1beta1/cronjobs', '/apis/batch/v1/cronjobs', `${FLOW}/v1beta2/flowschemas`];
    expect(await Promise.all(paths.map(async (path) => (await send('GET', path)).code))).toEqual(codes);
  });

  test('does not enable versions that the release does not have', async () => {
    const { send } = emulate('1.25', { runtimeConfig: 'api/all=true,batch/v1beta1=true' });
    expect((await send('GET', '/apis/batch/v1beta1/cronjobs')).code).toBe(404);
    const { send: old } = emulate('1.24', { runtimeConfig: 'api/all=true' });
    expect((await old('GET', '/apis/resource.k8s.io/v1beta1/resourceclaims')).code).toBe(404);
  });
});

describe('feature gates of a release', () => {
  const gates = (release: `1.${number}`, featureGates: Record<string, boolean>) => {
    const onWarning = vi.fn<(text: string) => void>();
    const { cluster } = emulate(release, { featureGates, onWarning });
    return { cluster, warnings: onWarning.mock.calls.map(([text]) => text) };
  };

  test('rejects feature gates that the release does not have', () => {
    expect(() => gates('1.24', { SidecarContainers: true })).toThrow('unrecognized feature gate: SidecarContainers');
    expect(() => gates('1.26', { DynamicResourceAllocation: true })).not.toThrow();
    expect(() => gates('1.25', { DynamicResourceAllocation: true })).toThrow('unrecognized feature gate');
  });

  test('gives feature gates the stage of the release', () => {
    const stages = (['1.28', '1.29', '1.33'] as const).map((release) =>
      gates(release, {})
        .cluster.features.all()
        .find(({ name }) => name === 'SidecarContainers'),
    );
    expect(stages).toEqual([
      { name: 'SidecarContainers', stage: 'Alpha', enabled: false },
      { name: 'SidecarContainers', stage: 'Beta', enabled: true },
      { name: 'SidecarContainers', stage: 'GA', enabled: true },
    ]);
  });

  test('warns when a GA gate is set, and does not disable it', () => {
    expect(gates('1.33', { SidecarContainers: true }).warnings).toEqual([
      'Setting GA feature gate SidecarContainers=true. It will be removed in a future release.',
    ]);
    expect(() => gates('1.33', { SidecarContainers: false })).toThrow(
      'cannot set feature gate SidecarContainers to false, feature is locked to true',
    );
    expect(gates('1.29', { SidecarContainers: false }).warnings).toEqual([]);
  });

  test('warns when a deprecated gate is set', () => {
    expect(gates('1.33', { AllowServiceLBStatusOnNonLB: false }).warnings).toEqual([
      'Setting deprecated feature gate AllowServiceLBStatusOnNonLB=false. It will be removed in a future release.',
    ]);
  });

  test('disables kinds by feature gates as in their release', async () => {
    const path = '/apis/storage.k8s.io/v1alpha1/volumeattributesclasses';
    const listClasses = (featureGates: Record<string, boolean>) =>
      emulate('1.30', { runtimeConfig: 'storage.k8s.io/v1alpha1=true', featureGates }).send('GET', path);
    expect((await listClasses({})).code).toBe(404);
    expect((await listClasses({ VolumeAttributesClass: true })).code).toBe(200);
  });
});
