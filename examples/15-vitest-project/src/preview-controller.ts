/**
 * Reconciles previews: a Deployment and a Service for each, a DNS name, and an expiry. It uses only its context, so it runs the
 * same against a test cluster and a real one.
 */
import { controllerReference, defineController } from 'orchplane/controllers';
import { Deployment, Service } from 'orchplane/kinds';
import { Preview } from './preview.js';

/** The system outside of the cluster. */
export interface Dns {
  add(host: string): Promise<void>;
  remove(host: string): Promise<void>;
}

export function previewController(dns: Dns) {
  return defineController({
    name: 'previews',
    account: 'previews', // its service account with accounts: 'own'
    kind: Preview,
    owns: [Deployment, Service],
    // A preview is removed only after its DNS name is released.
    finalizer: { name: 'example.com/dns', cleanup: (preview) => dns.remove(hostOf(preview)) },
    async reconcile(preview, { client, owned, clock, event }) {
      const { name, namespace, creationTimestamp } = preview.metadata;
      const { image, replicas, minutes } = preview.spec;
      const previews = client.api(Preview, namespace);

      // 1. Expiry.
      const expiresMs = Date.parse(creationTimestamp) + minutes * 60_000;
      const leftMs = expiresMs - clock.now();
      if (leftMs <= 0) {
        await previews.delete(name);
        return undefined;
      }

      // 2. Owned objects. `force` overwrites other managers; unchanged objects are not written.
      const labels = { preview: name };
      const metadata = { name, ownerReferences: [controllerReference(preview)] };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
      await client
        .api(Deployment, namespace)
        .apply({ metadata, spec: { replicas, selector: { matchLabels: labels }, template } }, { force: true });
      await client
        .api(Service, namespace)
        .apply({ metadata, spec: { selector: labels, ports: [{ port: 80 }] } }, { force: true });

      // 3. Status. The DNS name is added when the preview is online.
      const { status: previous } = preview;
      const readyReplicas = owned(Deployment)[0]?.status.readyReplicas ?? 0;
      const phase = readyReplicas === replicas ? 'Online' : 'Starting';
      const expiresAt = new Date(expiresMs).toISOString();
      if (phase === 'Online' && previous?.host === undefined) {
        await dns.add(hostOf(preview));
        event('Normal', 'Online', `reachable as ${hostOf(preview)}`);
      }
      if (previous?.phase !== phase || previous.readyReplicas !== readyReplicas || previous.expiresAt !== expiresAt) {
        await previews.status.edit(name, (draft) => {
          const host = phase === 'Online' ? hostOf(preview) : previous?.host;
          draft.status = { phase, readyReplicas, expiresAt, ...(host === undefined ? {} : { host }) };
        });
      }
      return { requeueAfterMs: leftMs };
    },
  });
}

export function hostOf({ metadata }: Preview): string {
  return `${metadata.name}.${metadata.namespace}.preview.example`;
}
