import { readFileSync } from 'node:fs';
import { type RunOptions, runControllers, stages, standardControllers } from 'orchplane/controllers';
import { CoreEvent, Deployment, Service } from 'orchplane/kinds';
import { conflicting, droppingResponses, failing, recordRequests, type TestCluster } from 'orchplane/testing';
import { clusterTest } from 'orchplane/vitest';
import { describe, expect } from 'vitest';
import { Preview } from '../src/preview.js';
import { type Dns, previewController } from '../src/preview-controller.js';

const HOST = 'pr-7.default.preview.example';
const MINUTE = 60_000;

class FakeDns implements Dns {
  readonly hosts = new Set<string>();

  async add(host: string): Promise<void> {
    this.hosts.add(host);
  }

  async remove(host: string): Promise<void> {
    this.hosts.delete(host);
  }
}

// Every test gets a fork of this cluster: the kind is installed, Deployments create pods, and pods become ready.
const withCluster = clusterTest({
  seed: (cluster) => cluster.install(Preview),
  controllers: [...standardControllers(), stages()],
});

// In most tests the controller runs, with its own DNS.
const test = withCluster.extend<{ dns: FakeDns }>({
  dns: async ({ cluster }, use) => {
    const dns = new FakeDns();
    await using _controller = start(cluster, dns);
    await use(dns);
  },
});

function start(cluster: TestCluster, dns: Dns, options: RunOptions = {}) {
  // Failures are retried. The tests inject failures and check the result, so do not print them.
  const onError = () => undefined;
  return runControllers(cluster, [previewController(dns)], { fieldManager: 'previews', onError, ...options });
}

async function createPreview(cluster: TestCluster): Promise<void> {
  const spec = { image: 'site:7', replicas: 2, minutes: 30 };
  await cluster.api(Preview).create({ metadata: { name: 'pr-7' }, spec });
  await cluster.settle();
}

describe('a preview', () => {
  test('comes online', async ({ cluster, dns }) => {
    await createPreview(cluster);
    const preview = await cluster.api(Preview).get('pr-7');
    expect(preview.status).toEqual({
      phase: 'Online',
      host: HOST,
      readyReplicas: 2,
      expiresAt: '2030-01-01T00:30:00.000Z',
    });
    expect(dns.hosts).toEqual(new Set([HOST]));

    const deployment = await cluster.api(Deployment).get('pr-7');
    expect(deployment).toBeReady();
    expect(deployment).toBeOwnedBy(preview);
    expect(await cluster.api(Service).get('pr-7')).toMatchManifest(`
      spec:
        selector: { preview: pr-7 }
        ports: [{ port: 80 }]
    `);
    const events = await cluster.api(CoreEvent).list({ fields: { 'involvedObject.kind': 'Preview' } });
    expect(events.items.map(({ reason }) => reason)).toEqual(['Online']);
  });

  test('follows its spec', async ({ cluster, dns: _ }) => {
    await createPreview(cluster);
    await cluster.api(Preview).edit('pr-7', (draft) => {
      draft.spec.image = 'site:8';
    });
    await cluster.settle();
    const { spec } = await cluster.api(Deployment).get('pr-7');
    expect(spec.template.spec.containers[0]?.image).toBe('site:8');
  });

  test('gets a deleted Service again', async ({ cluster, dns: _ }) => {
    await createPreview(cluster);
    await cluster.api(Service).delete('pr-7');
    await cluster.settle();
    expect(await cluster.api(Service).find('pr-7')).toBeDefined();
  });

  test('is deleted with its dependents when it expires', async ({ cluster, dns }) => {
    await createPreview(cluster);
    await cluster.clock.advance(30 * MINUTE - 1);
    expect(await cluster.api(Preview).find('pr-7')).toBeDefined();

    await cluster.clock.advance(1);
    await cluster.settle();
    expect(await cluster.api(Preview).find('pr-7')).toBeUndefined();
    expect(await cluster.api(Deployment).find('pr-7')).toBeUndefined();
    expect(dns.hosts).toEqual(new Set());
  });

  test('stays until its DNS name is released', async ({ cluster, dns }) => {
    await createPreview(cluster);
    const remove = dns.remove.bind(dns);
    dns.remove = () => Promise.reject(new Error('the DNS is down'));
    await cluster.api(Preview).delete('pr-7');
    await cluster.clock.advance(MINUTE);
    expect((await cluster.api(Preview).get('pr-7')).metadata.deletionTimestamp).toBeDefined();

    dns.remove = remove;
    await cluster.clock.advance(10 * MINUTE);
    expect(await cluster.api(Preview).find('pr-7')).toBeUndefined();
    expect(dns.hosts).toEqual(new Set());
  });
});

