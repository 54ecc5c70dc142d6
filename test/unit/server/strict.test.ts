/**
 * createCluster({ strict: true }): using behaviour that is not modelled fails or warns, with a link to the
 * documentation.
 */
import { readFileSync } from 'node:fs';
import { type ClusterOptions, createCluster, StatusError } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import {
  ComponentStatus,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Node,
  Pod,
  ResourceQuota,
  Secret,
  Service,
  ValidatingWebhookConfiguration,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { STRICT_LINES, STRICT_LOOKUPS, STRICT_RELEASE, STRICT_RULES } from '../../../src/server/strict-rules.js';
import { createPod } from '../../e2e/runtime/served-runtime.js';
import { createFakeRuntime } from '../runtime/fake-runtime.js';

function strict(options: ClusterOptions = {}) {
  const warnings: string[] = [];
  const cluster = testCluster({ strict: true, onWarning: (warning) => warnings.push(warning), ...options });
  return { cluster, warnings };
}

async function refusalOf(promise: Promise<unknown>): Promise<StatusError> {
  const error = await promise.then(
    () => undefined,
    (failed: unknown) => failed,
  );
  if (!StatusError.is(error)) throw new Error(`no refusal: ${String(error)}`);
  return error;
}

const running = { controllers: controllers(standardControllers()) };
const affinity = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } },
    ],
  },
};
const containers = [{ name: 'c', image: 'i' }];

