/** Responses of all kinds that once differed from the reference server. */
import { ConfigMap } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { METADATA, start as startWith, TABLE } from './over-http.js';

const MAPS = '/api/v1/namespaces/default/configmaps';

function start(options: Parameters<typeof startWith>[0] = {}) {
  const { cluster, send, call } = startWith({ runtimeConfig: 'api/all=true', ...options });
  const json = async (...request: Parameters<typeof call>) => (await call(...request)).body;
  return { cluster, send, json };
}

async function firstEvent(response: Response): Promise<{ type: string; object: Record<string, unknown> }> {
  const reader = response.body?.getReader();
  const chunk = await reader?.read();
  await reader?.cancel();
  return JSON.parse(new TextDecoder().decode(chunk?.value as Uint8Array).split('\n')[0] ?? '');
}

test('returns a continue token regardless of later matches, so the next page may be empty', async () => {
  const { cluster, json } = start();
  for (const [name, l] of Object.entries({ a: '1', b: '2', c: '2', d: '1' })) {
    await cluster.api(ConfigMap).create({ metadata: { name, labels: { l } } });
  }
  const page = await json('GET', `${MAPS}?labelSelector=l%3D2&limit=2`);
  expect(page.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['b', 'c']);
  expect(page.metadata).not.toHaveProperty('remainingItemCount');
  const next = await json('GET', `${MAPS}?labelSelector=l%3D2&limit=2&continue=${page.metadata.continue}`);
  expect(next.items).toEqual([]);
  expect(next.metadata).not.toHaveProperty('continue');
});

test('validates the selectors of a deletecollection before its options', async () => {
  const { json } = start();
  expect(await json('DELETE', `${MAPS}?fieldSelector=x%3Dy`, 'x')).toMatchObject({
    code: 400,
    message: '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  });
  expect((await json('DELETE', `${MAPS}?resourceVersionMatch=x`, '{"dryRun":["x"]}')).details.kind).toBe('ListOptions');
});

test('returns an empty object for a dry-run delete of the last finalizers and fails a resourceVersion precondition', async () => {
  const { cluster, json } = start();
  const made = await cluster.api(ConfigMap).create({ metadata: { name: 'a', finalizers: ['orphan'] } });
  expect(await json('DELETE', `${MAPS}/a?propagationPolicy=Background&dryRun=All`)).toEqual({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { creationTimestamp: null },
  });
  const { resourceVersion } = made.metadata;
  const options = JSON.stringify({ propagationPolicy: 'Background', preconditions: { resourceVersion } });
  expect((await json('DELETE', `${MAPS}/a`, options)).message).toBe(
    `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: ${resourceVersion}`,
  );
  expect((await cluster.api(ConfigMap).get('a')).metadata.finalizers).toEqual(['orphan']);
  expect(await json('DELETE', `${MAPS}/a?propagationPolicy=Background`)).toMatchObject({ status: 'Success' });
});

test('reports unknown YAML fields in sorted order', async () => {
  const { send } = start();
  const yaml = 'zeta: 1\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: y, zoo: 1, abc: 2}\nalpha: 2\n';
  const headers = { 'content-type': 'application/yaml' };
  const strict = await send('POST', `${MAPS}?fieldValidation=Strict`, yaml.replace('name: y', 'name: "y"'), headers);
  expect(((await strict.json()) as { message: string }).message).toContain(
    'unknown field "alpha", unknown field "metadata.abc", unknown field "metadata.zoo", unknown field "zeta"',
  );
});

test('rejects a table for a watch with initial events', async () => {
  const { send } = start({ featureGates: { WatchList: true } });
  const path = `${MAPS}?watch=1&allowWatchBookmarks=true`;
  expect((await send('GET', path, undefined, { accept: TABLE })).status).toBe(406);
  const either = await send('GET', path, undefined, { accept: `${TABLE},application/json` });
  expect((await firstEvent(either)).object['kind']).toBe('ConfigMap');
  const later = await send('GET', `${path}&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`, undefined, {
    accept: TABLE,
  });
  expect(later.status).toBe(200);
  await later.body?.cancel();
});

test('sends a metadata list as the blueprint of a metadata bookmark', async () => {
  const { send } = start({ featureGates: { WatchList: true } });
  const { type, object } = await firstEvent(
    await send('GET', `${MAPS}?watch=1&allowWatchBookmarks=true`, undefined, { accept: METADATA }),
  );
  expect(type).toBe('BOOKMARK');
  const { annotations } = object['metadata'] as { annotations: Record<string, string> };
  expect(JSON.parse(atob(annotations['kubernetes.io/initial-events-list-blueprint'] ?? ''))).toEqual({
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    items: null,
  });
});

test.each([
  ['/apis/events.k8s.io/v1/events', '*core.EventList'],
  ['/apis/internal.apiserver.k8s.io/v1alpha1/storageversions', '*apiserverinternal.StorageVersionList'],
])('names the Go type of a list at %s', async (path, goType) => {
  expect((await start().json('GET', path, undefined, { accept: METADATA })).message).toContain(`is a list (${goType})`);
});

test('reports an unknown conversion for types that are only subresources', async () => {
  const { json } = start();
  for (const [apiVersion, kind] of [
    ['policy/v1', 'Eviction'],
    ['autoscaling/v1', 'Scale'],
    ['authentication.k8s.io/v1', 'TokenRequest'],
  ]) {
    expect((await json('POST', MAPS, JSON.stringify({ apiVersion, kind }))).message).toContain(
      `converting (v1.${kind}) to (core.ConfigMap): unknown conversion`,
    );
  }
  expect((await json('DELETE', `${MAPS}/a`, '{"kind":"Status","apiVersion":"v1"}')).message).toBe(
    'converting (v1.Status) to (v1.DeleteOptions): unknown conversion',
  );
});
