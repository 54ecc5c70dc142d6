/**
 * Playground sessions without a page: sharing, time travel and forks.
 */
import { ConfigMap, Deployment } from 'orchplane/kinds';
import { afterEach, expect, test } from 'vitest';
import { runForText } from '../../../examples/playground/src/command-line/interpreter.js';
import { sessionShell } from '../../../examples/playground/src/command-line/session-shell.js';
import { runAction } from '../../../examples/playground/src/editor/write.js';
import { Session } from '../../../examples/playground/src/session/session.js';
import { ShareError } from '../../../examples/playground/src/share/share-link.js';
import { openShare, shareSession } from '../../../examples/playground/src/share/share-session.js';
import {
  changesOf,
  forkAt,
  leaveFork,
  originOf,
  pastAt,
  restoreTo,
  spanOf,
} from '../../../examples/playground/src/time/past.js';

const open: Session[] = [];

afterEach(async () => {
  for (const session of open.splice(0)) await session.close();
});

function begin(): Session {
  const session = new Session();
  session.store.set({ speed: 40 });
  open.push(session);
  return session;
}

const sizes = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'sizes' };

async function three(session: Session): Promise<readonly number[]> {
  const configMaps = session.cluster.with({ fieldManager: 'me' }).api(ConfigMap);
  const versions: number[] = [];
  for (const size of ['s', 'm', 'l']) {
    const { metadata } = await configMaps.apply({ metadata: { name: 'sizes' }, data: { size } });
    versions.push(Number(metadata.resourceVersion));
  }
  return versions;
}

const sizeNow = async (session: Session) => (await session.cluster.api(ConfigMap).find('sizes'))?.data?.['size'];

test('shares the text, the panel and the objects in a link', async () => {
  const session = begin();
  await session.cluster.applyYaml(`apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template: { metadata: { labels: { app: web } }, spec: { containers: [{ name: web, image: nginx }] } }
`);
  await session.cluster.api(Deployment).waitFor('web', (each) => each?.status.readyReplicas === 2);
  session.setText('a: 1\n');
  session.openPanel('time');
  const fragment = await shareSession(session);
  expect(fragment.length).toBeLessThan(16_000);

  const other = begin();
  expect(await openShare(other, `#${fragment}`)).toBe(true);
  expect(other.state).toMatchObject({ text: 'a: 1\n', panel: 'time' });
  const [here, there] = await Promise.all([session, other].map(({ cluster }) => cluster.api(Deployment).get('web')));
  expect(there?.metadata.uid).toBe(here?.metadata.uid);
  expect(there?.status.readyReplicas).toBe(2);
  // The controllers continue from the shared state.
  await other.cluster.api(Deployment).edit('web', (draft) => {
    draft.spec.replicas = 3;
  });
  await other.cluster.api(Deployment).waitFor('web', (each) => each?.status.readyReplicas === 3);
});

test('changes nothing when a link cannot be opened', async () => {
  const session = begin();
  session.setText('mine');
  const { cluster } = session;
  expect(await openShare(session, '#elsewhere')).toBe(false);
  await expect(openShare(session, '#s1.garbage')).rejects.toThrow(ShareError);
  const strange = {
    apiVersion: 'example.com/v1',
    kind: 'Nothing',
    metadata: { name: 'a', uid: 'b', resourceVersion: '9' },
  };
  const { encodeShare } = await import('../../../examples/playground/src/share/share-link.js');
  const link = await encodeShare({ text: 'theirs', objects: [strange as never], resourceVersion: '9' });
  await expect(openShare(session, link)).rejects.toThrow(
    /^The objects of this link cannot be loaded into a cluster: .*Nothing/,
  );
  expect(session.state).toMatchObject({ text: 'mine', cluster });
  const textAlone = await shareSession(session, { withObjects: false });
  expect(textAlone.length).toBeLessThan(100);
});

test('shows past versions and the changes of an object', async () => {
  const session = begin();
  const [first = 0, second = 0, third = 0] = await three(session);
  const span = spanOf(session.cluster);
  expect(span.first).toBeLessThanOrEqual(first);
  expect(span.last).toBeGreaterThanOrEqual(third);
  const key = '/ConfigMap/default/sizes';
  expect(pastAt(session.cluster, first - 1).objects.get(key)).toBeUndefined();
  expect(pastAt(session.cluster, second).objects.get(key)?.['data']).toEqual({ size: 'm' });
  expect(changesOf(session.cluster, sizes)).toMatchObject([
    { version: first, type: 'ADDED', manager: 'me' },
    { version: second, type: 'MODIFIED', object: { data: { size: 'm' } }, previous: { data: { size: 's' } } },
    { version: third, type: 'MODIFIED' },
  ]);
});

test('restores a past version', async () => {
  const session = begin();
  const [, second = 0] = await three(session);
  session.showPast(pastAt(session.cluster, second));
  restoreTo(session, second);
  expect(await sizeNow(session)).toBe('m');
  expect(session.state.past).toBeUndefined();
});

test('forks a past version and returns to the origin', async () => {
  const session = begin();
  const [, second = 0] = await three(session);
  const origin = session.cluster;
  forkAt(session, second);
  expect(session.cluster).not.toBe(origin);
  expect(originOf(session)).toBe(origin);
  expect(await sizeNow(session)).toBe('m');
  // The session lists existing objects of the fork.
  await expect.poll(() => session.objectOf(sizes)?.['data']).toEqual({ size: 'm' });
  await session.cluster.api(ConfigMap).edit('sizes', (draft) => {
    draft.data = { size: 'xl' };
  });
  await leaveFork(session);
  expect(session.cluster).toBe(origin);
  expect(await sizeNow(session)).toBe('l');
  expect(originOf(session)).toBeUndefined();
});

test('rejects writes while the past is shown', async () => {
  const session = begin();
  const [, second = 0] = await three(session);
  session.showPast(pastAt(session.cluster, second));
  expect(await runAction(session, 'apply', [])).toBe(false);
  expect(session.state.notices).toMatchObject([{ tone: 'info', text: expect.stringContaining('the past') }]);
});

test('tracks unsaved writes and texts', async () => {
  const session = begin();
  session.setText('first');
  session.markSaved();
  const shell = sessionShell(session, 'test');
  await runForText(shell, 'get pods');
  await runForText(shell, 'apply -f - --dry-run=server');
  expect(session.isUnsaved).toBe(false);
  await runForText(shell, 'create configmap a');
  expect(session.isUnsaved).toBe(true);
  session.markSaved();
  session.setText('apiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\n');
  expect(session.isUnsaved).toBe(true);
  session.markSaved();
  await runForText(shell, 'apply -f -');
  expect(session.isUnsaved).toBe(true);
});
