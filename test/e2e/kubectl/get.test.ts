/** kubectl get: tables, other outputs, selectors, pages and watches. */
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigMap, Deployment, Node, Pod } from 'orchplane/kinds';
import { expect } from 'vitest';
import { configMap, eventManifest, nodeManifest, POD, webApp } from './manifests.js';
import { kubectlTests, rowsOf } from './session.js';

kubectlTests('get', (test) => {
  test('prints the tables of the server', async ({ run, namespace, cluster }) => {
    await run('create -f -', { input: `${webApp()}---${POD}---\n${configMap('settings', { a: '1', b: '2' })}` });
    expect(rowsOf(await run('get deployments'))).toEqual([
      { NAME: 'web', READY: '0/2', 'UP-TO-DATE': '0', AVAILABLE: '0' },
    ]);
    expect(rowsOf(await run('get deploy -o wide'))).toMatchObject([
      { CONTAINERS: 'web', IMAGES: 'nginx:1.25', SELECTOR: 'app=web' },
    ]);
    expect(rowsOf(await run('get po'))).toEqual([{ NAME: 'alone', READY: '0/1', STATUS: 'Pending', RESTARTS: '0' }]);
    expect(rowsOf(await run('get po -o wide'))).toMatchObject([{ NODE: '<none>', 'NOMINATED NODE': '<none>' }]);
    expect(rowsOf(await run('get svc'))).toMatchObject([
      { NAME: 'web', TYPE: 'ClusterIP', 'CLUSTER-IP': 'None', 'EXTERNAL-IP': '<none>', 'PORT(S)': '80/TCP' },
    ]);
    expect(rowsOf(await run('get cm'))).toEqual([{ NAME: 'settings', DATA: '2' }]);
    expect(rowsOf(await run('get cm --show-labels'))).toMatchObject([{ LABELS: '<none>' }]);
    expect(rowsOf(await run('get po -L tier,none'))).toMatchObject([{ TIER: 'front', NONE: '' }]);
    expect(await run('get cm --no-headers')).toMatch(/^settings {3}2 +\S+\n$/);
    expect(rowsOf(await run('get cm --server-print=false'))).toEqual([{ NAME: 'settings' }]);
    expect(rowsOf(await run(`get ns ${namespace}`))).toEqual([{ NAME: namespace, STATUS: 'Active' }]);
    expect((await cluster.api(ConfigMap, namespace).get('settings')).data).toEqual({ a: '1', b: '2' });
  });

  test('prints nodes and events', async ({ run, namespace, cluster }) => {
    await run('create -f -', { input: nodeManifest(namespace) });
    expect(rowsOf(await run(`get nodes -l test=${namespace} -o wide`))).toMatchObject([
      { NAME: namespace, STATUS: 'Unknown', ROLES: '<none>', 'INTERNAL-IP': '<none>', 'OS-IMAGE': '<unknown>' },
    ]);
    await cluster.api(Node).delete(namespace);

    await run('create -f -', { input: eventManifest('alone', namespace) });
    const row = { TYPE: 'Normal', REASON: 'Started', OBJECT: 'pod/alone', MESSAGE: 'It runs.' };
    expect(rowsOf(await run('get events'))).toEqual([row]);
    expect(rowsOf(await run('get events.events.k8s.io'))).toEqual([row]);
    expect(rowsOf(await run('events'))).toEqual([{ ...row, OBJECT: 'Pod/alone' }]);
    expect(rowsOf(await run('events --for pod/alone --types=Normal'))).toHaveLength(1);
    expect(await run('get events --field-selector involvedObject.name=alone -o name')).toBe('event/first\n');
    expect((await run('events --for pod/other')).trim()).toBe('');
  });

  test('prints whole objects and parts of them', async ({ run, cluster, namespace }) => {
    await run('create -f -', { input: `${POD}---\n${configMap('settings', { size: 'm', 'a.b': '1' })}` });
    const stored = await cluster.api(Pod, namespace).get('alone');

    const json = JSON.parse(await run('get pod alone -o json --show-managed-fields'));
    expect(json).toEqual(stored);
    const { managedFields: _, ...metadata } = stored.metadata;
    expect(JSON.parse(await run('get pod alone -o json')).metadata).toEqual(metadata);
    const list = JSON.parse(await run('get pods,cm -o json'));
    expect(list).toMatchObject({ kind: 'List', items: [{ kind: 'Pod' }, { kind: 'ConfigMap' }] });
    expect(await run('get cm settings -o yaml')).toContain('data:\n  a.b: "1"\n  size: m\nkind: ConfigMap\n');

    expect(await run('get pods,cm -o name')).toBe('pod/alone\nconfigmap/settings\n');
    expect(await run('get cm settings -o jsonpath={.data.size}')).toBe('m');
    expect(await run(['get', 'cm', '-o', 'jsonpath={range .items[*]}{.metadata.name}:{.data.a\\.b}{end}'])).toBe(
      'settings:1',
    );
    expect(await run(['get', 'cm', '-o', 'go-template={{len .items}}'])).toBe('1');
    expect(rowsOf(await run('get po -o custom-columns=WHO:.metadata.name,WHAT:.spec.containers[0].image'))).toEqual([
      { WHO: 'alone', WHAT: 'nginx:1.25' },
    ]);
  });

  test('reads several resources at once, and all of them', async ({ run, refused, end }) => {
    expect(await end('get all')).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No resources found'),
    });
    await run('create -f -', { input: `${webApp()}---${POD}` });
    await run('create job once --image=busybox');
    const all = await run('get all');
    for (const name of ['pod/alone', 'service/web', 'deployment.apps/web', 'job.batch/once']) {
      expect(all).toContain(`\n${name} `);
    }
    expect(rowsOf((await run('get deploy/web svc/web')).split('\n\n')[1] ?? '')).toMatchObject([
      { NAME: 'service/web' },
    ]);
    const partly = await refused('get deploy/web deploy/none');
    expect(partly).toBe('Error from server (NotFound): deployments.apps "none" not found\n');
    expect(await refused('get nonsense')).toBe('error: the server doesn\'t have a resource type "nonsense"\n');
    expect(await run('get deploy none --ignore-not-found')).toBe('');
  });

  test('selects objects by labels and fields', async ({ run, refused }) => {
    for (const name of ['a', 'b', 'c']) {
      await run(`run ${name} --image=nginx --labels=name=${name},app=x`);
    }
    expect(await run('get po -l app=x,name!=b -o name')).toBe('pod/a\npod/c\n');
    expect(await run(['get', 'po', '-l', 'name in (a, b)', '-o', 'name'])).toBe('pod/a\npod/b\n');
    expect(await run('get po --field-selector status.phase=Pending,metadata.name!=a -o name')).toBe('pod/b\npod/c\n');
    expect(await run('get po --field-selector status.phase=Running -o name')).toBe('');
    expect(await refused('get po --field-selector spec.nothing=1')).toContain(
      'field label not supported: spec.nothing',
    );
    expect(await refused('get po -l =')).toContain("found '=', expected: !, identifier");
  });

  test('reads pages, sorts, and lists all namespaces', async ({ run, cluster, namespace, answered }) => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const [at, name] of names.entries()) {
      await cluster
        .api(ConfigMap, namespace)
        .create({ metadata: { name, labels: { of: namespace } }, data: { n: `${-at}` } });
    }
    const second = answered(/configmaps\?continue=\S+&limit=2 /);
    expect(rowsOf(await run('get cm --chunk-size=2')).map(({ NAME }) => NAME)).toEqual(names);
    expect(await second).toContain(' 200 ');
    expect(await run('get cm --sort-by=.metadata.name -o name')).toBe(
      names.map((name) => `configmap/${name}\n`).join(''),
    );
    expect(rowsOf(await run('get cm --sort-by={.data.n}')).map(({ NAME }) => NAME)).toEqual([...names].reverse());
    expect(rowsOf(await run(`get cm -A -l of=${namespace}`))[4]).toEqual({
      NAMESPACE: namespace,
      NAME: 'e',
      DATA: '1',
    });
  });

  test('watches changes', async ({ start, cluster, namespace, run }) => {
    const configMaps = cluster.api(ConfigMap, namespace);
    await configMaps.create({ metadata: { name: 'first' } });
    const table = start('get cm -w --output-watch-events');
    const names = start('get cm -w -o name');
    await Promise.all([table.output(/first/), names.output(/first/)]);

    await configMaps.create({ metadata: { name: 'second' }, data: { a: '1', b: '2' } });
    await names.output(/configmap\/second\n/);
    await configMaps.edit('first', (draft) => {
      draft.data = { late: 'yes' };
    });
    await configMaps.delete('second');
    const rows = rowsOf(await table.output(/DELETED {4}second.*\n/));
    expect(rows.map(({ EVENT, NAME, DATA }) => [EVENT, NAME, DATA])).toEqual([
      ['ADDED', 'first', '0'],
      ['ADDED', 'second', '2'],
      ['MODIFIED', 'first', '1'],
      ['DELETED', 'second', '2'],
    ]);
    expect(await run('get cm -o name')).toBe('configmap/first\n');
  });

  test('watches changes of one object', async ({ start, cluster, namespace }) => {
    const configMaps = cluster.api(ConfigMap, namespace);
    await configMaps.create({ metadata: { name: 'first' } });
    const yaml = start('get cm first -w -o yaml');
    await yaml.output(/kind: ConfigMap/);
    // kubectl ignores the first event, which contains every change before the start of its watch.
    const printed = yaml.output(/change: /);
    for (let change = 0; (await Promise.race([printed, delay(100)])) === undefined; change++) {
      await configMaps.edit('first', (draft) => {
        draft.data = { change: `${change}` };
      });
    }
    expect(await printed).toContain('---\n');
  });

  test('reads subresources', async ({ run, cluster, namespace }) => {
    await run('create -f -', { input: webApp({ replicas: '3' }) });
    expect(rowsOf(await run('get deploy web --subresource=scale'))).toEqual([
      { NAME: 'web', DESIRED: '3', AVAILABLE: '0' },
    ]);
    expect(await run('get deploy web --subresource=status -o jsonpath={.kind}')).toBe('Deployment');
    expect((await cluster.api(Deployment, namespace).get('web')).spec.replicas).toBe(3);
  });

  test('reads raw paths', async ({ run, refused, end, namespace }) => {
    await run('create -f -', { input: configMap('plain') });
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    expect(JSON.parse(await run(`get --raw ${path}/plain`))).toMatchObject({
      kind: 'ConfigMap',
      metadata: { namespace },
    });
    expect(JSON.parse(await run(`get --raw ${path}?limit=1`))).toMatchObject({ kind: 'ConfigMapList' });
    expect(await run('get --raw /healthz')).toBe('ok');
    expect(await run('get --raw /readyz?verbose')).toContain('readyz check passed');
    expect(await run('get --raw /metrics')).toContain('apiserver_request_total{');
    expect(await refused('get --raw /nothing')).toBe(
      'Error from server (NotFound): the server could not find the requested resource\n',
    );
    expect(JSON.parse(await run(`create --raw ${path} -f -`, { input: configMap('raw') }))).toMatchObject({
      metadata: { name: 'raw' },
    });
    expect(JSON.parse(await run(`delete --raw ${path}/raw`))).toMatchObject({ kind: 'Status', status: 'Success' });
    expect((await end('get cm raw')).stderr).toContain('configmaps "raw" not found');
  });
});
