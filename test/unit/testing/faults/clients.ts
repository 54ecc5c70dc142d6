/** The clients that a fault must reach: in process, over HTTP, and a controller. */
import { type Client, createClient, StatusError } from 'orchplane';
import { controllers, defineController } from 'orchplane/controllers';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap, Namespace } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';

/** Clients of one cluster by transport. */
export function clientsOf(cluster: TestCluster): Readonly<Record<'local' | 'http', Client>> {
  const { clock } = cluster;
  const transport = httpTransport({
    baseUrl: 'http://cluster',
    fetch: createFetchHandler(cluster),
    clock,
    // Disables the retries of the transport, which these tests do not cover.
    retries: 0,
  });
  return { local: cluster, http: createClient({ transport }) };
}

/** Copies the size of each labelled ConfigMap into another one with the suffix `-copy`. */
export const copier = defineController({
  name: 'copier',
  kind: ConfigMap,
  labels: { copy: 'yes' },
  owns: [ConfigMap],
  backoff: { firstMs: 1_000, longestMs: 1_000 },
  async reconcile({ metadata, data }, { client }) {
    const copies = client.api(ConfigMap, metadata.namespace);
    const name = `${metadata.name}-copy`;
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: metadata.name, uid: metadata.uid, controller: true };
    const copy = await copies.find(name);
    if (copy === undefined) {
      await copies.create({ metadata: { name, ownerReferences: [owner] }, data: { size: data?.['size'] ?? '' } });
    } else if (copy.data?.['size'] !== data?.['size']) {
      await copies.update({ ...copy, data: { size: data?.['size'] ?? '' } });
    }
  },
});

/** A cluster with the running controller, and the errors that it reported. */
export async function withCopier(): Promise<{ cluster: TestCluster; failures: string[] }> {
  const failures: string[] = [];
  const onError = (error: unknown) => void failures.push(StatusError.is(error) ? (error.reason ?? '') : String(error));
  const cluster = testCluster({ kinds: [ConfigMap, Namespace], controllers: controllers([copier], { onError }) });
  await cluster.settle();
  return { cluster, failures };
}

export const original = { metadata: { name: 'a', labels: { copy: 'yes' } }, data: { size: 'm' } };

/** The reason with which a request is rejected, or undefined. */
export async function reasonOf(promise: Promise<unknown>): Promise<string | undefined> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (error === undefined) return undefined;
  if (!StatusError.is(error)) throw error;
  return error.reason;
}
