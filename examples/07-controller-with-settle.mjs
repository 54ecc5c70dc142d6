/**
 * A controller for a user-defined kind: a Site owns a Deployment and a Service, and a domain outside of the cluster that a
 * finalizer releases. The standard controllers and stages simulate the rest, so the test takes a few milliseconds.
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

/** The state outside of the cluster: the domains of the sites. */
const domains = new Set();

const sites = defineController({
  name: 'sites',
  kind: Site,
  owns: [Deployment, Service],
  // When settings change, reconcile every site that uses them.
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
    // Apply sets only these fields, and writes nothing if they are unchanged. With `force` it overwrites other managers.
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
    onError: (error, context) => console.error(context, error),
  }),
});
cluster.install(Site);
// Your own controllers can be started later, in a separate run.
const running = runControllers(cluster, [sites], { fieldManager: 'sites' });

const api = cluster.api(Site);
await cluster.api(ConfigMap).create({ metadata: { name: 'shop' }, data: { version: '1' } });
await api.create({ metadata: { name: 'shop' }, spec: { replicas: 3, settings: 'shop' } });
await cluster.settle();

assert.equal((await api.get('shop')).status.ready, 3);
assert.deepEqual([...domains], ['shop.example.com']);
const slice = (await cluster.api(EndpointSlice).list()).items.find(({ metadata }) => metadata.name.startsWith('shop-'));
console.log(`shop has ${(await api.get('shop')).status.ready} replicas behind ${slice.endpoints.length} addresses`);

// A deleted Deployment is created again, with its pods.
await cluster.api(Deployment).delete('shop');
await cluster.settle();
assert.equal((await cluster.api(Deployment).get('shop')).status.readyReplicas, 3);

// Changed settings change the pods.
await cluster.api(ConfigMap).edit('shop', (draft) => {
  draft.data = { version: '2' };
});
await cluster.settle();
const { spec } = await cluster.api(Deployment).get('shop');
console.log(`shop runs ${spec.template.spec.containers[0].image}`);

const events = (await cluster.api(CoreEvent).list({ fields: { 'involvedObject.kind': 'Site' } })).items;
console.log(`event: ${events.map(({ reason, message }) => `${reason} (${message})`)[0]}`);

// Deletion: the finalizer releases the domain, then the site is removed, then its dependents.
await api.delete('shop');
await cluster.settle();
assert.equal(await api.find('shop'), undefined);
assert.equal((await cluster.api(Deployment).list()).items.length, 0);
console.log(`shop is deleted, ${domains.size} domains are left`);

running.close();
await cluster.close();
assert.equal(cluster.clock.pending, 0);