describe('the controller', () => {
  test('does not write an unchanged status', async ({ cluster, dns: _ }) => {
    await createPreview(cluster);
    using log = recordRequests(cluster, { source: 'previews' });
    await cluster.api(Deployment).edit('pr-7', (draft) => {
      draft.metadata.labels = { seen: 'yes' }; // triggers a reconcile
    });
    await cluster.settle();
    expect(log).toHaveRequested({ kind: Deployment, verb: 'patch' }, 1); // it has reconciled
    expect(log).not.toHaveNoOpWrites({ kind: Preview });
  });

  test('writes to a preview three times: the finalizer and two phases', async ({ cluster, dns: _ }) => {
    using log = recordRequests(cluster, { kind: Preview, source: 'previews', verb: 'write' });
    await createPreview(cluster);
    expect(log).toMatchTrace(`
      update previews.example.com default/pr-7 by previews → 200
      update previews.example.com/status default/pr-7 by previews → 200
      update previews.example.com/status default/pr-7 by previews → 200
    `);
  });

  test('recovers from conflicts, failures and lost responses', async ({ cluster, dns }) => {
    using _conflicts = cluster.use(conflicting({ kind: Preview, times: 2 }));
    using _failure = cluster.use(failing({ kind: Service, source: 'previews', times: 1 }));
    using _loss = cluster.use(droppingResponses({ kind: Deployment, source: 'previews', times: 1 }));
    await createPreview(cluster);
    await cluster.clock.advance(MINUTE); // failures are retried later
    expect((await cluster.api(Preview).get('pr-7')).status?.phase).toBe('Online');
    expect(dns.hosts).toEqual(new Set([HOST]));
  });

  test('writes nothing after a restart', async ({ cluster, dns }) => {
    const first = start(cluster, dns);
    await createPreview(cluster);
    await first.close();
    const before = cluster.resourceVersion;
    await using _second = start(cluster, dns);
    await cluster.settle();
    expect(cluster.resourceVersion).toBe(before); // nothing to do
  });

  withCluster('needs only the permissions of its role', async ({ cluster }) => {
    await cluster.applyYaml(readFileSync(new URL('../deploy/role.yaml', import.meta.url), 'utf8'));
    using log = recordRequests(cluster, { source: 'previews' });
    // As its service account, and not as the administrator.
    await using _controller = start(cluster, new FakeDns(), { accounts: 'own' });
    await createPreview(cluster);
    await cluster.clock.advance(30 * MINUTE);
    await cluster.settle();
    expect(await cluster.api(Preview).find('pr-7')).toBeUndefined();
    expect(log).toHaveRequested({ user: 'system:serviceaccount:kube-system:previews' });
    expect(log.failures().filter(({ outcome }) => outcome?.reason === 'Forbidden')).toEqual([]);
  });

  // In other orders of events, with conflicts and broken watches. A failure names its seed.
  withCluster.seeds({ seeds: 10, conflicts: 0.2, cuts: 0.2 })(
    'reaches the same state in any order',
    async ({ cluster }) => {
      const dns = new FakeDns();
      await using _controller = start(cluster, dns);
      await createPreview(cluster);
      await cluster.clock.advance(MINUTE);
      expect((await cluster.api(Preview).get('pr-7')).status?.readyReplicas).toBe(2);
      expect(dns.hosts).toEqual(new Set([HOST]));
      expect((await cluster.api(Deployment).list()).items).toHaveLength(1);
    },
  );
});
