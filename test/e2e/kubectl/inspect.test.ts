/** kubectl describe, explain, api-resources, version and auth; logs and exec; rejected tokens; proxy. */
import { Role } from 'orchplane/kinds';
import { expect } from 'vitest';
import { configMap, eventManifest, nodeManifest, POD, webApp } from './manifests.js';
import { kubectlTests, rowsOf } from './session.js';

kubectlTests('inspect', (test) => {
  test('describes objects', async ({ run, refused, namespace }) => {
    await run('create -f -', { input: `${webApp()}---${POD}---\n${configMap('settings', { colour: 'blue' })}` });
    await run('create -f -', { input: eventManifest('alone', namespace) });
    await run('create -f -', { input: nodeManifest(namespace) });
    const pod = await run('describe pod alone');
    expect(pod).toMatch(/^Name: +alone\n/);
    expect(pod).toMatch(/\nStatus: +Pending\n/);
    expect(pod).toMatch(/\n +Image: +nginx:1.25\n/);
    expect(await run('describe deploy web')).toMatch(/\nReplicas: +2 desired \| 0 updated \| 0 total/);
    expect(await run('describe svc web')).toMatch(/\nPort: +<unset> +80\/TCP\n/);
    expect(await run('describe cm')).toContain('\nData\n====\ncolour:\n----\nblue\n');
    expect(await run(`describe ns ${namespace}`)).toContain('No resource quota.');
    expect(await run(`describe node ${namespace}`)).toMatch(/\nTaints: +node.kubernetes.io\/not-ready:NoSchedule\n/);
    expect(await refused('describe pod none')).toContain('pods "none" not found');
    await run(`delete node ${namespace}`);
  });

  test('explains kinds and fields', async ({ run, refused }) => {
    const pod = await run('explain pod');
    expect(pod).toMatch(/^KIND: +Pod\nVERSION: +v1\n/);
    for (const field of ['metadata', 'spec', 'status']) expect(pod).toMatch(new RegExp(`\n  ${field}\t<\\w+>`));
    expect(await run('explain pods.spec.containers.name')).toMatch(/FIELD: name <string>/);
    const strategy = await run('explain deploy.spec.strategy --recursive');
    expect(strategy).toMatch(/^GROUP: +apps\nKIND: +Deployment\n/);
    expect(strategy).toMatch(/\n {2}rollingUpdate\t<RollingUpdateDeployment>\n {4}maxSurge\t<IntOrString>\n/);
    expect(await run('explain hpa --api-version=autoscaling/v1')).toMatch(/VERSION: +v1\n/);
    expect(await run('explain cm --output=plaintext-openapiv2')).toMatch(/\n {3}data\t<map\[string\]string>\n/);
    expect(await refused('explain pod.nothing')).toContain('field "nothing" does not exist');
    expect(await refused('explain nonsense')).toContain('the server doesn\'t have a resource type "nonsense"');
  });

  test('lists resources and API versions', async ({ run }) => {
    const rows = rowsOf(await run('api-resources -o wide'));
    expect(rows).toContainEqual({
      NAME: 'deployments',
      SHORTNAMES: 'deploy',
      APIVERSION: 'apps/v1',
      NAMESPACED: 'true',
      KIND: 'Deployment',
      VERBS: 'create,delete,deletecollection,get,list,patch,update,watch',
      CATEGORIES: 'all',
    });
    const unscoped = rowsOf(await run('api-resources --namespaced=false')).map(({ NAME }) => NAME);
    expect(unscoped).toContain('nodes');
    expect(unscoped).not.toContain('pods');
    const reviews = await run('api-resources --verbs=create --api-group=authorization.k8s.io -o name');
    expect(reviews.split('\n')).toContain('selfsubjectaccessreviews.authorization.k8s.io');
    expect(await run('api-resources --verbs=list --api-group=authorization.k8s.io -o name')).toBe('');
    expect((await run('api-resources --categories=all -o name')).split('\n')).toContain('cronjobs.batch');
    const versions = (await run('api-versions')).split('\n');
    expect(versions).toEqual(
      expect.arrayContaining(['v1', 'apps/v1', 'autoscaling/v2', 'rbac.authorization.k8s.io/v1']),
    );
  });

  test('prints information about the server', async ({ run, server, file }) => {
    expect(await run('cluster-info')).toContain(server.url);
    expect(JSON.parse(await run('version -o json'))).toMatchObject({
      serverVersion: { major: '1', minor: '33', gitVersion: expect.stringMatching(/^v1\.33\./) },
    });
    const folder = (await file('dump', '')).replace(/dump$/, 'dumped');
    expect(await run(`cluster-info dump --output-directory=${folder}`)).toContain('Cluster info dumped to');
    expect(await run(['__complete', 'get', 'po'])).toContain('pods\n');
  });

  test('answers access reviews', async ({ run, refused, minor }) => {
    expect(await run('auth can-i list pods')).toBe('yes\n');
    expect(await run('auth can-i create deployments.apps --subresource=scale')).toBe('yes\n');
    expect(await run('auth can-i get /healthz')).toBe('yes\n');
    expect(rowsOf(await run('auth can-i --list'))).toContainEqual({
      Resources: '*.*',
      'Non-Resource URLs': '[]',
      'Resource Names': '[]',
      Verbs: '[*]',
    });
    // kubectl before 1.28 requests versions that a 1.33 server no longer serves.
    if (minor < 28) expect(await refused('auth whoami')).toContain('selfsubjectreviews API is not enabled');
    else expect(rowsOf(await run('auth whoami'))).toContainEqual({ ATTRIBUTE: 'Username', VALUE: 'admin' });
  });

  test('reconciles roles', async ({ end, cluster, namespace }) => {
    const role = (verbs: string) =>
      `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: reader, namespace: ${namespace} }\n` +
      `rules: [{ apiGroups: [""], resources: [pods], verbs: [${verbs}] }]\n`;
    const reconcile = (verbs: string) => end('auth reconcile -f -', { input: role(verbs) });
    expect((await reconcile('get')).stderr).toContain('reconciliation required create');
    expect((await reconcile('get, list')).stderr).toContain('reconciliation required update');
    const verbs = (await cluster.api(Role, namespace).get('reader')).rules?.flatMap((rule) => rule.verbs);
    expect(verbs).toEqual(['get', 'list']);
  });

  test('reports a wrong token', async ({ refused, end, file, server }) => {
    expect(await refused('get pods --token=wrong')).toContain('You must be logged in to the server');
    const config = await file('config', server.kubeconfig.replaceAll(`${server.token}`, 'wrong'));
    for (const command of ['get pods', 'apply -f -', 'auth can-i list pods']) {
      const { code, stderr } = await end(command, { env: { KUBECONFIG: config }, input: POD });
      expect(code).toBe(1);
      expect(stderr).toMatch(/Unauthorized|must be logged in|provide credentials|not logged in/);
    }
  });

  test('reports that pods that do not run have no logs, shells or ports', async ({ run, refused, end, namespace }) => {
    await run('create -f -', { input: POD });
    expect(await end('logs alone')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await refused('exec alone -- ls')).toContain('pod alone does not have a host assigned');
    expect(await refused('attach alone')).toContain('pod alone does not have a host assigned');
    expect(await refused('port-forward pod/alone :80')).toContain('pod is not running. Current status=Pending');
    expect(await refused('logs none')).toContain('pods "none" not found');

    await run('create -f -', { input: nodeManifest(namespace) });
    await run('create -f -', {
      input: POD.replace('name: alone', 'name: bound').replace('spec:', `spec:\n  nodeName: ${namespace}`),
    });
    await run([
      'patch',
      'pod',
      'bound',
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"phase":"Running"}}',
    ]);
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
    const reachable = JSON.stringify({ status: { addresses } });
    await run(['patch', 'node', namespace, '--subresource=status', '--type=merge', '-p', reachable]);
    for (const command of [
      'logs bound',
      'logs -f bound',
      'exec bound -- ls',
      'attach bound',
      'port-forward bound :80',
    ]) {
      expect(await refused(command)).toContain('orchplane runs no containers');
    }
    await run(`delete node ${namespace}`);
    expect(await refused('top nodes')).toContain('Metrics API not available');
    expect(await refused('top pods')).toContain('Metrics API not available');
  });

  test('reaches the cluster through kubectl proxy', async ({ run, start, namespace }) => {
    await run('create -f -', { input: configMap('plain') });
    const proxy = start('proxy --port=0');
    const address = /127\.0\.0\.1:\d+/.exec(await proxy.output(/Starting to serve on \S+\n/))?.[0];
    const answer = await fetch(`http://${address}/api/v1/namespaces/${namespace}/configmaps/plain`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'plain', namespace } });
    proxy.stop();
  });
});
