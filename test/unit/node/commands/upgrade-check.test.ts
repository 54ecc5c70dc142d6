/** `orchplane upgrade-check`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster } from 'orchplane';
import { serve } from 'orchplane/node';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { builtInKinds } from '../../../../src/kinds/index.js';
import { replacementIn, type VersionFacts, versionFacts } from '../../../../src/kinds/releases/api-versions.js';
import { removedKinds } from '../../../../src/kinds/releases/index.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { apiVersionOf } from '../../../../src/meta/gvk.js';
import { run } from './run.js';

let file = '';

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-upgrade-'));
  file = join(folder, 'dump.yaml');
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function check(text: string, to: string, ...options: string[]) {
  writeFileSync(file, text);
  const { code, out, err } = await run(['upgrade-check', '--to', to, '-f', file, ...options]);
  return { code, lines: out.replaceAll(file, 'dump.yaml').split('\n').slice(0, -1), err };
}

const object = (apiVersion: string, kind: string, more = '') =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a }\n${more}`;

describe('upgrade-check', () => {
  test('reports versions that are gone with their replacement', async () => {
    const { code, lines, err } = await check(
      [
        object('policy/v1beta1', 'PodDisruptionBudget'),
        object('policy/v1beta1', 'PodSecurityPolicy'),
        object('flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema'),
        object('apps/v1', 'Deployment'),
        object('example.com/v1', 'Widget'),
      ].join('---\n'),
      '1.33',
    );
    expect(code).toBe(1);
    expect(lines).toEqual([
      'dump.yaml:1: error: PodDisruptionBudget a: policy/v1beta1 PodDisruptionBudget, removed in 1.25; use policy/v1 PodDisruptionBudget',
      'dump.yaml:5: error: PodSecurityPolicy a: policy/v1beta1 PodSecurityPolicy, removed in 1.25',
      'dump.yaml:9: error: FlowSchema a: flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema, removed in 1.29; use flowcontrol.apiserver.k8s.io/v1 FlowSchema',
    ]);
    expect(err).toBe('5 objects in 1 file: 3 errors, 0 warnings\n');
  });

  test('warns about deprecated versions, which fail with --strict only', async () => {
    const text = object('batch/v1beta1', 'CronJob');
    const { code, lines } = await check(text, 'v1.24.7');
    expect([code, lines]).toEqual([
      0,
      [
        'dump.yaml:1: warning: CronJob a: batch/v1beta1 CronJob, deprecated since 1.21 and removed in 1.25; use batch/v1 CronJob',
      ],
    ]);
    expect((await check(text, '1.24', '--strict')).code).toBe(1);
    expect((await check(text, '1.20', '--strict')).code).toBe(0);
  });

  test.each([
    ['resource.k8s.io/v1alpha1', 'PodScheduling', '1.27'],
    ['resource.k8s.io/v1alpha2', 'ResourceClass', '1.31'],
    ['resource.k8s.io/v1alpha3', 'PodSchedulingContext', '1.32'],
    ['coordination.k8s.io/v1alpha1', 'LeaseCandidate', '1.32'],
    ['flowcontrol.apiserver.k8s.io/v1alpha1', 'FlowSchema', '1.21'],
    ['node.k8s.io/v1alpha1', 'RuntimeClass', '1.24'],
    ['settings.k8s.io/v1alpha1', 'PodPreset', '1.20'],
    ['networking.k8s.io/v1alpha1', 'ClusterCIDR', '1.29'],
  ])('knows that %s %s was removed in %s', async (apiVersion, kind, release) => {
    const { code, lines } = await check(object(apiVersion, kind), release);
    expect(code).toBe(1);
    expect(lines[0]).toContain(`${apiVersion} ${kind}, removed in ${release}`);
    const before = `1.${Number(release.slice(2)) - 1}`;
    expect((await check(object(apiVersion, kind), before)).code).toBe(0);
  });

  test('reports versions that the release does not have yet', async () => {
    const { code, lines } = await check(object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy'), '1.29');
    expect(code).toBe(1);
    expect(lines[0]).toContain('which appears in 1.30');
  });

  test('finds references, embedded objects, managers and the last applied configuration', async () => {
    const text = `apiVersion: v1
kind: List
items:
- apiVersion: autoscaling/v2
  kind: HorizontalPodAutoscaler
  metadata:
    name: web
    namespace: shop
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {"apiVersion":"autoscaling/v2beta2","kind":"HorizontalPodAutoscaler"}
    managedFields:
    - { manager: helm, apiVersion: autoscaling/v2beta1, operation: Update }
    - { manager: new, apiVersion: autoscaling/v2, operation: Update }
  spec:
    scaleTargetRef:
      apiVersion: extensions/v1beta1
      kind: Deployment
      name: web
`;
    const { code, lines } = await check(text, '1.33');
    expect(code).toBe(1);
    expect(lines).toEqual([
      'dump.yaml:10: warning: HorizontalPodAutoscaler shop/web: kubectl applied it as autoscaling/v2beta2 HorizontalPodAutoscaler, removed in 1.26; use autoscaling/v2 HorizontalPodAutoscaler',
      'dump.yaml:13: warning: HorizontalPodAutoscaler shop/web: the manager helm wrote it as autoscaling/v2beta1 HorizontalPodAutoscaler, removed in 1.25; use autoscaling/v2 HorizontalPodAutoscaler',
      'dump.yaml:16: error: HorizontalPodAutoscaler shop/web: spec.scaleTargetRef refers to extensions/v1beta1 Deployment, removed in 1.16; use apps/v1 Deployment',
    ]);
  });

  test('uses what CRDs of the dump say about their versions', async () => {
    const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  names: { kind: Widget }
  versions: [{ name: v1, served: true }, { name: v1beta1, served: true, deprecated: true }, { name: v1alpha1, served: false }]
`;
    const objects = ['v1', 'v1beta1', 'v1alpha1'].map((version) => object(`example.com/${version}`, 'Widget'));
    const { lines } = await check([crd, ...objects].join('---\n'), '1.33');
    expect(lines.map((line) => line.slice(line.indexOf(': ') + 2))).toEqual([
      'warning: Widget a: example.com/v1beta1 Widget, which its CRD marks as deprecated',
      'error: Widget a: example.com/v1alpha1 Widget, which its CRD does not serve',
    ]);
  });

  test('checks a running cluster', async () => {
    const cluster = createCluster({ dialect: 'kubernetes' });
    const server = await serve(cluster, { token: 'secret' });
    onTestFinished(async () => {
      await server.close();
      await cluster.close();
    });
    // The server writes its own Endpoints.
    expect(await run(['upgrade-check', '--to', '1.33', '--strict', '--kubeconfig', server.kubeconfig])).toMatchObject({
      code: 0,
      out: '',
    });
    await cluster.applyYaml(object('v1', 'Endpoints', 'subsets: []\n'));
    const { code, out } = await run(['upgrade-check', '--to', '1.33', '--kubeconfig', server.kubeconfig]);
    expect(code).toBe(0);
    expect(out).toContain(
      'warning: Endpoints default/a: v1 Endpoints, deprecated since 1.33; use discovery.k8s.io/v1 EndpointSlice',
    );
  });

  test.each([
    [['-f', '-'], 'the option --to is missing, which names a release, such as 1.33'],
    [['--to', '1.99', '-f', '-'], '--to: the API versions of release 1.99 are not known; known are 1.16 to 1.33'],
    [['--to', 'next', '-f', '-'], '--to: "next" is no release; one looks like 1.33'],
    [['--to', '1.33'], 'no cluster is named; use --kubeconfig FILE, set KUBECONFIG, or use --data DIR'],
    [['--to', '1.33', '-f', '-', '--data', 'd'], '-f and --data contradict each other'],
    [['--to', '1.33', '-f', '-'], '-f - contains no objects'],
  ])('rejects %j with one sentence', async (args, message) => {
    expect(await run(['upgrade-check', ...args])).toEqual({ code: 2, out: '', err: `orchplane: ${message}\n` });
  });
});

test.each([
  ['flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema', '1.26', 'flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema'],
  ['coordination.k8s.io/v1alpha1', 'LeaseCandidate', '1.32', 'coordination.k8s.io/v1alpha2 LeaseCandidate'],
  ['storage.k8s.io/v1alpha1', 'CSIStorageCapacity', '1.33', 'storage.k8s.io/v1 CSIStorageCapacity'],
  ['apps/v1beta1', 'Deployment', '1.16', 'apps/v1 Deployment'],
  ['extensions/v1beta1', 'Ingress', '1.18', 'networking.k8s.io/v1beta1 Ingress'],
  ['autoscaling/v2beta1', 'HorizontalPodAutoscaler', '1.16', 'autoscaling/v2beta2 HorizontalPodAutoscaler'],
  ['resource.k8s.io/v1alpha2', 'ResourceClaim', '1.30', undefined],
] as const)('the replacement of %s %s is a version that release %s serves', (apiVersion, kind, release, expected) => {
  expect(replacementIn(release, versionFacts(apiVersion, kind) as VersionFacts)).toBe(expected);
});

test('the table of versions agrees with the kinds of the library', () => {
  const known = [...builtInKinds, ...removedKinds].map(({ group, version, kind, lifecycle }) => {
    const apiVersion = apiVersionOf({ group: kubernetesDialect.group(group), version });
    return { apiVersion, kind, lifecycle, facts: versionFacts(apiVersion, kind) };
  });
  for (const { apiVersion, kind, lifecycle = {}, facts } of known) {
    expect(facts, `${apiVersion} ${kind}`).toBeTypeOf('object');
    for (const member of ['introducedIn', 'deprecatedIn', 'removedIn'] as const) {
      if (lifecycle[member] === undefined) continue;
      expect([`${apiVersion} ${kind} ${member}`, facts]).toEqual([
        `${apiVersion} ${kind} ${member}`,
        expect.objectContaining({ [member]: lifecycle[member] }),
      ]);
    }
  }
});
