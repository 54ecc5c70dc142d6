/**
 * A controller of one's own kind: a Site has a Deployment and a Service for as long as it exists, and something outside
 * of the cluster that has to be given back at its end. The controllers that come with the library and pods that become
 * ready by themselves do the rest, so that the whole life of a Site runs in a few milliseconds.
 */
import assert from 'node:assert/strict';
import { defineKind, status } from 'orchplane';
import {
  controllerReference,
  controllers,
  defineController,
  runControllers,
  stages,
  standardControllers,
  watching,
} from 'orchplane/controllers';
import { ConfigMap, CoreEvent, Deployment, EndpointSlice, Service } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import * as z from 'zod';

const Site = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Site',
  scope: 'Namespaced',
  body: {
    spec: z.object({ replicas: z.number().int().min(0).default(1), settings: z.string().optional() }),
    status: z.object({ ready: z.number(), since: z.string() }).optional(),
  },
  subresources: { status },
});

/** What is outside of the cluster: names that belong to sites. */
const domains = new Set();

const sites = defineController({
  name: 'sites',
  kind: Site,
  owns: [Deployment, Service],
  // Settings that change are a reason to look at every site that uses them.
  watches: [
    watching(ConfigMap, ({ metadata }, { informer }) =>
      informer(Site)
        .list(metadata.namespace)
        .filter(({ spec }) => spec.settings === metadata.name),
    ),
  ],
  finalizer: {
    name: 'example.com/domain',
    cleanup: ({ metadata }) => void domains.delete(`${metadata.name}.example.com`),
  },
  async reconcile(site, { client, owned, informer, event, now }) {
    const { name, namespace } = site.metadata;
    domains.add(`${name}.example.com`);
    const labels = { site: name };
    const metadata = { name, ownerReferences: [controllerReference(site)] };
    const settings = site.spec.settings && informer(ConfigMap).get(site.spec.settings, namespace);
    const image = `web:${settings?.data?.version ?? 'latest'}`;
    // Apply says what this controller wants and leaves the rest to others; what is so already is not written. Forced, it
    // takes back what somebody else has set in its place.
    await client.api(Deployment, namespace).apply(
      {
        metadata,
        spec: {
          replicas: site.spec.replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
        },
      },
      { force: true },
    );
    const service = { metadata, spec: { selector: labels, ports: [{ port: 80 }] } };
    await client.api(Service, namespace).apply(service, { force: true });

    const [deployment] = owned(Deployment);
    const ready = deployment?.status.readyReplicas ?? 0;
    if (site.status?.ready === ready) return;
    await client.api(Site, namespace).status.edit(name, (draft) => {
      draft.status = { ready, since: now() };
    });
    if (ready === site.spec.replicas) event('Normal', 'Online', `all ${ready} replicas are ready`);
  },
});

const cluster = testCluster({
  controllers: controllers([...standardControllers(), stages()], {
    onError: (error, about) => console.error(about, error),
  }),
});
cluster.install(Site);
// Controllers of one's own may come later, and in a run of their own.
const running = runControllers(cluster, [sites], { fieldManager: 'sites' });

const api = cluster.api(Site);
await cluster.api(ConfigMap).create({ metadata: { name: 'shop' }, data: { version: '1' } });
await api.create({ metadata: { name: 'shop' }, spec: { replicas: 3, settings: 'shop' } });
await cluster.settle();

assert.equal((await api.get('shop')).status.ready, 3);
assert.deepEqual([...domains], ['shop.example.com']);
const slice = (await cluster.api(EndpointSlice).list()).items.find(({ metadata }) => metadata.name.startsWith('shop-'));
console.log(`shop has ${(await api.get('shop')).status.ready} replicas behind ${slice.endpoints.length} addresses`);

// Somebody takes the Deployment away: it comes back, and so do its pods.
await cluster.api(Deployment).delete('shop');
await cluster.settle();
assert.equal((await cluster.api(Deployment).get('shop')).status.readyReplicas, 3);

// New settings reach the pods.
await cluster.api(ConfigMap).edit('shop', (draft) => {
  draft.data = { version: '2' };
});
await cluster.settle();
const { spec } = await cluster.api(Deployment).get('shop');
console.log(`shop runs ${spec.template.spec.containers[0].image}`);

const events = (await cluster.api(CoreEvent).list({ fields: { 'involvedObject.kind': 'Site' } })).items;
console.log(`told: ${events.map(({ reason, message }) => `${reason} (${message})`)[0]}`);

// The end: first the domain is given back, then the site goes, then what it owned.
await api.delete('shop');
await cluster.settle();
assert.equal(await api.find('shop'), undefined);
assert.equal((await cluster.api(Deployment).list()).items.length, 0);
console.log(`shop is gone, ${domains.size} domains are left`);

running.close();
await cluster.close();
assert.equal(cluster.clock.pending, 0);
