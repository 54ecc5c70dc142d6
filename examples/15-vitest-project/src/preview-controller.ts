/**
 * Keeps previews online: a Deployment and a Service for each, a name in the DNS, and an end. It knows the cluster by what it
 * is handed, so that it runs the same against a test cluster and a real one.
 */
import { controllerReference, defineController } from 'orchplane/controllers';
import { Deployment, Service } from 'orchplane/kinds';
import { Preview } from './preview.js';

/** What is outside of the cluster. */
export interface Dns {
  add(host: string): Promise<void>;
  remove(host: string): Promise<void>;
}

export function previewController(dns: Dns) {
  return defineController({
    name: 'previews',
    account: 'previews', // as whom it acts where controllers have accounts of their own
    kind: Preview,
    owns: [Deployment, Service],
    // A preview goes only when its name has been given back.
    finalizer: { name: 'example.com/dns', cleanup: (preview) => dns.remove(hostOf(preview)) },
    async reconcile(preview, { client, owned, clock, event }) {
      const { name, namespace, creationTimestamp } = preview.metadata;
      const { image, replicas, minutes } = preview.spec;
      const previews = client.api(Preview, namespace);

      // 1. Its end.
      const expiresMs = Date.parse(creationTimestamp) + minutes * 60_000;
      const leftMs = expiresMs - clock.now();
      if (leftMs <= 0) {
        await previews.delete(name);
        return undefined;
      }

      // 2. What belongs to it. Forced, because nobody else is to change it; what is so already stays as it is.
      const labels = { preview: name };
      const metadata = { name, ownerReferences: [controllerReference(preview)] };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
      await client
        .api(Deployment, namespace)
        .apply({ metadata, spec: { replicas, selector: { matchLabels: labels }, template } }, { force: true });
      await client
        .api(Service, namespace)
        .apply({ metadata, spec: { selector: labels, ports: [{ port: 80 }] } }, { force: true });

      // 3. What is to be known of it. The name is for those who find something there.
      const { status: known } = preview;
      const readyReplicas = owned(Deployment)[0]?.status.readyReplicas ?? 0;
      const phase = readyReplicas === replicas ? 'Online' : 'Starting';
      const expiresAt = new Date(expiresMs).toISOString();
      if (phase === 'Online' && known?.host === undefined) {
        await dns.add(hostOf(preview));
        event('Normal', 'Online', `reachable as ${hostOf(preview)}`);
      }
      if (known?.phase !== phase || known.readyReplicas !== readyReplicas || known.expiresAt !== expiresAt) {
        await previews.status.edit(name, (draft) => {
          const host = phase === 'Online' ? hostOf(preview) : known?.host;
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
