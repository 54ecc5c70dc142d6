/** `orchplane apply` and `orchplane get`, against a served cluster and against a saved one. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { ConfigMap, CoreEvent, Deployment, Namespace, Secret } from 'orchplane/kinds';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { ApiResource } from '../../../../src/http/transport/discovery.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import type { CommandEnvironment } from '../../../../src/node/commands/command.js';
import type { GetValues } from '../../../../src/node/commands/get.js';
import type { OpenCluster } from '../../../../src/node/commands/open-cluster.js';
import { tableText } from '../../../../src/node/commands/output.js';
import { tableRows } from '../../../../src/node/commands/table.js';
import { watchObjects } from '../../../../src/node/commands/watch.js';
import type { ApiRequest } from '../../../../src/protocol/request.js';
import type { ApiResponse } from '../../../../src/protocol/response.js';
import { fakeClock } from '../../../../src/testing/index.js';
import { configMap, saved, served, temporaryFolder, WIDGETS } from './clusters.js';
import { run } from './run.js';

describe('apply', () => {
  test('reports created, configured and unchanged objects', async () => {
    const { command, cluster } = await served();
    const stdin = `${configMap('a', { x: '1' })}---\n${configMap('b')}`;
    expect(await command('apply -f -', { stdin })).toEqual({
      code: 0,
      out: 'configmap/a created\nconfigmap/b created\n',
      err: '',
    });
    const changed = { stdin: `${configMap('a', { x: '2' })}---\n${configMap('b')}` };
    expect((await command('apply -f - --dry-run', changed)).out).toBe(
      'configmap/a configured (dry run)\nconfigmap/b unchanged (dry run)\n',
    );
    expect((await command('apply -f -', changed)).out).toBe('configmap/a configured\nconfigmap/b unchanged\n');
    expect((await cluster.api(ConfigMap).get('a')).metadata.managedFields?.[0]?.manager).toBe('orchplane');
  });

  test('applies a CustomResourceDefinition and then an object of its kind', async () => {
    const { command } = await served();
    expect(await command('apply -f -', { stdin: WIDGETS })).toEqual({
      code: 0,
      out: 'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created\nwidget.example.com/w created\n',
      err: '',
    });
    expect((await command('get wd -o name')).out).toBe('widget.example.com/w\n');
  });

  test('reads files and folders, and prints the objects on request', async () => {
    const { command } = await served();
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'more'));
    writeFileSync(join(folder, 'a.yaml'), configMap('a'));
    writeFileSync(
      join(folder, 'more/b.json'),
      JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' } }),
    );
    const { out, code } = await command(`apply -f ${folder}/a.yaml -f ${folder}/more -o json`);
    expect(code).toBe(0);
    expect(JSON.parse(out).items.map((item: { kind: string }) => item.kind)).toEqual(['ConfigMap', 'Secret']);
  });

  test('reads subfolders with -R only', async () => {
    const { command } = await served();
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'more/deep'), { recursive: true });
    writeFileSync(join(folder, 'more/deep/b.yaml'), configMap('b'));
    expect(await command(`apply -f ${folder}`)).toEqual({
      code: 2,
      out: '',
      err: `orchplane: -f: ${folder} holds no .yaml, .yml or .json file; -R reads its subfolders\n`,
    });
    writeFileSync(join(folder, 'a.yaml'), configMap('a'));
    expect((await command(`apply -f ${folder}`)).out).toBe('configmap/a created\n');
    expect((await command(`diff -R -f ${folder}`)).out).toContain('+++ ConfigMap default/b\n');
    expect((await command(`apply --recursive -f ${folder}`)).out).toBe('configmap/a unchanged\nconfigmap/b created\n');
    expect((await command(`delete -R -f ${folder}`)).out).toBe('configmap/a deleted\nconfigmap/b deleted\n');
  });

  test('prints a line for each rejected object, applies the others and exits with 1', async () => {
    const { command, cluster } = await served();
    await cluster.api(ConfigMap).apply({ metadata: { name: 'owned' }, data: { x: '1' } }, { fieldManager: 'other' });
    const stdin = [configMap('A'), configMap('owned', { x: '2' }), configMap('fine')].join('---\n');
    const { code, out, err } = await command('apply -f -', { stdin });
    expect({ code, out }).toEqual({ code: 1, out: 'configmap/fine created\n' });
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^orchplane: stdin:1 \(document 1\): ConfigMap default\/A: .* is invalid: metadata\.name/),
      expect.stringMatching(
        /^orchplane: stdin:6 \(document 2\): ConfigMap default\/owned: .*conflict with "other": \.data\.x/,
      ),
      '--force-conflicts takes fields from other managers',
    ]);
    expect(
      (await command('apply -f - --force-conflicts --field-manager me', { stdin: configMap('owned', { x: '2' }) })).out,
    ).toBe('configmap/owned configured\n');
  });

  test('applies nothing if one document cannot be read', async () => {
    const { command, cluster } = await served();
    const stdin = `${configMap('a')}---\nkind: [\n---\nkind: ConfigMap\n`;
    const { code, out, err } = await command('apply -f -', { stdin });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^orchplane: stdin:6 \(document 2\): /),
      'orchplane: stdin:8 (document 3): apiVersion is missing',
    ]);
    expect((await cluster.api(ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toEqual([]);
  });

  test('applies to a saved cluster', async () => {
    const data = await saved();
    expect(await run(`apply -f - --data ${data}`, { stdin: configMap('new') })).toEqual({
      code: 0,
      out: 'configmap/new created\n',
      err: '',
    });
    expect((await run(`get configmaps -o name --data ${data}`)).out).toBe('configmap/kept\nconfigmap/new\n');
  });

  test('uses the namespace of the option for objects that name none', async () => {
    const { command, cluster } = await served();
    await cluster.api(Namespace).create({ metadata: { name: 'prod' } });
    await command('apply -f - -n prod', { stdin: configMap('a') });
    expect((await cluster.api(ConfigMap, 'prod').get('a')).metadata.namespace).toBe('prod');
    const other = await command('apply -f - -n prod', { stdin: configMap('a', {}, ', namespace: default') });
    expect(other).toEqual({
      code: 2,
      out: '',
      err: 'orchplane: --namespace prod contradicts the namespace default of ConfigMap a\n',
    });
  });

  test.each([
    ['apply', 'the option -f is missing'],
    ['apply -f nowhere.yaml', '-f nowhere.yaml: no such file or directory'],
    ['apply -f - -f -', 'standard input can be read only once'],
    ['apply -f -', '-f - contains no objects'],
    ['apply -f a.yaml b.yaml', 'unexpected "b.yaml"; every file needs -f, or give a folder'],
    ['apply -f - --dry-run=client', '--dry-run takes server or none, got "client"'],
    ['apply -f - -o table', '--output takes json or yaml, got "table"'],
    ['get', 'get takes a resource, such as pods or configmaps/web'],
    ['get pods', 'no cluster is named; use --kubeconfig FILE, set KUBECONFIG, or use --data DIR'],
    ['get pods --kubeconfig nowhere', '--kubeconfig nowhere: no such file'],
    ['get pods --kubeconfig src', '--kubeconfig src: EISDIR'],
    ['get pods --data=', '--data takes a folder'],
    ['get pods --data nowhere', '--data nowhere is not the folder of a cluster'],
    ['get pods --data d --kubeconfig k', '--data and --kubeconfig contradict each other'],
    ['get pods -n a -A', '--namespace and --all-namespaces contradict each other'],
    ['get pods -o xml', '--output takes table, wide, json, yaml or name, got "xml"'],
    ['delete', 'delete takes either -f, or a type with names'],
    ['delete -f - pods a', 'delete takes either -f, or a type with names'],
    ['delete pods a --timeout soon', '--timeout takes a duration such as 30s, got "soon"'],
    ['delete pods a --cascade=all', '--cascade takes background, foreground or orphan, got "all"'],
    ['diff', 'the option -f is missing'],
  ])('rejects "%s" with one line and exit code 2', async (line, problem) => {
    const { code, out, err } = await run(line);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^orchplane: [^\n]+\n$/);
    expect(err).toContain(problem);
    expect(existsSync('nowhere')).toBe(false);
  });

  test('names credentials and servers that cannot be used', async () => {
    const config = (user: string) =>
      `{"current-context":"a","contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}],"users":[{"name":"u","user":${user}}]}`;
    expect((await run(['get', 'pods', '--kubeconfig', config('{"exec":{"command":"aws"}}')])).err).toMatch(
      /^orchplane: .* its user has exec, which is not supported; use --token\n$/,
    );
    expect((await run(['get', 'pods', '--kubeconfig', config('{}')])).err).toMatch(
      /^orchplane: http:\/\/127\.0\.0\.1:1\/api cannot be reached: [^\n]+\n$/,
    );
    expect((await run('get pods', { variables: { KUBECONFIG: 'a:b' } })).err).toContain(
      'KUBECONFIG names several files',
    );
  });
});

describe('a server that is not as expected', () => {
  /** The kubeconfig of a server that answers paths with a status and a text. */
  async function answering(answers: Readonly<Record<string, readonly [code: number, text: string]>>): Promise<string> {
    const server = createServer((request, response) => {
      const [code, text] = answers[request.url?.split('?')[0] ?? ''] ?? [404, '{}'];
      response.writeHead(code, { 'content-type': 'application/json' }).end(text);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return `{"current-context":"a","contexts":[{"name":"a","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:${port}"}}]}`;
  }

  test('gets no token that a header cannot carry, and errors do not contain it', async () => {
    const folder = temporaryFolder();
    const [file, tokenFile] = [join(folder, 'kubeconfig'), join(folder, 'token')];
    writeFileSync(tokenFile, 'secret\nsecret\n');
    const config = JSON.parse(await answering({}));
    const [context] = config.contexts;
    context.context.user = 'u';
    writeFileSync(file, JSON.stringify({ ...config, users: [{ name: 'u', user: { tokenFile } }] }));
    for (const options of [[], ['--token', 'secret\nsecret']]) {
      const { code, out, err } = await run(['get', 'pods', '--kubeconfig', file, ...options]);
      expect([code, out]).toEqual([2, '']);
      expect(err).toBe('orchplane: the token contains a line break, which a header cannot carry\n');
    }
  });

  test.each([200, 404, 502])('is named if it answers with HTML and status %d', async (code) => {
    const kubeconfig = await answering({ '/api': [code, '<html>welcome</html>'] });
    const { code: exit, out, err } = await run(['get', 'pods', '--kubeconfig', kubeconfig]);
    expect([exit, out]).toEqual([2, '']);
    expect(err).toMatch(
      /^orchplane: http:\/\/127\.0\.0\.1:\d+\/api (is not an API server|answers with status)[^\n]*\n$/,
    );
  });

  const core = JSON.stringify({
    resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['get', 'list'] }],
  });
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMapList', metadata: {}, items: [] });

  test('is used without the groups whose aggregated server fails', async () => {
    const kubeconfig = await answering({
      '/api': [200, '{"versions":["v1"]}'],
      '/api/v1': [200, core],
      '/apis': [200, '{"groups":[{"name":"metrics.k8s.io","versions":[{"version":"v1beta1"}]}]}'],
      '/apis/metrics.k8s.io/v1beta1': [503, 'service unavailable'],
      '/api/v1/namespaces/default/configmaps': [200, list],
    });
    const { code, err } = await run(['get', 'configmaps', '-o', 'name', '--kubeconfig', kubeconfig]);
    expect(code).toBe(0);
    expect(err).toMatch(
      /^orchplane: the resources of metrics\.k8s\.io\/v1beta1 are left out: [^\n]+ answers with status 503\nno objects/,
    );
  });

  const discovery = {
    '/api': [200, '{"versions":["v1"]}'],
    '/api/v1': [200, core],
    '/apis': [200, '{}'],
  } as const;

  test.each(['name', 'table'])('is named if it repeats a continue token, with -o %s', async (format) => {
    const endless = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { continue: 'more' }, items: [], rows: [] };
    const path = '/api/v1/namespaces/default/configmaps';
    const kubeconfig = await answering({ ...discovery, [path]: [200, JSON.stringify(endless)] });
    expect(await run(['get', 'configmaps', '-o', format, '--kubeconfig', kubeconfig])).toEqual({
      code: 2,
      out: '',
      err: 'orchplane: the list of configmaps does not end: the server repeats a continue token\n',
    });
  });

  const metadata = {};
  test.each([
    { kind: 'Table' },
    { kind: 'Table', metadata, rows: {} },
    { kind: 'Table', metadata, rows: [null] },
    { kind: 'Table', metadata, rows: [{ cells: 'a' }] },
    { kind: 'Table', metadata, rows: [{ cells: ['a'] }], columnDefinitions: [{}] },
    { kind: 'Table', metadata, rows: [{ cells: ['a'] }], columnDefinitions: 1 },
    { kind: 'ConfigMapList', metadata, items: [{}] },
  ])('is named if it answers with %j', async (answer) => {
    const path = '/api/v1/namespaces/default/configmaps';
    const text = JSON.stringify({ apiVersion: 'v1', ...answer });
    const kubeconfig = await answering({ ...discovery, [path]: [200, text] });
    const format = answer.kind === 'Table' ? 'table' : 'name';
    expect(await run(['get', 'configmaps', '-o', format, '--kubeconfig', kubeconfig])).toEqual({
      code: 2,
      out: '',
      err: `orchplane: the answer of the server is not a valid ${answer.kind === 'Table' ? 'Table' : 'list'}\n`,
    });
  });

  test.each([
    { kind: 'PriceList', items: [{ price: 1 }] },
    { kind: 'Table', rows: 3 },
  ])('is used for single objects of a kind with fields of lists and Tables: $kind', async (fields) => {
    const object = { apiVersion: 'example.com/v1', metadata: { name: 'a', resourceVersion: '1' }, ...fields };
    const path = '/apis/example.com/v1';
    const resource = { name: 'as', kind: fields.kind, namespaced: true, verbs: ['get'] };
    const kubeconfig = await answering({
      '/api': [200, '{"versions":[]}'],
      '/apis': [200, '{"groups":[{"name":"example.com","versions":[{"version":"v1"}]}]}'],
      [path]: [200, JSON.stringify({ resources: [resource] })],
      [`${path}/namespaces/default/as/a`]: [200, JSON.stringify(object)],
    });
    const get = async (...args: string[]) => run(['get', ...args, '--kubeconfig', kubeconfig]);
    const { code, out } = await get('as', 'a', '-o', 'json');
    expect([code, JSON.parse(out)]).toEqual([0, object]);
    expect(await get('as', 'a', '-o', 'name')).toMatchObject({ code: 0, out: expect.stringMatching(/\/a\n$/) });
  });

  test('is used if its discovery has values of other types', async () => {
    const odd = { toString: 1 };
    const kubeconfig = await answering({
      '/api': [200, JSON.stringify({ versions: ['v1', odd] })],
      '/api/v1': [200, core.replace('"verbs":[', '"shortNames":[{"toString":1},"cm"],"verbs":[')],
      '/apis': [200, JSON.stringify({ groups: [null, odd, { name: odd, versions: odd }] })],
      '/api/v1/namespaces/default/configmaps': [200, list],
    });
    expect(await run(['get', 'cm', '-o', 'name', '--kubeconfig', kubeconfig])).toMatchObject({ code: 0 });
  });

  const event = { type: 'MODIFIED', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } };
  test.each([
    { of: 'empty watches', events: () => [], expected: [0, 0, 1, 3, 7, 15, 31, 61] },
    {
      of: 'watches with an event, then empty ones',
      events: (nth: number) => (nth <= 4 ? [event] : []),
      expected: [0, 0, 0, 0, 0, 0, 1, 3],
    },
  ])('is asked again after growing pauses if it ends watches at once: $of', async ({ events, expected }) => {
    const clock = fakeClock();
    const object = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '1' }, items: [] };
    const times: number[] = [];
    const began = clock.now();
    const transport = {
      dialect: kubernetesDialect,
      clock,
      send: async ({ verb }: ApiRequest): Promise<ApiResponse> => {
        if (verb !== 'watch') return { type: 'object', code: 200, object, warnings: [] } as unknown as ApiResponse;
        times.push((clock.now() - began) / 1_000);
        return {
          type: 'watch',
          watch: new ReadableStream({
            start(controller) {
              for (const each of events(times.length)) controller.enqueue(each);
              controller.close();
            },
          }),
        } as unknown as ApiResponse;
      },
    };
    const resource = { gvr: ConfigMap, gvk: ConfigMap, namespaced: true, verbs: ['list'] } as unknown as ApiResource;
    let stop = (): void => undefined;
    const untilUnread = () =>
      new Promise<void>((resolve) => {
        stop = resolve;
      });
    const cluster = { transport, tables: transport, server: 's', namespace: 'default' } as unknown as OpenCluster;
    const environment = { untilUnread, writeOut: () => undefined } as unknown as CommandEnvironment;
    const watched = watchObjects(cluster, [{ resource }] as never, { output: 'name' } as GetValues, environment);
    while (times.length < 8) {
      await clock.advance(500);
      expect(clock.now() - began).toBeLessThan(200_000);
    }
    expect(times).toEqual(expected);
    stop();
    expect(await watched).toBe(0);
  });

  test('is used without the groups whose discovery is stale', async () => {
    const aggregated = { items: [{ metadata: { name: 'm.io' }, versions: [{ version: 'v1', freshness: 'Stale' }] }] };
    const kubeconfig = await answering({
      '/api': [200, '{"versions":["v1"]}'],
      '/api/v1': [200, core],
      '/apis': [200, JSON.stringify(aggregated)],
      '/api/v1/namespaces/default/configmaps': [200, list],
    });
    const { code, err } = await run(['get', 'configmaps', '-o', 'name', '--kubeconfig', kubeconfig]);
    expect(code).toBe(0);
    expect(err).toMatch(/^orchplane: the resources of m\.io\/v1 are left out: its server does not answer\n/);
  });
});

