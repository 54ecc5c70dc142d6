/** docs/specification.md, G1 to G5: levels, groups, deprecation and removed versions. */
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { describe, expect, test } from 'vitest';
import { MetricsRegistry } from '../../src/metrics/registry.js';
import { readServerFlags } from '../../src/node/server-flags.js';
import { open } from './http.js';

type Options = Parameters<typeof open>[0];

const code = async (path: string, options: Options = {}) => (await open(options).send('GET', path)).code;

describe('levels', () => {
  test('G1.1: alpha versions are off by default and can be enabled', async () => {
    const path = '/apis/storagemigration.orch.io/v1alpha1/storageversionmigrations';
    expect(await code(path)).toBe(404);
    const runtimeConfig = 'storagemigration.orch.io/v1alpha1=true';
    expect(await code(path, { runtimeConfig, featureGates: { StorageVersionMigrator: true } })).toBe(200);
  });

  test('G1.2: beta versions are off by default, except those from before release 1.22', async () => {
    const path = '/apis/networking.orch.io/v1beta1/ipaddresses';
    expect(await code(path)).toBe(404);
    expect(await code(path, { runtimeConfig: 'networking.orch.io/v1beta1=true' })).toBe(200);
    expect(await code('/apis/batch/v1beta1/cronjobs', { release: '1.24' })).toBe(200);
  });

  test('G1.3: stable versions are on by default', async () => {
    for (const path of ['/api/v1/configmaps', '/apis/apps/v1/deployments', '/apis/batch/v1/cronjobs']) {
      expect(await code(path)).toBe(200);
    }
  });
});

describe('groups and paths', () => {
  test('G2.1: the core group has no group in its path and apiVersion', async () => {
    const { send } = open();
    expect((await send('GET', '/api/v1/configmaps')).body['apiVersion']).toBe('v1');
    expect((await send('GET', '/apis/apps/v1/deployments')).body['apiVersion']).toBe('apps/v1');
  });

  test('G2.2: runtimeConfig toggles versions and single resources; a key without a value enables', async () => {
    expect(await code('/apis/batch/v1/cronjobs', { runtimeConfig: 'batch/v1=false' })).toBe(404);
    expect(
      await code('/apis/networking.orch.io/v1beta1/ipaddresses', { runtimeConfig: 'networking.orch.io/v1beta1' }),
    ).toBe(200);
    const single = { runtimeConfig: 'networking.orch.io/v1beta1/ipaddresses' };
    expect(await code('/apis/networking.orch.io/v1beta1/ipaddresses', single)).toBe(200);
    expect(await code('/apis/networking.orch.io/v1beta1/servicecidrs', single)).toBe(404);
  });
});

