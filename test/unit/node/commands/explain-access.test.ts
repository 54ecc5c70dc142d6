/** `orchplane explain-access`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type ManifestDocument, readDocuments } from '../../../../src/manifests/read.js';
import { cpuMs } from '../../../fixtures/cpu-time.js';
import { run } from './run.js';

let file = '';

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-access-'));
  file = join(folder, 'audit.log');
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const USER = 'system:serviceaccount:shop:backend';

interface EventOptions {
  readonly user?: string;
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly code?: number;
  readonly decision?: string;
  readonly time?: string;
  readonly userAgent?: string;
  readonly stage?: string;
  readonly auditID?: string;
  readonly requestURI?: string;
}

let ids = 0;

function event(verb: string, options: EventOptions = {}): string {
  const { user = USER, time = '2026-11-18T13:00:00.000000Z', decision = 'allow', code = 200 } = options;
  return `${JSON.stringify({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: options.auditID ?? `id-${++ids}`,
    stage: options.stage ?? 'ResponseComplete',
    requestURI: options.requestURI ?? '/api/v1/x',
    verb,
    user: { username: user },
    userAgent: options.userAgent ?? 'backend/v1',
    ...(options.objectRef === undefined ? {} : { objectRef: options.objectRef }),
    responseStatus: { metadata: {}, code },
    requestReceivedTimestamp: time,
    stageTimestamp: time,
    annotations: { 'authorization.k8s.io/decision': decision },
  })}\n`;
}

const pods = { resource: 'pods', namespace: 'shop', apiVersion: 'v1' };

async function explain(log: string, ...options: string[]) {
  writeFileSync(file, log);
  return run(['explain-access', file, ...options]);
}

describe('explain-access', () => {
  test('prints roles and bindings, and marks what was refused', async () => {
    const nodes = { resource: 'nodes', apiVersion: 'v1' };
    const { code, out, err } = await explain(
      event('list', { objectRef: pods }) +
        event('get', { objectRef: { ...pods, name: 'a' } }) +
        event('get', { objectRef: { ...pods, name: 'b' } }) +
        event('create', { objectRef: { ...pods, subresource: 'exec', name: 'a' }, code: 403, decision: 'forbid' }) +
        event('get', { objectRef: { ...nodes, name: 'n1' } }),
    );
    expect(code).toBe(0);
    expect(err).toBe('1 of 5 different requests were refused\n');
    expect(out).toBe(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: backend
rules:
  - apiGroups: [""]
    resources: [nodes]
    verbs: [get]
---
# refused, 1 of 1: create pods/exec in namespace "shop"
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: backend
  namespace: shop
rules:
  - apiGroups: [""]
    resources: [pods]
    verbs: [get, list]
  - apiGroups: [""]
    resources: [pods/exec]
    verbs: [create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: backend
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: backend
subjects:
- kind: ServiceAccount
  name: backend
  namespace: shop
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: backend
  namespace: shop
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: backend
subjects:
- kind: ServiceAccount
  name: backend
  namespace: shop
`);
  });

  test('counts a request with several stages once, and requests that every user may send not at all', async () => {
    const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete'];
    const watch = stages.map((stage) => event('watch', { objectRef: pods, stage, auditID: 'w' })).join('');
    const discovery = event('get', { requestURI: '/apis/apps/v1?timeout=32s' });
    const { out } = await explain(watch + discovery, '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({
      items: [
        { kind: 'Role', rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['watch'] }] },
        { kind: 'RoleBinding', subjects: [{ kind: 'ServiceAccount', name: 'backend', namespace: 'shop' }] },
      ],
    });
  });

  test('counts each of the requests to which a client gave one audit ID', async () => {
    const base = { objectRef: pods, auditID: 'same', requestURI: '/api/v1/namespaces/shop/pods' };
    const secrets = { ...pods, resource: 'secrets' };
    const log =
      event('list', base) +
      event('get', { ...base, requestURI: '/api/v1/namespaces/shop/pods/a' }) +
      event('watch', base) +
      event('list', { ...base, user: 'alice' }) +
      event('list', { ...base, objectRef: secrets, requestURI: '/api/v1/namespaces/shop/secrets' }) +
      event('delete', { ...base, time: '2026-11-18T14:00:00.000000Z' });
    const found = async (user: string) =>
      JSON.parse((await explain(log, '--user', user, '-o', 'json')).out).items[0].rules;
    expect(await found(USER)).toEqual([
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['list'] },
    ]);
    expect(await found('alice')).toEqual([{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]);
  });

  test('does not mark a request that an admission plugin refused', async () => {
    const { out } = await explain(event('create', { objectRef: pods, code: 403, decision: 'allow' }));
    expect(out).not.toContain('# refused');
  });

  test('selects by user, user agent and time', async () => {
    const secrets = { ...pods, resource: 'secrets' };
    const log =
      event('list', { objectRef: pods }) +
      event('get', { objectRef: secrets, user: 'alice' }) +
      event('list', { objectRef: secrets, userAgent: 'kubectl/v1.33' }) +
      event('delete', { objectRef: pods, time: '2026-11-18T14:00:00.000000Z' });
    const verbs = async (...options: string[]) =>
      [...(await explain(log, ...options)).out.matchAll(/verbs: \[(.*)\]/g)].map(([, found]) => found).sort();
    expect(await verbs('--user', 'alice')).toEqual(['get']);
    expect(await verbs('--user', USER, '--user-agent', 'kubectl')).toEqual(['list']);
    expect(await verbs('--user', USER, '--since', '2026-11-18T13:30:00Z')).toEqual(['delete']);
    expect(await verbs('--user', USER, '--until', '2026-11-18T13:30:00Z', '--user-agent', 'backend')).toEqual(['list']);
    const all = await explain(log);
    expect(all.err).toBe(`the roles are for 2 users (${USER}, alice); --user selects one\n`);
  });

  test('leaves out requests of controllers and nodes unless the options name their user, and counts them', async () => {
    const own = event('list', { objectRef: pods, user: 'system:admin', userAgent: 'kubectl/v1.33' });
    const components = [
      { user: 'system:admin', userAgent: '' },
      { user: 'system:apiserver' },
      { user: 'system:kube-scheduler' },
      { user: 'system:node:n1' },
      { user: 'system:serviceaccount:kube-system:deployment-controller' },
      { user: 'system:serviceaccount:kube-system:token-cleaner' },
    ];
    const others = components.map((each) => event('watch', { ...each, objectRef: pods })).join('');
    const late = { objectRef: pods, user: 'system:node:n1', time: '2026-11-18T14:00:00.000000Z' };
    const log = own + others + event('get', late);
    const names = components.map(({ user }) => user).join(', ');
    const { out, err } = await explain(log);
    expect(err).toBe(`7 requests of the cluster itself left out (${names}); --user selects them\n`);
    expect(out).toBe((await explain(own)).out);
    expect((await explain(log, '--until', '2026-11-18T13:30:00Z')).err).toContain('6 requests of the cluster itself');
    expect((await explain(log, '--user', 'system:node:n1')).out).toContain('verbs: [get, watch]');
    expect((await explain(log, '--user', 'system:admin')).out).toContain('verbs: [list, watch]');
    expect(await explain(others)).toEqual({
      code: 2,
      out: '',
      err: `6 requests of the cluster itself left out (${names}); --user selects them
orchplane: none of the 6 requests needs a role of its own, or matches the options\n`,
    });
  });

  test('does not leave out other service accounts in the namespace of the system', async () => {
    const user = 'system:serviceaccount:kube-system:my-controller';
    expect(await explain(event('list', { objectRef: pods, user }))).toMatchObject({ code: 0, err: '' });
  });

  test('prints one ClusterRole and names of objects on request', async () => {
    const { out } = await explain(
      event('get', { objectRef: { ...pods, name: 'a' } }),
      '--cluster-role',
      '--resource-names',
      '--name',
      'reader',
    );
    expect(out).toContain('kind: ClusterRole\nmetadata:\n  name: reader\n');
    expect(out).toContain('resourceNames: [a]');
    expect(out).not.toContain('kind: Role\n');
  });

  test('reads a recording, whose user the option names', async () => {
    const exchange = (method: string, path: string, status = 200, responseBody = '') =>
      `${JSON.stringify({ id: 1, time: '2026-11-18T13:00:00Z', method, path, requestHeaders: { 'user-agent': 'x' }, status, responseHeaders: {}, responseBody })}\n`;
    const refusal = (why: string) => JSON.stringify({ kind: 'Status', message: `secrets is forbidden: ${why}` });
    const log =
      '{"kind":"Recording","apiVersion":"orchplane/v1"}\n' +
      exchange('GET', '/api/v1/namespaces/shop/pods?watch=true&timeoutSeconds=5') +
      exchange('GET', '/apis') +
      exchange('GET', '/api/v1/secrets', 403, refusal('User "system:serviceaccount:shop:backend" cannot list')) +
      exchange('PATCH', '/apis/apps/v1/namespaces/shop/deployments/web/scale', 403, refusal('exceeded quota'));
    const { out, err } = await explain(log, '--user', USER);
    expect(err).toBe('1 of 3 different requests were refused\n');
    expect(out).toContain('# refused, 1 of 1: list secrets\n');
    expect(out).toContain('resources: [pods]\n    verbs: [watch]');
    expect(out).toContain('resources: [deployments/scale]\n    verbs: [patch]');
    expect(out).toContain('kind: ServiceAccount\n  name: backend\n');
    expect((await explain(log)).err).toContain('a recording does not contain the user; --user names it\n');
  });

  test('leaves out incomplete lines of a server that was killed, and counts them', async () => {
    const log = event('list', { objectRef: pods });
    const { out, err } = await explain(`${log}{"kind":"Ev`);
    const note = `${file}: 1 incomplete line left out; requests may be missing\n`;
    const complete = await explain(log);
    expect({ out, err }).toEqual({ out: `# ${note}${complete.out}`, err: `orchplane: ${note}${complete.err}` });
    expect(readFileSync(file, 'utf8')).toBe(log);
    expect((await explain(`${log}{"kind":"Ev`, '-o', 'json')).out).toMatch(/^{/);
    const torn = await explain(`${log}{"kind":"Ev\n{"kind":"Ev${log}${log}`);
    expect(torn.err).toContain(`${file}: 2 incomplete lines left out; requests may be missing\n`);
    expect(torn.out).toContain(complete.out);
  });

  test('prints one role and one binding whatever characters requests contain', async () => {
    for (const character of ['\n', '\r', '\u007f', '\u0085', '\u009b', '\u2028', '\u2029', '\ufeff', '\u202e']) {
      const hostile = `x${character}kind: Injected${character}--- ${character}#`;
      const objectRef = {
        apiGroup: hostile,
        resource: hostile,
        subresource: hostile,
        namespace: hostile,
        name: hostile,
      };
      const refused = { user: hostile, code: 403, decision: 'forbid' };
      const log =
        event(hostile, { ...refused, objectRef }) +
        event(hostile, { ...refused, requestURI: `/${hostile}`, code: 403 });
      const { code, out } = await explain(log, '--resource-names', '--name', 'r');
      expect(code).toBe(0);
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/u);
      const read = readDocuments({ text: out }).map((document) => (document as ManifestDocument).value);
      const rbac = 'rbac.authorization.k8s.io';
      const roleRef = { apiGroup: rbac, name: 'r' };
      const subjects = [{ apiGroup: rbac, kind: 'User', name: hostile }];
      const apiVersion = `${rbac}/v1`;
      const metadata = { name: 'r', namespace: hostile };
      expect(read).toEqual([
        {
          apiVersion,
          kind: 'ClusterRole',
          metadata: { name: 'r' },
          rules: [{ nonResourceURLs: [`/${hostile}`], verbs: [hostile] }],
        },
        {
          apiVersion,
          kind: 'Role',
          metadata,
          rules: [
            {
              apiGroups: [hostile],
              resources: [`${hostile}/${hostile}`],
              resourceNames: [hostile],
              verbs: [hostile],
            },
          ],
        },
        {
          apiVersion,
          kind: 'ClusterRoleBinding',
          metadata: { name: 'r' },
          roleRef: { ...roleRef, kind: 'ClusterRole' },
          subjects,
        },
        { apiVersion, kind: 'RoleBinding', metadata, roleRef: { ...roleRef, kind: 'Role' }, subjects },
      ]);
    }
  });

  test.each(['Bad Name', 'a/b', ''])('rejects the name %j', async (name) => {
    const { code, out, err } = await explain(event('list', { objectRef: pods }), '--name', name);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`got "${name}"`);
  });

  test.each([
    ['', [], 'FILE contains no requests'],
    ['{}\n', [], 'FILE: line 1 is neither an audit event nor a recording of "orchplane record"'],
    ['[]\n', [], 'FILE: line 1 is not an object'],
    [
      event('list', { objectRef: pods }),
      ['--user', 'bob'],
      'none of the 1 request needs a role of its own, or matches the options',
    ],
    [event('list'), ['--since', 'today'], '--since takes a time such as 2026-11-18T13:00:00Z, got "today"'],
  ])('rejects %j %j with one sentence', async (log, options, message) => {
    expect(await explain(log, ...options)).toEqual({
      code: 2,
      out: '',
      err: `orchplane: ${message.replace('FILE', file)}\n`,
    });
  });

  test('takes time in proportion to a log with many resources, names, namespaces and users', async () => {
    const cpuTimeOf = async (length: number) => {
      const log = Array.from({ length }, (_, index) => {
        const objectRef = {
          resource: `r${index}`,
          namespace: `n${index % 3_000}`,
          apiVersion: 'v1',
          name: `x${index}`,
        };
        return event('get', { user: `u${index}`, objectRef });
      }).join('');
      const before = cpuMs();
      const { code, out, err } = await explain(log, '--resource-names');
      const spent = cpuMs() - before;
      expect(code).toBe(0);
      expect(out).toContain(`resources: [r${length - 1}]`);
      expect(err.length).toBeLessThan(1_000);
      return spent;
    };
    await cpuTimeOf(1_000);
    const [short, long] = [await cpuTimeOf(1_500), await cpuTimeOf(6_000)];
    expect(long / short).toBeLessThan(8);
  }, 60_000);

  test('needs a file that exists', async () => {
    expect(await run('explain-access')).toMatchObject({ code: 2, err: expect.stringContaining('a file is missing') });
    expect(await run('explain-access /missing')).toMatchObject({ code: 2, err: 'orchplane: /missing: no such file\n' });
  });
});