describe('get', () => {
  test('prints tables with the columns of the server', async () => {
    const { command, cluster } = await served();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { x: '1' } });
    await cluster.api(Secret).create({ metadata: { name: 'b' } });
    expect((await command('get cm')).out).toMatch(/^NAME {3}DATA {3}AGE\na {6}1 {6}\d+s\n$/);
    expect((await command('get ConfigMap,secrets -A')).out).toMatch(
      /^NAMESPACE {3}NAME {10}DATA {3}AGE\ndefault {5}configmap\/a {3}1 {6}\d+s\n\nNAMESPACE {3}NAME {7}TYPE {5}DATA {3}AGE\ndefault {5}secret\/b {3}Opaque {3}0 {6}\d+s\n$/,
    );
    expect((await command('get cm --no-headers')).out).toMatch(/^a {3}1 {3}\d+s\n$/);
    expect(await command('get cm -n kube-system')).toEqual({
      code: 0,
      out: '',
      err: 'no objects found in the namespace kube-system\n',
    });
  });

  test('does not pad the rows of a table to the length of a long cell', () => {
    const long = 'x'.repeat(1000);
    expect(
      tableText([
        ['NAME', 'DATA'],
        [long, '1'],
        ['b', '2'],
      ]),
    ).toBe(`NAME   DATA\n${long}   1\nb      2\n`);
  });

  test('prints the cells that a row of a table has, however many columns there are', () => {
    const columnDefinitions = ['name', 'size', 'more'].map((name, at) => ({ name, priority: at === 1 ? 1 : 0 }));
    const cells = [[], ['a'], ['b', 1], ['c', 1, 2], ['d', 1, null, 'unknown']];
    const table = { kind: 'Table', metadata: {}, columnDefinitions, rows: cells.map((each) => ({ cells: each })) };
    const options = { isWide: false, hasHeaders: true, hasNamespaces: false, prefix: 'x/' };
    const expected = [['NAME', 'MORE'], ['x/'], ['x/a'], ['x/b'], ['x/c', '2'], ['x/d', '<none>']];
    expect(tableRows([table], options)).toEqual(expected);
    const many = Array.from({ length: 3_000 }, (_, at) => ({ name: `n${at}` }));
    const rows = Array.from({ length: 3_000 }, () => ({ cells: [] }));
    const text = tableText(tableRows([{ ...table, columnDefinitions: many, rows }], options));
    expect(text.length).toBeLessThan(100_000);
  });

  test('prints objects as JSON, YAML and names, selected by labels and fields', async () => {
    const { command, cluster } = await served();
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name, labels: { app: name } } });
    expect(JSON.parse((await command('get configmap a -o json')).out)).toMatchObject({
      kind: 'ConfigMap',
      metadata: { name: 'a' },
    });
    expect((await command('get configmap/b -o yaml')).out).toMatch(/^apiVersion: v1\nkind: ConfigMap\nmetadata:\n/);
    expect((await command('get cm -l app=b -o name')).out).toBe('configmap/b\n');
    expect((await command('get cm --field-selector metadata.name=a -o name')).out).toBe('configmap/a\n');
    const list = JSON.parse((await command('get cm -o json')).out);
    expect(list).toMatchObject({ kind: 'List', items: [{ kind: 'ConfigMap' }, { kind: 'ConfigMap' }] });
  });

  test('reads long lists in pages', async () => {
    const { command, cluster } = await served();
    for (let index = 0; index < 501; index++) await cluster.api(ConfigMap).create({ metadata: { name: `c-${index}` } });
    expect((await command('get cm -o name')).out.trimEnd().split('\n').length).toBe(501);
    expect((await command('get cm')).out.trimEnd().split('\n').length).toBe(502);
  });

  test('finds types by group, version, short name and category', async () => {
    const { command, cluster } = await served();
    const template = { metadata: { labels: { app: 'w' } }, spec: { containers: [{ name: 'w', image: 'w' }] } };
    await cluster
      .api(Deployment)
      .create({ metadata: { name: 'w' }, spec: { selector: { matchLabels: { app: 'w' } }, template } });
    for (const word of ['deploy', 'deployments.apps', 'deployment.v1.apps', 'Deployment']) {
      expect((await command(`get ${word} -o name`)).out).toBe('deployment.apps/w\n');
    }
    expect((await command('get all -o name')).out).toContain('deployment.apps/w\n');
    expect(await command('get gadgets')).toEqual({
      code: 2,
      out: '',
      err: 'orchplane: the server has no resource "gadgets"\n',
    });
    expect((await command('get pods/a/b')).err).toBe('orchplane: "pods/a/b" is not TYPE/NAME\n');
    expect((await command('get pods a -l x=y')).err).toBe('orchplane: --selector and names contradict each other\n');
  });

  test('exits with 1 if an object does not exist, unless that is ignored', async () => {
    const { command, cluster } = await served();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const { code, out, err } = await command('get cm a b -o name');
    expect({ code, out, err }).toEqual({ code: 1, out: 'configmap/a\n', err: 'orchplane: configmaps "b" not found\n' });
    expect(await command('get cm b --ignore-not-found')).toEqual({ code: 0, out: '', err: '' });
  });

  test.each(['table', 'name', 'json', 'yaml'])(
    'watches until it is stopped, and prints changes as %s',
    async (format) => {
      const { command, cluster } = await served();
      await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
      let stop = (): void => undefined;
      const stopped = new Promise<void>((resolve) => {
        stop = resolve;
      });
      const shown = (name: string): RegExp =>
        new RegExp({ table: `^${name} `, name: `/${name}$` }[format] ?? `name.*: "?${name}"?`, 'm');
      let isCreated = false;
      const { code, out } = await command(`get cm -w -o ${format}`, {
        stop: stopped,
        onOutput(text) {
          if (shown('b').test(text)) stop();
          else if (shown('a').test(text) && !isCreated) {
            isCreated = true;
            void cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
          }
        },
      });
      expect(code).toBe(0);
      expect(out).toMatch(shown('a'));
      expect(out).toMatch(shown('b'));
      if (format === 'table') expect(out.match(/NAME/g)?.length).toBe(1);
    },
  );

  test('works with a cluster of the dialect orch', async () => {
    const { command, cluster } = await served('orch');
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect((await command('get cm')).out).toMatch(/^NAME/);
    expect((await command('get clusterroles.rbac.authorization.orch.io cluster-admin -o name')).out).toBe(
      'clusterrole.rbac.authorization.orch.io/cluster-admin\n',
    );
  });
});

