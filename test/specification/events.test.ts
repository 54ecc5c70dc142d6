/** docs/specification.md, V: events. */
import { auditLog } from 'orchplane';
import { controllers, cronJobs } from 'orchplane/controllers';
import { captureCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { EVERYTHING, MAPS, open } from './http.js';

const MINUTE = 60_000;

/** Reads the next event while time passes. */
async function afterMinutes(service: ReturnType<typeof open>, next: () => Promise<unknown>, minutes: number) {
  const event = next();
  for (let minute = 0; minute < minutes; minute++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await service.clock.advance(MINUTE);
  }
  return event;
}

describe('watch events', () => {
  test('V1.1, V1.4: events report the outcome of create, update, patch and delete', async () => {
    const { map, patch, put, send, watch } = open();
    const { next } = await watch(`${MAPS}?watch=1`);
    const { body } = await map('a');
    await put(`${MAPS}/a`, { ...body, data: { k: '1' } });
    await patch('merge', `${MAPS}/a`, { data: { k: '2' } });
    await send('DELETE', `${MAPS}/a`);
    const types: (string | undefined)[] = [];
    for (let index = 0; index < 4; index++) types.push((await next())?.type);
    expect(types).toEqual(['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED']);
  });

  test('V1.2: existing objects are ADDED when a watch starts without an exact version', async () => {
    const { map, watch } = open({ featureGates: { WatchList: true } });
    await map('a');
    for (const query of ['', '&resourceVersion=0', '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan']) {
      const { next } = await watch(`${MAPS}?watch=1${query}`);
      expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    }
  });

  test.each([
    ['ConfigMap', MAPS],
    ['PriorityClass', '/apis/scheduling.orch.io/v1/priorityclasses'],
    ['CronJob', '/apis/batch/v1/namespaces/default/cronjobs'],
  ])('V1.3: a bookmark of kind %s has only its type and a resourceVersion', async (kind, path) => {
    const service = open();
    const list = await service.send('GET', path);
    const { resourceVersion } = list.body.metadata;
    const { next } = await service.watch(`${path}?watch=1&resourceVersion=${resourceVersion}&allowWatchBookmarks=true`);
    const { body } = await service.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
    const event = await afterMinutes(service, next, 2);
    expect(event).toEqual({
      type: 'BOOKMARK',
      object: {
        kind,
        apiVersion: list.body['apiVersion'],
        metadata: { resourceVersion: body.metadata.resourceVersion },
      },
    });
  });

  test('V1.3: the bookmark that ends the initial events also has its annotations', async () => {
    const { watch } = open({ featureGates: { WatchList: true } });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const { next } = await watch(`${MAPS}?${query}`);
    const event = await next();
    expect(event?.type).toBe('BOOKMARK');
    expect(Object.keys(event?.object ?? {}).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    expect(Object.keys(event?.object.metadata ?? {}).sort()).toEqual(['annotations', 'resourceVersion']);
    expect(event?.object.metadata.annotations).toHaveProperty(['orch.io/initial-events-end'], 'true');
  });
});

describe('other events', () => {
  test('V1.5: a cron job whose time zone becomes invalid causes an event with reason UnknownTimeZone', async () => {
    const { cluster, post } = open();
    const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
    const spec = { schedule: '* * * * *', timeZone: 'Etc/UTC', jobTemplate: { spec: { template } } };
    expect((await post('/apis/batch/v1/namespaces/default/cronjobs', { metadata: { name: 'c' }, spec })).code).toBe(
      201,
    );
    // The zone was valid when the object was stored.
    const from = JSON.parse(JSON.stringify(captureCluster(cluster)).replaceAll('Etc/UTC', 'Nowhere/Land'));
    const service = open({ from, controllers: controllers([cronJobs()]) });
    await service.clock.advance(2 * MINUTE);
    const { body } = await service.send('GET', '/apis/events.orch.io/v1/namespaces/default/events');
    expect(body.items.map((event) => event['reason'])).toContain('UnknownTimeZone');
    await service.cluster.close();
  });

  test('V1.6: a deprecated endpoint causes a warning, an audit annotation and a metric', async () => {
    const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }] } });
    const featureGates = { VolumeAttributesClass: true };
    const { request, send } = open({ ...EVERYTHING, featureGates, audit });
    const path = '/apis/storage.orch.io/v1alpha1/volumeattributesclasses';
    const { headers } = await send('GET', path);
    expect(headers.get('warning')).toMatch(/^299 - ".*deprecated/);
    expect(audit.events.at(-1)?.annotations).toMatchObject({ 'orch.io/deprecated': 'true' });
    const metrics = await (await request('GET', '/metrics')).text();
    const line = metrics.split('\n').find((each) => each.startsWith('apiserver_requested_deprecated_apis{'));
    for (const label of ['group="storage.orch.io"', 'version="v1alpha1"', 'resource="volumeattributesclasses"']) {
      expect(line).toContain(label);
    }
    expect(line).toMatch(/removed_release="\d+\.\d+"/);
    expect(line).toMatch(/subresource="".* 1$/);
  });

  test.each(['v1', 'v1beta1'])(
    'V1.7: an admission webhook gets AdmissionReview %s if it lists that version',
    async (version) => {
      const reviews: object[] = [];
      const { post } = open({
        webhooks: {
          resolve: () => (review) => {
            reviews.push(review);
            const { uid } = review['request'] as { uid: string };
            return { ...review, response: { uid, allowed: true } };
          },
        },
      });
      await post('/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations', {
        metadata: { name: 'w' },
        webhooks: [
          {
            name: 'a.example.com',
            clientConfig: { url: 'https://example.com/x' },
            sideEffects: 'None',
            admissionReviewVersions: [version],
            rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
          },
        ],
      });
      expect((await post(MAPS, { metadata: { name: 'a' } })).code).toBe(201);
      expect(reviews).toMatchObject([{ kind: 'AdmissionReview', apiVersion: `admission.orch.io/${version}` }]);
    },
  );
});