describe('deprecation', () => {
  test('G3.4: values and fields of a version work in the whole version', async () => {
    const { post, send } = open({ runtimeConfig: 'api/all=true' });
    const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const spec = {
      scaleTargetRef: { kind: 'Deployment', name: 'd' },
      maxReplicas: 2,
      targetCPUUtilizationPercentage: 50,
    };
    expect((await post(path('v1'), { metadata: { name: 'h' }, spec })).code).toBe(201);
    const { body } = await send('GET', `${path('v2')}/h`);
    expect(body['spec']).toMatchObject({ metrics: [{ resource: { target: { averageUtilization: 50 } } }] });
    expect((await send('GET', `${path('v1')}/h`)).body['spec']).toMatchObject(spec);
  });

  test('G3.8: a gate that will be removed warns; a gate without effect cannot be disabled', () => {
    const warnings: string[] = [];
    const onWarning = (text: string) => void warnings.push(text);
    createCluster({ featureGates: { SidecarContainers: true }, onWarning });
    createCluster({ featureGates: { AllowInsecureKubeletCertificateSigningRequests: true }, onWarning });
    expect(warnings).toEqual([
      expect.stringContaining('GA feature gate SidecarContainers=true'),
      expect.stringContaining('deprecated feature gate AllowInsecureKubeletCertificateSigningRequests=true'),
    ]);
    expect(() => createCluster({ featureGates: { SidecarContainers: false }, onWarning })).toThrow('locked');
  });

  test('G3.9: deprecated metrics say since when, hidden ones need a flag', async () => {
    const handle = createFetchHandler(createCluster(), { showHiddenMetricsForVersion: '1.32' });
    const text = await (await handle(new Request('http://c/metrics'))).text();
    const help = text.split('\n').filter((line) => line.startsWith('# HELP '));
    expect(help.length).toBeGreaterThan(1);
    for (const line of help) expect(line).toMatch(/ \[(ALPHA|BETA|STABLE)\] /);
    const printed = (release: '1.33' | '1.34', shown?: string) => {
      const options = shown === undefined ? { release } : { release, showHiddenMetricsForVersion: shown };
      const messages: string[] = [];
      const registry = new MetricsRegistry({ ...options, onDeprecated: (message) => messages.push(message) });
      registry.counter({ name: 'old', help: 'text', stability: 'STABLE', deprecatedVersion: '1.31' }).with({}).add();
      return [registry.print().includes('[STABLE] (Deprecated from 1.31) text'), messages.length];
    };
    expect([printed('1.33'), printed('1.34'), printed('1.34', '1.33')]).toEqual([
      [true, 1],
      [false, 0],
      [true, 1],
    ]);
    const flags = { 'show-hidden-metrics-for-version': '1.32' };
    expect(readServerFlags(flags).showHiddenMetricsForVersion).toBe('1.32');
    expect(() => readServerFlags({ 'show-hidden-metrics-for-version': '1.30' })).toThrow('previous minor version');
  });

  test('G3.10: a deprecated endpoint returns a Warning header', async () => {
    const { headers } = await open().send('GET', '/api/v1/componentstatuses');
    expect(headers.get('warning')).toContain('deprecated');
  });
});

describe('removed versions', () => {
  test.each([
    ['flowcontrol.apiserver.orch.io/v1beta3/flowschemas', '1.31', '1.32'],
    ['flowcontrol.apiserver.orch.io/v1beta2/flowschemas', '1.28', '1.29'],
    ['storage.orch.io/v1beta1/csistoragecapacities', '1.26', '1.27'],
    ['flowcontrol.apiserver.orch.io/v1beta1/flowschemas', '1.25', '1.26'],
    ['autoscaling/v2beta2/horizontalpodautoscalers', '1.25', '1.26'],
    ['batch/v1beta1/cronjobs', '1.24', '1.25'],
    ['discovery.orch.io/v1beta1/endpointslices', '1.24', '1.25'],
    ['events.orch.io/v1beta1/events', '1.24', '1.25'],
    ['autoscaling/v2beta1/horizontalpodautoscalers', '1.24', '1.25'],
    ['policy/v1beta1/poddisruptionbudgets', '1.24', '1.25'],
    ['node.orch.io/v1beta1/runtimeclasses', '1.24', '1.25'],
  ] as const)('G5.1: %s is served in release %s and removed in %s', async (path, before, removed) => {
    const runtimeConfig = 'api/all=true';
    expect(await code(`/apis/${path}`, { release: before, runtimeConfig })).toBe(200);
    expect(await code(`/apis/${path}`, { release: removed, runtimeConfig })).toBe(404);
    expect(await code(`/apis/${path}`, { runtimeConfig })).toBe(404);
  });

  test('G5.2: versions that were removed in 1.22 and 1.16 are not served, their replacements are', async () => {
    const { send } = open({ release: '1.22', runtimeConfig: 'api/all=true' });
    for (const path of [
      'storage.orch.io/v1beta1/csidrivers',
      'extensions/v1beta1/ingresses',
      'apps/v1beta2/daemonsets',
    ]) {
      expect((await send('GET', `/apis/${path}`)).code).toBe(404);
    }
    for (const path of ['storage.orch.io/v1/csidrivers', 'networking.orch.io/v1/ingresses', 'apps/v1/daemonsets']) {
      expect((await send('GET', `/apis/${path}`)).code).toBe(200);
    }
  });
});