describe('control characters of objects', () => {
  const TITLE = 'a\u001b]0;owned\u0007';
  const HOSTILE = `${TITLE}b\u009b2Jc\rd\u007f\u0085e\u202e`;
  const SHOWN = 'a\\u001b]0;owned\\u0007b\\u009b2Jc\\u000dd\\u007f\\u0085e\\u202e';
  const onTerminal = { isTerminal: { out: true, error: true } };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a diff.
  const rest = (text: string): string => text.replace(/\u001b\[\d+m|\n/g, '');

  test.each(['get events', 'get events -o yaml', 'get events -o json', 'get events -w'])(
    'do not reach a terminal with %s',
    async (args) => {
      const { command, cluster } = await served();
      const about = { apiVersion: 'v1', kind: 'Pod', name: 'p', namespace: 'default' };
      await cluster.api(CoreEvent).create({ metadata: { name: 'e' }, involvedObject: about, message: HOSTILE });
      const stop = args.endsWith('-w') ? { stop: Promise.resolve() } : {};
      const { out } = await command(args, { ...onTerminal, ...stop });
      expect(rest(out)).not.toMatch(/\p{Cc}/u);
      if (args.endsWith('json')) expect(JSON.parse(out).items[0].message).toBe(HOSTILE);
      else if (args.endsWith('yaml')) expect(parseYaml(out).items[0].message).toBe(HOSTILE);
      else expect(out).toContain(SHOWN);
    },
  );

  test.each(['yaml', 'json'])('do not change the values of objects in %s', async (format) => {
    const { command, cluster } = await served();
    const data = { a: '\u200fשלום', b: 'one\nt\u200ewo\n', c: "'\u2066: x\u0085y\u2028\u007f\u009f\ufeff\u001b[31m\r" };
    await cluster.api(ConfigMap).create({ metadata: { name: 'odd' }, data });
    const { out } = await command(`get cm odd -o ${format}`);
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect((format === 'yaml' ? parseYaml(out) : JSON.parse(out)).data).toEqual(data);
  });

  test('do not reach a terminal in diffs and errors', async () => {
    const { command } = await served();
    const { out } = await command('diff -f -', { ...onTerminal, stdin: configMap('a', { x: TITLE }) });
    expect(out).toContain('\u001b[32m');
    expect(rest(out)).not.toMatch(/\p{Cc}/u);
    const { err } = await command('apply -f -', { ...onTerminal, stdin: configMap('a', { [TITLE]: '' }) });
    expect(err).toContain('\\u001b]0;owned');
    expect(rest(err)).not.toMatch(/\p{Cc}/u);
  });
});
