/**
 * Ephemeral containers of pods that stages simulate.
 */
import { strategicPatch } from 'orchplane';
import { controllers, readyPods, stages } from 'orchplane/controllers';
import { CoreEvent, Pod } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const NOW = '2030-01-01T00:00:00Z';

async function debugged() {
  const cluster = testCluster({ controllers: controllers([stages(readyPods({ bare: false, grace: 'kept' }))]) });
  const pods = cluster.api(Pod);
  await pods.create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'nginx:1.29' }] } });
  await cluster.settle();
  const debug = async (name: string) => {
    const patch = { spec: { ephemeralContainers: [{ name, image: 'busybox' }] } };
    await pods.subresource('ephemeralcontainers').patch('web', strategicPatch<Pod>(patch as never));
    await cluster.settle();
  };
  return { cluster, pods, debug };
}

describe('ephemeral containers in stages', () => {
  test('starts an ephemeral container of a running pod', async () => {
    const { pods, debug } = await debugged();
    await debug('first');
    const { status } = await pods.get('web');
    expect(status.ephemeralContainerStatuses).toMatchObject([
      { name: 'first', image: 'busybox', ready: false, restartCount: 0, state: { running: { startedAt: NOW } } },
    ]);
    expect(status.ephemeralContainerStatuses?.[0]?.started).toBeUndefined();
  });

  test('leaves the readiness of the pod and the other containers unchanged', async () => {
    const { pods, debug } = await debugged();
    const before = await pods.get('web');
    await debug('first');
    const after = await pods.get('web');
    expect(after.status.conditions).toEqual(before.status.conditions);
    expect(after.status.containerStatuses).toEqual(before.status.containerStatuses);
  });

  test('keeps the status of an earlier ephemeral container when another one starts', async () => {
    const { cluster, pods, debug } = await debugged();
    await debug('first');
    const [first] = (await pods.get('web')).status.ephemeralContainerStatuses ?? [];
    await cluster.clock.advance(60_000);
    await debug('second');
    const { ephemeralContainerStatuses = [] } = (await pods.get('web')).status;
    expect(ephemeralContainerStatuses.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(ephemeralContainerStatuses[0]).toEqual(first);
  });

  test('records the start with the field path of the ephemeral container', async () => {
    const { cluster, debug } = await debugged();
    await debug('first');
    const { items } = await cluster.api(CoreEvent).list();
    const started = items.find(({ message }) => message === 'Started container first');
    expect(started?.involvedObject.fieldPath).toBe('spec.ephemeralContainers{first}');
  });

  test('stops ephemeral containers with the pod', async () => {
    const { cluster, pods, debug } = await debugged();
    await debug('first');
    const seen: unknown[] = [];
    const watch = await pods.watch();
    await pods.delete('web');
    await cluster.clock.advance(60_000);
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue;
      seen.push(event.object.status.ephemeralContainerStatuses?.[0]?.state);
      if (event.type === 'DELETED') break;
    }
    expect(seen.at(-1)).toMatchObject({ terminated: { exitCode: 137, startedAt: NOW } });
  });
});
