/**
 * A controller without the controller runtime, and its tests. The controller expires sessions: it follows them with an
 * informer, writes with `edit`, and takes a clock as a parameter. On a test cluster half an hour passes in a millisecond.
 */
import assert from 'node:assert/strict';
import { defineKind, errors, status } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import * as z from 'zod';

const Session = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Session',
  scope: 'Namespaced',
  body: {
    spec: z.object({ minutes: z.number().int().min(1) }),
    status: z.object({ phase: z.enum(['Active', 'Expired']), expiresAt: z.string().optional() }).optional(),
  },
  subresources: { status },
});

// The controller. It gets a client and a clock, so it runs the same against a test cluster and a real one.

/** Sets the expiry time of each session and marks the session when it expires. Returns a function that stops the controller. */
function startSessionController(client, clock) {
  const timers = new Map();
  const report = (error) => console.error('session controller:', error);

  async function reconcile({ metadata: { name, namespace, uid }, spec, status: seen }) {
    const sessions = client.api(Session, namespace);
    if (seen === undefined) {
      const expiresAt = new Date(clock.now() + spec.minutes * 60_000).toISOString();
      await sessions.status.edit(name, (session) => {
        session.status ??= { phase: 'Active', expiresAt };
      });
    } else if (seen.phase === 'Active' && !timers.has(uid)) {
      const left = Date.parse(seen.expiresAt) - clock.now();
      timers.set(
        uid,
        clock.after(left, () => expire(sessions, name, uid).catch(report)),
      );
    }
  }

  async function expire(sessions, name, uid) {
    await sessions.status.edit(name, (session) => {
      if (session.metadata.uid === uid) session.status.phase = 'Expired';
    });
  }

  function forget({ metadata: { uid } }) {
    timers.get(uid)?.();
    timers.delete(uid);
  }

  const informer = client.all(Session).informer();
  informer.subscribe((event) => {
    if (event.type === 'DELETED') forget(event.object);
    else reconcile(event.object).catch(report);
  });
  return () => {
    informer.close();
    for (const cancel of timers.values()) cancel();
  };
}

// The tests.

await check('a session is active until it expires', async (cluster) => {
  const sessions = cluster.api(Session);
  await sessions.create({ metadata: { name: 'alice' }, spec: { minutes: 30 } });
  await sessions.waitFor('alice', (session) => session?.status?.phase === 'Active');
  assert.equal((await sessions.get('alice')).status.expiresAt, '2030-01-01T00:30:00.000Z');

  await cluster.clock.advance(30 * 60_000 - 1);
  assert.equal((await sessions.get('alice')).status.phase, 'Active');
  await cluster.clock.advance(1);
  assert.equal((await sessions.get('alice')).status.phase, 'Expired');
});

await check('a write that loses a race is made again', async (cluster) => {
  const sessions = cluster.api(Session);
  let conflicts = 2;
  cluster.use((request, next) => {
    if (request.subresource === 'status' && request.verb === 'update' && conflicts-- > 0) {
      throw errors.conflict({ group: 'example.com', resource: 'sessions' }, request.name, 'injected');
    }
    return next();
  });
  await sessions.create({ metadata: { name: 'bob' }, spec: { minutes: 1 } });
  await cluster.clock.advance(60_000);
  assert.equal((await sessions.get('bob')).status.phase, 'Expired');
  assert.ok(conflicts < 0, 'both conflicts were thrown, and the third attempt succeeded');
});

await check('a deleted session leaves no timer behind', async (cluster) => {
  const sessions = cluster.api(Session);
  await sessions.create({ metadata: { name: 'carol' }, spec: { minutes: 30 } });
  await cluster.clock.advance(0);
  const before = cluster.clock.pending;
  await sessions.delete('carol');
  await cluster.clock.advance(0);
  assert.equal(cluster.clock.pending, before - 1);
});

await check('a fork does not change the seeded cluster', async (cluster) => {
  const sessions = cluster.api(Session);
  await sessions.create({ metadata: { generateName: 'seed-' }, spec: { minutes: 5 } });
  const fork = cluster.fork();
  await fork.api(Session).deleteCollection();
  assert.equal((await fork.api(Session).list()).items.length, 0);
  assert.equal((await sessions.get('seed-bbbbb')).spec.minutes, 5, 'generated names are sequential');
});

/** Runs a test on a new cluster with the controller, and prints one line. */
async function check(name, run) {
  const began = performance.now();
  const cluster = testCluster();
  cluster.install(Session);
  const stop = startSessionController(cluster, cluster.clock);
  try {
    await run(cluster);
  } finally {
    stop();
    await cluster.close();
  }
  const simulated = Math.round((cluster.clock.now() - Date.UTC(2030, 0, 1)) / 60_000);
  console.log(`ok  ${name} (${simulated} min in ${(performance.now() - began).toFixed(1)} ms)`);
}
