/** kubectl apply, client-side and server-side, diff and kustomizations. */
import { jsonPatch } from 'orchplane';
import { ConfigMap, Deployment, Pod, Secret, Service } from 'orchplane/kinds';
import { expect } from 'vitest';
import { configMap, POD, webApp } from './manifests.js';
import { kubectlTests } from './session.js';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

kubectlTests('apply', (test) => {
  test('creates, keeps, changes and removes fields on apply', async ({ run, cluster, namespace }) => {
    const deployments = cluster.api(Deployment, namespace);
    const apply = (replicas: string) => run('apply -f -', { input: webApp({ replicas }) });
    expect(await apply('2')).toBe('deployment.apps/web created\nservice/web created\n');
    const first = await deployments.get('web');
    expect(await apply('2')).toBe('deployment.apps/web unchanged\nservice/web unchanged\n');
    expect((await deployments.get('web')).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(await apply('5')).toBe('deployment.apps/web configured\nservice/web unchanged\n');
    const changed = await deployments.get('web');
    expect(changed.spec.replicas).toBe(5);
    expect(changed.metadata.managedFields).toMatchObject([{ manager: 'kubectl-client-side-apply' }]);
    expect(changed.metadata.annotations?.[LAST_APPLIED]).toContain('"replicas":5');
    // The field is no longer applied, so its default returns.
    expect(await apply('')).toBe('deployment.apps/web configured\nservice/web unchanged\n');
    expect((await deployments.get('web')).spec.replicas).toBe(1);
    expect(await run('apply view-last-applied deploy web')).not.toContain('replicas');
  });

  test('merges lists by their keys on apply', async ({ run, cluster, namespace }) => {
    await run('apply -f -', { input: webApp() });
    const proxy = { name: 'proxy', image: 'envoy' };
    await cluster
      .api(Deployment, namespace)
      .patch('web', jsonPatch([{ op: 'add', path: '/spec/template/spec/containers/-', value: proxy }]));
    await run('apply -f -', { input: webApp({ image: 'nginx:1.26' }) });
    const { containers } = (await cluster.api(Deployment, namespace).get('web')).spec.template.spec ?? {
      containers: [],
    };
    expect(containers.map(({ name, image }) => [name, image])).toEqual([
      ['web', 'nginx:1.26'],
      ['proxy', 'envoy'],
    ]);
  });

  test('validates unknown fields according to --validate', async ({ refused, end, cluster, namespace }) => {
    const input = webApp().replace('replicas: 2', 'replicaz: 2');
    const unknown = 'unknown field "spec.replicaz"';
    expect(await refused('apply --validate=true -f -', { input })).toContain(
      `Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: ${unknown}`,
    );
    expect(await cluster.api(Deployment, namespace).find('web')).toBeUndefined();
    expect(await end('apply --validate=warn -f -', { input })).toMatchObject({
      code: 0,
      stdout: 'deployment.apps/web created\nservice/web unchanged\n',
      stderr: `Warning: ${unknown}\n`,
    });
    expect(await end('apply --validate=ignore -f -', { input })).toMatchObject({ code: 0, stderr: '' });
    const other = input.replace('replicaz: 2', 'replicaz: 3');
    expect(await refused('apply --validate=strict -f -', { input: other })).toContain(
      `strict decoding error: ${unknown}`,
    );
  });

  test('supports dry runs and diff of an apply', async ({ run, end, cluster, namespace }) => {
    await run('apply -f -', { input: webApp() });
    const input = webApp({ replicas: '4' });
    expect(await run('apply --dry-run=server -f -', { input })).toBe(
      'deployment.apps/web configured (server dry run)\nservice/web unchanged (server dry run)\n',
    );
    expect(await run('apply --dry-run=client -f -', { input })).toContain('deployment.apps/web configured (dry run)');
    const diff = await end('diff -f -', { input });
    expect(diff).toMatchObject({ code: 1, stdout: expect.stringContaining('\n-  replicas: 2\n+  replicas: 4\n') });
    expect(diff.stdout).toContain('\n-  generation: 1\n+  generation: 2\n');
    const applied = await end('diff --server-side --field-manager=other -f -', { input: webApp() });
    expect(applied).toMatchObject({ code: 0, stdout: '' });
    expect(await run('diff -f -', { input: webApp() })).toBe('');
    expect((await end('diff -f -', { input: configMap('new', { a: 'b' }) })).stdout).toContain('\n+  a: b\n');
    expect((await cluster.api(Deployment, namespace).get('web')).spec.replicas).toBe(2);
  });

  test('prunes objects that are no longer in the files', async ({ run, cluster, namespace }) => {
    const labelled = (name: string) =>
      configMap(name, { a: 'b' }).replace('"metadata":{', '"metadata":{"labels":{"set":"one"},');
    await run('apply -f -', { input: `${labelled('a')}\n${labelled('b')}` });
    await cluster.api(ConfigMap, namespace).create({ metadata: { name: 'foreign', labels: { set: 'one' } } });
    expect(
      await run('apply --prune -l set=one --prune-allowlist=core/v1/ConfigMap -f -', { input: labelled('b') }),
    ).toBe('configmap/b unchanged\nconfigmap/a pruned\n');
    const { items } = await cluster.api(ConfigMap, namespace).list();
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['b', 'foreign']);
  });

  test('prunes objects with ApplySets', async ({ run, cluster, namespace }) => {
    const env = { KUBECTL_APPLYSET: 'true' };
    const apply = (input: string) => run('apply --prune --applyset=mine -f -', { env, input });
    const [both, one] = [webApp(), webApp().split('---')[0] ?? ''];
    expect(await apply(both)).toBe('deployment.apps/web created\nservice/web created\n');
    expect(await apply(one)).toBe('deployment.apps/web unchanged\nservice/web pruned\n');
    expect(await cluster.api(Service, namespace).find('web')).toBeUndefined();
    const { metadata } = await cluster.api(Secret, namespace).get('mine');
    expect(metadata.managedFields).toMatchObject([{ manager: 'kubectl-applyset', operation: 'Apply' }]);
    const { labels } = (await cluster.api(Deployment, namespace).get('web')).metadata;
    expect(labels?.['applyset.kubernetes.io/part-of']).toBe(metadata.labels?.['applyset.kubernetes.io/id']);
  });

  test('reports server-side conflicts until it is forced', async ({ run, refused, cluster, namespace }) => {
    const apply = 'apply --server-side -f -';
    expect(await run(apply, { input: webApp() })).toBe(
      'deployment.apps/web serverside-applied\nservice/web serverside-applied\n',
    );
    const input = webApp({ replicas: '3' });
    const conflict = await refused(`${apply} --field-manager=other`, { input });
    expect(conflict).toContain('Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas\n');
    expect((await cluster.api(Deployment, namespace).get('web')).spec.replicas).toBe(2);
    await run(`${apply} --field-manager=other --force-conflicts`, { input });
    const { metadata, spec } = await cluster.api(Deployment, namespace).get('web');
    expect(spec.replicas).toBe(3);
    expect(metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
      ['kubectl', 'Apply'],
      ['other', 'Apply'],
    ]);
    // Managers share fields with equal values; a field that neither applies is removed.
    await run(`${apply} --field-manager=other`, { input: webApp({ replicas: '' }) });
    expect((await cluster.api(Deployment, namespace).get('web')).spec.replicas).toBe(1);
  });

  test('takes over client-side applied fields with server-side apply', async ({ run, cluster, namespace }) => {
    await run('apply -f -', { input: configMap('c', { a: '1', b: '2' }) });
    await run('apply --server-side -f -', { input: configMap('c', { a: '3' }) });
    const { data, metadata } = await cluster.api(ConfigMap, namespace).get('c');
    expect(data).toEqual({ a: '3' });
    expect(metadata.managedFields?.map(({ manager }) => manager)).not.toContain('kubectl-client-side-apply');
    expect(JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? '')).toMatchObject({ data: { a: '3' } });
  });

  test('applies kustomizations', async ({ run, file, cluster, namespace }) => {
    await file('pod.yaml', POD);
    await file('web.yaml', webApp());
    await file(
      'kustomization.yaml',
      'resources: [pod.yaml, web.yaml]\nnamePrefix: k-\nconfigMapGenerator:\n- { name: settings, literals: [a=b] }\n',
    );
    const created = await run('apply -k .');
    expect(created.replace(/settings-\w+/, 'settings').split('\n')).toEqual([
      'configmap/k-settings created',
      'service/k-web created',
      'deployment.apps/k-web created',
      'pod/k-alone created',
      '',
    ]);
    expect((await cluster.api(Pod, namespace).get('k-alone')).metadata.labels).toEqual({ app: 'web', tier: 'front' });
    expect(await run('apply -k .')).not.toContain('configured');
    expect(await run('diff -k .')).toBe('');
    expect((await run('get -k . -o name')).split('\n')).toHaveLength(5);
    await run('delete -k .');
    expect((await cluster.api(Service, namespace).list()).items).toEqual([]);
  });
});