describe('a strict cluster', () => {
  test('rejects connect subresources, unless the server would reject the request anyway', async () => {
    const { cluster } = strict();
    await cluster.api(Pod).create({ metadata: { name: 'web' }, spec: { containers } });
    await cluster.api(Node).create({ metadata: { name: 'n1' } });
    await cluster.api(Service).create({ metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
    const connect = (resource: string, name: string, subresource: string) => {
      const namespace = resource === 'nodes' ? {} : { namespace: 'default' };
      const gvr = { group: '', version: 'v1', resource };
      return refusalOf(
        Promise.resolve().then(() =>
          cluster.send({ verb: 'get', resource: gvr, name, subresource, ...namespace, options: {} }),
        ),
      );
    };
    const log = await connect('pods', 'web', 'log');
    expect(log.code).toBe(501);
    expect(log.message).toBe('pods/log is not modelled (docs/fidelity.md#not-modelled-yet)');
    expect((await connect('pods', 'web', 'proxy')).message).toBe('address not allowed');
    expect((await connect('nodes', 'n1', 'proxy')).message).toContain('nodes/proxy is not modelled');
    expect((await connect('services', 'web', 'proxy')).message).toBe('services "web" not found');
    expect((await connect('pods', 'web', 'exec')).message).toBe('pod web does not have a host assigned');
    expect((await connect('pods', 'nope', 'log')).reason).toBe('NotFound');
  });

  test('connects to pods if it has a runtime', async () => {
    const { cluster } = strict();
    cluster.runtimeSlot.runtime = createFakeRuntime();
    await createPod(cluster);
    const resource = { group: '', version: 'v1', resource: 'pods' };
    const request = { resource, namespace: 'default', name: 'web', subresource: 'log', options: {} };
    expect(await cluster.send({ verb: 'get', ...request })).toMatchObject({ type: 'connection' });
  });

  test('rejects reads of component status', async () => {
    const { cluster } = strict();
    expect((await refusalOf(cluster.api(ComponentStatus).list())).code).toBe(501);
    expect((await refusalOf(cluster.api(ComponentStatus).get('scheduler'))).message).toBe(
      'component status is not modelled (docs/fidelity.md#different-by-design)',
    );
  });

  test('rejects pod affinity and topology spread if a scheduler runs', async () => {
    const { cluster } = strict(running);
    const pod = { metadata: { name: 'web', labels: { app: 'web' } }, spec: { containers, affinity } };
    expect((await refusalOf(cluster.api(Pod).create(pod))).code).toBe(501);
    const spread = [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' as const, labelSelector: {} },
    ];
    const template = { metadata: pod.metadata, spec: { containers, topologySpreadConstraints: spread } };
    const deployment = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } };
    expect((await refusalOf(cluster.api(Deployment).create(deployment))).message).toContain('#controllers');
    const soft = [{ ...spread[0], maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' as const }];
    const created = await cluster.api(Pod).create({ ...pod, spec: { containers, topologySpreadConstraints: soft } });
    expect(created.metadata.name).toBe('web');
    await cluster.close();
    // Without a scheduler, no pod is placed incorrectly.
    expect((await strict().cluster.api(Pod).create(pod)).metadata.name).toBe('web');
  });

  const webhooks = [
    {
      name: 'a.example.com',
      clientConfig: { service: { namespace: 'default', name: 'hook' } },
      sideEffects: 'None' as const,
      admissionReviewVersions: ['v1'],
    },
  ];

  test('rejects webhooks that fetch cannot reach, except in Node or if a resolver is configured', async () => {
    const configuration = { metadata: { name: 'hooks' }, webhooks };
    const inNode = strict().cluster;
    expect((await inNode.api(ValidatingWebhookConfiguration).create(configuration)).metadata.name).toBe('hooks');
    onTestFinished(() => void vi.unstubAllGlobals());
    vi.stubGlobal('process', undefined);
    const { cluster } = strict();
    const refused = await refusalOf(cluster.api(ValidatingWebhookConfiguration).create(configuration));
    expect(refused.code).toBe(501);
    const reached = strict({ webhooks: { resolve: () => 'https://localhost/' } }).cluster;
    expect((await reached.api(ValidatingWebhookConfiguration).create(configuration)).metadata.name).toBe('hooks');
    const definition = {
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced' as const,
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        conversion: {
          strategy: 'Webhook' as const,
          webhook: { clientConfig: { service: { namespace: 'a', name: 'b' } }, conversionReviewVersions: ['v1'] },
        },
      },
    };
    expect((await refusalOf(cluster.api(CustomResourceDefinition).create(definition))).code).toBe(501);
    const converting = strict({ conversions: { 'gadgets.example.com': (object) => object } }).cluster;
    await converting.api(CustomResourceDefinition).create(definition);
    expect(converting.kind('example.com/v1', 'Gadget').kind).toBe('Gadget');
  });

  test('rejects bootstrap tokens', async () => {
    const { cluster } = strict();
    const token = { metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.orch.io/token' };
    expect((await refusalOf(cluster.api(Secret).create(token))).code).toBe(501);
    expect((await cluster.api(Secret).create({ metadata: { name: 'other' } })).type).toBe('Opaque');
  });

  test('rejects the behaviour of another release', () => {
    expect(() => createCluster({ strict: true, release: '1.30' })).toThrow(
      new TypeError(
        'orchplane: strict: the behaviour of release 1.30 is not modelled, only its versions and gates (docs/fidelity.md#different-by-design)',
      ),
    );
    expect(createCluster({ strict: true, release: '1.33' }).release).toBe('1.33');
  });
});

describe('the warnings of a strict cluster', () => {
  test('warns once that no controller acts on an object', async () => {
    const { cluster, warnings } = strict();
    for (const name of ['a', 'b']) {
      await cluster.api(Pod).create({ metadata: { name }, spec: { containers } });
      await cluster.api(Namespace).create({ metadata: { name } });
      await cluster.api(Namespace).delete(name);
      await cluster.api(ResourceQuota).create({ metadata: { name }, spec: { hard: { pods: '1' } } });
    }
    expect(warnings).toEqual([
      'no component schedules or runs pods: this cluster has no controllers (docs/fidelity.md#controllers)',
      'no controller deletes the objects of a deleted namespace: this cluster has no controllers (docs/fidelity.md#controllers)',
      'no controller writes status.hard of quotas, so none is enforced: this cluster has no controllers (docs/fidelity.md#different-by-design)',
    ]);
  });

  test('does not warn about behaviour that a running controller provides', async () => {
    const { cluster, warnings } = strict(running);
    await cluster.api(Pod).create({ metadata: { name: 'a' }, spec: { containers } });
    await cluster.api(ResourceQuota).create({ metadata: { name: 'a' }, spec: { hard: { pods: '9' } } });
    await cluster.settle();
    expect(warnings.filter((warning) => warning.includes('no controllers'))).toEqual([]);
    await cluster
      .api(Service)
      .create({ metadata: { name: 'lb' }, spec: { type: 'LoadBalancer', ports: [{ port: 1 }] } });
    expect(warnings.join()).toContain('cloud controllers are not modelled');
    await cluster.close();
  });

  test('warns about owner references without a garbage collector', async () => {
    const { cluster, warnings } = strict();
    const { uid } = (await cluster.api(ConfigMap).create({ metadata: { name: 'owner' } })).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await cluster.api(ConfigMap).create({ metadata: { name: 'owned', ownerReferences } });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('no garbage collector deletes objects whose owners are deleted');
  });
});

test('accepts the same requests without warnings if strict is not set', async () => {
  const warnings: string[] = [];
  const cluster = testCluster({ onWarning: (warning) => warnings.push(warning) });
  await cluster.api(Pod).create({ metadata: { name: 'web' }, spec: { containers } });
  await cluster.api(Secret).create({ metadata: { name: 'bootstrap-token-abcdef' }, type: 'bootstrap.orch.io/token' });
  expect((await cluster.api(ComponentStatus).list()).items.length).toBeGreaterThan(0);
  expect(warnings).toEqual([]);
});

test('applies the strict option to forks and past states', async () => {
  const { cluster } = strict();
  expect((await refusalOf(cluster.fork().api(ComponentStatus).list())).code).toBe(501);
  expect((await refusalOf(cluster.at('4').api(ComponentStatus).list())).code).toBe(501);
});

test('links strict rules to existing headings of the documentation', () => {
  const text = readFileSync(new URL('../../../docs/fidelity.md', import.meta.url), 'utf8');
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  const pointers = [...STRICT_RULES, ...Object.values(STRICT_LOOKUPS), STRICT_LINES, STRICT_RELEASE];
  for (const { anchor } of pointers) expect(anchors).toContain(anchor);
});

test('names only served kinds in the strict rules', () => {
  const names = new Set(
    testCluster()
      .kinds()
      .map(({ kind }) => (kind.group === '' ? kind.kind : `${kind.group}/${kind.kind}`)),
  );
  const named = [...STRICT_RULES.flatMap(({ kinds }) => kinds), ...Object.keys(STRICT_LOOKUPS)];
  for (const name of named) if (name !== '*') expect(names).toContain(name);
});
