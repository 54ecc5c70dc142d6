/**
 * Event TTL controller: deletes events an hour after their last write.
 */
import { controllers, eventTtl, runControllers } from 'orchplane/controllers';
import { CoreEvent, Event } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const MINUTE_MS = 60_000;

function write(cluster: TestCluster, name: string) {
  return cluster.api(CoreEvent).create({
    metadata: { name },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    reason: 'Seen',
    message: 'seen',
    type: 'Normal',
    source: { component: 'test' },
  });
}

async function names(cluster: TestCluster): Promise<string[]> {
  return (await cluster.api(CoreEvent).list()).items.map(({ metadata }) => metadata.name);
}

test('deletes an event an hour after its creation, in both APIs', async () => {
  const cluster = testCluster({ controllers: controllers([eventTtl()]) });
  await write(cluster, 'a');
  await cluster.clock.advance(59 * MINUTE_MS);
  await write(cluster, 'b');
  expect(await names(cluster)).toEqual(['a', 'b']);
  expect((await cluster.api(Event).list()).items).toHaveLength(2);
  await cluster.clock.advance(MINUTE_MS);
  expect(await names(cluster)).toEqual(['b']);
  expect((await cluster.api(Event).list()).items).toHaveLength(1);
  await cluster.clock.advance(59 * MINUTE_MS);
  expect(await names(cluster)).toEqual([]);
});

test('extends the time with every write of an event', async () => {
  const cluster = testCluster({ controllers: controllers([eventTtl({ ttlMs: 10 * MINUTE_MS })]) });
  await write(cluster, 'a');
  for (let count = 2; count < 6; count++) {
    await cluster.clock.advance(9 * MINUTE_MS);
    await cluster.api(CoreEvent).patch('a', { type: 'merge', merge: { count } });
  }
  await cluster.clock.advance(9 * MINUTE_MS);
  expect(await names(cluster)).toEqual(['a']);
  await cluster.clock.advance(MINUTE_MS);
  expect(await names(cluster)).toEqual([]);
});

test('restarts the time for an event that is created again under the same name', async () => {
  const cluster = testCluster({ controllers: controllers([eventTtl()]) });
  await write(cluster, 'a');
  await cluster.clock.advance(30 * MINUTE_MS);
  await cluster.api(CoreEvent).delete('a');
  await write(cluster, 'a');
  await cluster.clock.advance(45 * MINUTE_MS);
  expect(await names(cluster)).toEqual(['a']);
  await cluster.clock.advance(15 * MINUTE_MS);
  expect(await names(cluster)).toEqual([]);
});

test('counts the time of existing events from their last write', async () => {
  const cluster = testCluster();
  await write(cluster, 'old');
  await cluster.clock.advance(40 * MINUTE_MS);
  await write(cluster, 'young');
  await using running = runControllers(cluster, [eventTtl()]);
  await running.ready;
  await cluster.clock.advance(20 * MINUTE_MS);
  expect(await names(cluster)).toEqual(['young']);
});

test('rejects a TTL of zero', () => {
  expect(() => eventTtl({ ttlMs: 0 })).toThrow('ttlMs must be greater than 0');
});
