/** kubectl delete and wait: finalizers, cascading, grace periods and conditions. */
import { ConfigMap, Deployment, Pod } from 'orchplane/kinds';
import { expect } from 'vitest';
import { nodeManifest, POD, webApp } from './manifests.js';
import { kubectlTests } from './session.js';

const HELD = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };

kubectlTests('delete', (test) => {
  test('deletes objects by name, file, label and --all', async ({ run, refused, end, cluster, namespace }) => {
    const configMaps = cluster.api(ConfigMap, namespace);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await configMaps.create({ metadata: { name, labels: { even: `${name === 'b' || name === 'd'}` } } });
    }
    const left = async () => (await configMaps.list()).items.map(({ metadata }) => metadata.name).join('');
    expect(await run('delete cm a')).toMatch(/^configmap "a" deleted/);
    expect(await left()).toBe('bcde');
    await run('delete cm -l even=true');
    expect(await left()).toBe('ce');
    expect(await run('delete cm c --dry-run=server')).toContain('(server dry run)');
    await run('delete cm/c --now');
    expect(await left()).toBe('e');
    await run('delete cm --all');
    expect(await left()).toBe('');
    expect(await refused('delete cm a')).toBe('Error from server (NotFound): configmaps "a" not found\n');
    expect(await end('delete cm a --ignore-not-found')).toEqual({ code: 0, stdout: '', stderr: '' });
    await run('create -f -', { input: webApp() });
    await run('delete -f -', { input: webApp() });
    expect(await cluster.api(Deployment, namespace).find('web')).toBeUndefined();
  });

  test('waits for finalizers unless --wait=false is set', async ({ run, refused, start, cluster, namespace }) => {
    const configMaps = cluster.api(ConfigMap, namespace);
    await configMaps.create(HELD);
    expect(await run('delete cm held --wait=false')).toMatch(/^configmap "held" deleted/);
    expect((await configMaps.get('held')).metadata.deletionTimestamp).toBeDefined();
    expect(await refused('delete cm held --timeout=10ms')).toMatch(
      /timed out waiting for the condition on configmaps\/held|deadline exceeded/,
    );
    const waiting = start('delete cm held --wait=true');
    await waiting.output(/configmap "held" deleted/);
    await configMaps.edit('held', (draft) => {
      draft.metadata.finalizers = [];
    });
    expect(await waiting.ended).toMatchObject({ code: 0, stderr: '' });
    expect(await configMaps.find('held')).toBeUndefined();
  });

  test('sets the finalizer of the --cascade policy', async ({ run, cluster, namespace }) => {
    const deployments = cluster.api(Deployment, namespace);
    for (const [cascade, finalizers] of [
      ['foreground', ['foregroundDeletion']],
      ['orphan', ['orphan']],
    ] as const) {
      await run(`create deployment ${cascade} --image=nginx`);
      await run(`delete deploy ${cascade} --cascade=${cascade} --wait=false`);
      expect((await deployments.get(cascade)).metadata.finalizers).toEqual(finalizers);
    }
    await run('create deployment background --image=nginx');
    await run('delete deploy background');
    expect(await deployments.find('background')).toBeUndefined();
  });

  test('deletes pods on nodes after their grace period, unless forced', async ({ run, end, cluster, namespace }) => {
    await run('create -f -', { input: nodeManifest(namespace) });
    await run('create -f -', { input: POD.replace('spec:', `spec:\n  nodeName: ${namespace}`) });
    await run('delete pod alone --wait=false');
    const { metadata } = await cluster.api(Pod, namespace).get('alone');
    expect(metadata.deletionGracePeriodSeconds).toBe(30);
    expect(await run('get pods')).toContain('Terminating');
    expect(await end('delete pod alone --force --grace-period=0')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('pod "alone" force deleted'),
      stderr: expect.stringContaining('Immediate deletion does not wait for confirmation'),
    });
    expect(await cluster.api(Pod, namespace).find('alone')).toBeUndefined();
    // No controller empties this namespace.
    await run('create -f -', { input: POD });
    await run('delete pod alone');
    expect(await cluster.api(Pod, namespace).find('alone')).toBeUndefined();
    await run(`delete node ${namespace}`);
  });

  test('leaves namespaces terminating without a controller', async ({ run, namespace, refused }) => {
    expect(await run(`delete ns ${namespace} --wait=false`)).toMatch(new RegExp(`^namespace "${namespace}" deleted`));
    expect(await run(`get ns ${namespace}`)).toMatch(/Terminating/);
    expect(await refused('create cm late')).toContain(
      `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    );
  });
});

kubectlTests('wait', (test) => {
  test('waits for conditions and values', async ({ run, refused, start, answered, cluster, namespace }) => {
    await run('create -f -', { input: POD });
    expect(await refused('wait pod/alone --for=condition=Ready --timeout=0')).toBe(
      'error: condition not met for pods/alone\n',
    );
    expect(await refused('wait pod/none --for=condition=Ready --timeout=1s')).toContain('pods "none" not found');
    const ready = start('wait pod/alone --for=condition=Ready');
    const running = start('wait pod/alone --for=jsonpath={.status.phase}=Running');
    await answered(/pods\?fieldSelector=metadata.name%3Dalone/);
    await cluster
      .api(Pod, namespace)
      .subresource('status')
      .edit('alone', (draft) => {
        draft.status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      });
    expect(await ready.ended).toMatchObject({ code: 0, stdout: 'pod/alone condition met\n' });
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'pod/alone condition met\n' });
    expect(await run('wait pods --all --for=condition=Ready')).toBe('pod/alone condition met\n');
  });

  test('waits for deletion', async ({ run, refused, start, answered, cluster, namespace }) => {
    const configMaps = cluster.api(ConfigMap, namespace);
    await configMaps.create({ metadata: { name: 'c' } });
    expect(await refused('wait cm/c --for=delete --timeout=0')).toBe('error: condition not met for configmaps/c\n');
    const gone = start('wait cm/c --for=delete');
    await answered(/configmaps\?fieldSelector=metadata.name%3Dc/);
    await configMaps.delete('c');
    expect(await gone.ended).toMatchObject({ code: 0, stdout: 'configmap/c condition met\n' });
    expect((await run('wait cm/c --for=delete')).trim()).toBe('');
  });
});
