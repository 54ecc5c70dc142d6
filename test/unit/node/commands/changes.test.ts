/** `orchplane diff` and `orchplane delete`, against a served cluster and against a saved one. */
import { mergePatch } from 'orchplane';
import { ConfigMap, Secret } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { configMap, saved, served, WIDGETS } from './clusters.js';
import { run } from './run.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

describe('diff', () => {
  test('shows what apply would change, and exits with 1', async () => {
    const { command, cluster } = await served();
    await command('apply -f -', { stdin: configMap('a', { x: '1' }) });
    expect(await command('diff -f -', { stdin: configMap('a', { x: '1' }) })).toEqual({ code: 0, out: '', err: '' });
    const { code, out } = await command('diff -f -', { stdin: `${configMap('a', { x: '2' })}---\n${configMap('b')}` });
    expect(code).toBe(1);
    expect(out).toMatch(/^--- ConfigMap default\/a, version \d+\n\+\+\+ ConfigMap default\/a, version \d+\n@@/);
    expect(out).toContain('\n-  x: "1"\n+  x: "2"\n');
    expect(out).toContain('\n--- nothing\n+++ ConfigMap default/b\n');
    expect(out).not.toContain('\u001b');
    const coloured = await command('diff -f -', {
      stdin: configMap('a', { x: '2' }),
      isTerminal: { out: true, error: true },
    });
    expect(coloured.out).toContain('\u001b[32m+  x: "2"\u001b[0m');
    expect((await cluster.api(ConfigMap).get('a')).data).toEqual({ x: '1' });
  });

  test('masks the values of Secrets', async () => {
    const { command } = await served();
    const secret = (value: string): string =>
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: same, b: ${value}}\n`;
    await command('apply -f -', { stdin: secret('first') });
    const { out } = await command('diff -f -', { stdin: secret('second') });
    expect(out).toContain("   a: '***'\n-  b: '*** (before)'\n+  b: '*** (after)'\n");
    expect(out).not.toContain(btoa('second'));
  });

  test('masks annotations of Secrets that contain their values', async () => {
    const { command, cluster } = await served();
    const annotations = { a: 'password=first', [LAST_APPLIED]: JSON.stringify({ data: { b: btoa('first') } }) };
    await cluster.api(Secret).create({ metadata: { name: 's', annotations }, stringData: { b: 'first' } });
    const manifest =
      'apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {b: password=second}}\nstringData: {b: second}\n';
    const { out } = await command('diff --force-conflicts -f -', { stdin: manifest });
    expect(out).toContain("+  b: '*** (after)'\n");
    expect(out).toContain("     a: redacted\n+    b: '*** (after)'\n");
    for (const value of ['first', 'second']) {
      expect(out).not.toContain(value);
      expect(out).not.toContain(btoa(value));
    }
  });

  test('shows that a masked annotation of a Secret changes', async () => {
    const { command, cluster } = await served();
    const metadata = { name: 's', annotations: { a: 'env-prod-1' } };
    await cluster.api(Secret).create({ metadata, stringData: { stage: 'prod' } });
    const manifest = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s, annotations: {a: env-prod-2}}\n';
    const { code, out } = await command('diff --force-conflicts -f -', { stdin: manifest });
    expect(code).toBe(1);
    expect(out).toContain("-    a: '*** (before)'\n+    a: '*** (after)'\n");
  });

  test('shows objects of kinds that the same files define', async () => {
    const { command } = await served();
    const { code, out, err } = await command('diff -f -', { stdin: WIDGETS });
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toContain('+++ CustomResourceDefinition widgets.example.com\n');
    expect(out).toContain('+++ Widget w\n');
  });

  test('exits with 2 if the server rejects an object', async () => {
    const { command } = await served();
    const { code, err } = await command('diff -f -', { stdin: configMap('A') });
    expect(code).toBe(2);
    expect(err).toMatch(/^orchplane: stdin:1 \(document 1\): ConfigMap default\/A: [^\n]+\n$/);
  });
});

describe('delete', () => {
  test.each([
    [['delete', 'cm', '-l', ''], '--selector takes a selector; --all deletes all objects'],
    [['delete', 'cm', '-l', 'a=b', '--all'], '--selector and --all contradict each other'],
  ])('%j is refused', async (args, message) => {
    expect(await run(args)).toEqual({ code: 2, out: '', err: `orchplane: ${message}\n` });
  });

  test('deletes by manifest, by name and by selector', async () => {
    const { command, cluster } = await served();
    const configMaps = cluster.api(ConfigMap);
    for (const name of ['a', 'b', 'c', 'd']) await configMaps.create({ metadata: { name, labels: { app: name } } });
    expect(await command('delete -f - --dry-run', { stdin: configMap('a') })).toEqual({
      code: 0,
      out: 'configmap/a deleted (dry run)\n',
      err: '',
    });
    expect((await command('delete -f -', { stdin: configMap('a') })).out).toBe('configmap/a deleted\n');
    expect((await command('delete configmap/b cm/c')).out).toBe('configmap/b deleted\nconfigmap/c deleted\n');
    expect((await command('delete cm -l app=d')).out).toBe('configmap/d deleted\n');
    expect((await configMaps.list()).items).toEqual([]);
  });

  test('exits with 1 if an object does not exist, unless that is ignored', async () => {
    const { command } = await served();
    expect(await command('delete cm x')).toEqual({
      code: 1,
      out: '',
      err: 'orchplane: configmap/x: configmaps "x" not found\n',
    });
    expect(await command('delete cm x --ignore-not-found')).toEqual({ code: 0, out: '', err: '' });
    expect((await command('delete cm')).err).toBe('orchplane: delete takes either names, or --selector or --all\n');
  });

  test('waits until finalizers are removed, or until the timeout', async () => {
    const { command, cluster } = await served();
    const configMaps = cluster.api(ConfigMap);
    await configMaps.create({ metadata: { name: 'held', finalizers: ['example.com/held'] } });
    expect(await command('delete cm held --timeout 10ms')).toEqual({
      code: 1,
      out: 'configmap/held is being deleted\n',
      err: 'orchplane: configmap/held is still being deleted\n',
    });
    expect(await command('delete cm held --wait=false')).toEqual({
      code: 0,
      out: 'configmap/held is being deleted\n',
      err: '',
    });
    const { code, out } = await command('delete cm held', {
      onOutput(output) {
        if (!output.includes('held deleted'))
          void configMaps.patch('held', mergePatch({ metadata: { finalizers: null } }));
      },
    });
    expect({ code, out }).toEqual({ code: 0, out: 'configmap/held is being deleted\nconfigmap/held deleted\n' });
    await expect(configMaps.get('held')).rejects.toMatchObject({ reason: 'NotFound' });
  });

  test('deletes in a saved cluster, where deletions that need controllers stay pending', async () => {
    const data = await saved();
    expect((await run(`delete cm kept --data ${data}`)).out).toBe('configmap/kept deleted\n');
    expect((await run(`get cm kept --data ${data}`)).code).toBe(1);
    expect(await run(`delete namespace default --data ${data}`)).toMatchObject({ code: 1 });
    await run(`apply -f - --data ${data}`, { stdin: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n' });
    expect(await run(`delete namespace prod --data ${data}`)).toEqual({
      code: 0,
      out: 'namespace/prod is being deleted\n',
      err: 'orchplane: namespace/prod is still there; a served cluster with controllers completes the deletion\n',
    });
  });

  test('says that a selector matches nothing, and where an unknown kind is', async () => {
    const { command } = await served();
    expect(await command('delete cm -l a=b')).toEqual({ code: 0, out: '', err: 'no objects found\n' });
    const stdin = `${configMap('a')}---\napiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: b}\n`;
    expect(await command('delete -f -', { stdin })).toEqual({
      code: 2,
      out: '',
      err: 'orchplane: stdin:6 (document 2): no kind Deploymnt in apps/v1 is served; did you mean Deployment?\n',
    });
    expect((await command('delete cm a --timeout=-1s')).err).toBe(
      'orchplane: --timeout takes no negative duration, got "-1s"\n',
    );
  });
});
