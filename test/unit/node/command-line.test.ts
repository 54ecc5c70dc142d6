/** Parsing of the command line. */
import { getHeapStatistics } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { parseCommandLine, UsageError } from '../../../src/node/command-line.js';

const settingsWithFlags = (...args: string[]) => {
  const command = parseCommandLine(['serve', ...args]);
  if (command.type !== 'serve') throw new Error(`unexpected ${command.type}`);
  return command.settings;
};

const settingsOf = (...args: string[]) => {
  const { flags: _flags, maxHeap: _maxHeap, ...others } = settingsWithFlags(...args);
  return others;
};

const flagsOf = (...args: string[]) => settingsWithFlags(...args).flags;

describe('parseCommandLine', () => {
  test('defaults to HTTPS, the kubernetes dialect and any free port', () => {
    expect(settingsOf()).toEqual({
      port: 0,
      host: undefined,
      dialect: 'kubernetes',
      data: undefined,
      salvage: false,
      snapshot: undefined,
      manifests: [],
      kubeconfig: undefined,
      tls: true,
      token: undefined,
      anonymous: false,
      log: false,
      httpThread: true,
      http2: false,
      featureGates: {},
      runtimeConfig: undefined,
      controllers: 'none',
    });
  });

  test('reads every option', () => {
    const args =
      '--port 8080 --host ::1 --dialect orch --data d --apply a --apply b --kubeconfig k --no-tls --token t --log --controllers ready --feature-gates A=true,B=False --runtime-config api/all=true --runtime-config v1=false c';
    expect(settingsOf(...args.split(' '))).toEqual({
      port: 8080,
      host: '::1',
      dialect: 'orch',
      data: 'd',
      salvage: false,
      snapshot: undefined,
      manifests: ['a', 'b', 'c'],
      kubeconfig: 'k',
      tls: false,
      token: 't',
      anonymous: false,
      log: true,
      httpThread: true,
      http2: false,
      featureGates: { A: true, B: false },
      runtimeConfig: 'api/all=true,v1=false',
      controllers: 'ready',
    });
    expect(settingsOf('--anonymous', '--tls')).toMatchObject({ anonymous: true, tls: true });
    expect(settingsOf('--no-http-thread', '--http2')).toMatchObject({ httpThread: false, http2: true });
  });

  test('reads the memory, which by default is that of Node', () => {
    expect(settingsWithFlags('--max-heap', '128Mi').maxHeap).toBe(128 * 1024 * 1024);
    expect(settingsWithFlags().maxHeap).toBe(getHeapStatistics().heap_size_limit);
  });

  test('reads the folder of envtest', () => {
    expect(parseCommandLine(['envtest', 'd'])).toEqual({ type: 'envtest', folder: 'd' });
    for (const args of [[], [''], ['a', 'b']]) {
      expect(() => parseCommandLine(['envtest', ...args])).toThrow('envtest takes one folder');
    }
  });

  test('reads the etcd snapshot to serve', () => {
    expect(settingsOf('--etcd-snapshot', 'f')).toMatchObject({
      snapshot: { file: 'f', prefix: undefined, skip: [], skipHashCheck: false, isWritable: false },
    });
    const args = '--etcd-snapshot f --writable --etcd-prefix /p --snapshot-skip unserved,encrypted --skip-hash-check';
    expect(settingsOf(...args.split(' '), '--controllers', 'standard')).toMatchObject({
      snapshot: { file: 'f', prefix: '/p', skip: ['unserved', 'encrypted'], skipHashCheck: true, isWritable: true },
    });
  });

  test('reads the etcd that stores the cluster', () => {
    const files = '--etcd-cafile a --etcd-certfile c --etcd-keyfile k --etcd-username u --etcd-password-file p';
    const args = `--etcd-servers https://a:1,https://b:2 --etcd-prefix /p --service-account-signing-key-file s ${files}`;
    expect(settingsOf(...args.split(' ')).etcd).toEqual({
      endpoints: ['https://a:1', 'https://b:2'],
      prefix: '/p',
      caFile: 'a',
      certFile: 'c',
      keyFile: 'k',
      username: 'u',
      passwordFile: 'p',
    });
  });

  test.each([
    ['--writable', '--writable needs --etcd-snapshot'],
    ['--snapshot-skip unserved', '--snapshot-skip needs --etcd-snapshot'],
    ['--etcd-snapshot f --data d', '--etcd-snapshot and --data contradict each other'],
    ['--etcd-snapshot f --apply a', '--apply with --etcd-snapshot needs --writable'],
    ['--etcd-snapshot f --controllers ready', '--controllers with --etcd-snapshot needs --writable'],
    ['--etcd-snapshot f --snapshot-skip all', '--snapshot-skip takes unserved and encrypted, got "all"'],
    ['-o f', '--output is an option of "orchplane snapshot"'],
    ['--etcd-cafile f', '--etcd-cafile needs --etcd-servers'],
    ['--etcd-password-file f', '--etcd-password-file needs --etcd-servers'],
    ['--etcd-servers http://a:1 --etcd-keyfile f', '--etcd-certfile and --etcd-keyfile need each other'],
    ['--etcd-servers http://a:1 --etcd-username u', '--etcd-username and --etcd-password-file need each other'],
  ])('rejects serve %s', (args, message) => {
    expect(() => parseCommandLine(['serve', ...args.split(' ')])).toThrow(new UsageError(message));
  });

  test('reads what snapshot writes, and from where', () => {
    expect(parseCommandLine(['snapshot', '-o', 'f', '--data', 'd'])).toEqual({
      type: 'snapshot',
      settings: { output: 'f', source: { data: 'd' }, prefix: undefined },
    });
    const args = ['snapshot', '--output', 'f', '--kubeconfig', 'k', '--dialect', 'orch', '--etcd-prefix', '/p'];
    expect(parseCommandLine(args)).toEqual({
      type: 'snapshot',
      settings: { output: 'f', source: { kubeconfig: 'k', dialect: 'orch' }, prefix: '/p' },
    });
  });

  test.each([
    ['--data d', 'snapshot needs --output, the file to write'],
    ['-o f', 'snapshot takes either --kubeconfig, for a running cluster, or --data, for a folder'],
    ['-o f --data d --kubeconfig k', 'snapshot takes either --kubeconfig'],
    ['-o f --data d --port 1', 'snapshot has no option --port'],
    ['-o f --data d --dialect orch', '--dialect is for --kubeconfig; a folder has its dialect'],
    ['-o f --data d g', 'unexpected "g"'],
  ])('rejects snapshot %s', (args, message) => {
    expect(() => parseCommandLine(['snapshot', ...args.split(' ')])).toThrow(message);
  });

  test('gives --help and --version precedence over everything else', () => {
    expect(parseCommandLine(['serve', '--help'])).toEqual({ type: 'help' });
    expect(parseCommandLine(['-v'])).toEqual({ type: 'version' });
  });

  test.each([
    ['', 'a command is missing'],
    ['start', 'unknown command "start"'],
    ['apply -f x', 'unknown command "apply"'],
    ['--colour apply', `Unknown option '--colour'`],
    ['serve --port x', '--port takes a number from 0 to 65535, got "x"'],
    ['serve --port 65536', 'got "65536"'],
    ['serve --port=-1', 'got "-1"'],
    ['serve --dialect klingon', '--dialect takes kubernetes or orch, got "klingon"'],
    ['serve --colour', `Unknown option '--colour'; see "orchplane --help"`],
    ['serve --log=yes', '--log'],
    ['serve --data', '--data'],
    ['serve a.yaml', 'manifests are given with --apply'],
    ['serve --data d a.yaml', 'manifests are given with --apply'],
    ['serve --data d --data e', '--data takes one folder'],
    ['serve --data -', '--data takes a folder'],
    ['serve --tls --no-tls', 'contradict'],
    ['serve --token t --anonymous', 'contradict'],
    ['serve --token=', '--token takes printable characters'],
    ['serve --feature-gates A', '--feature-gates takes NAME=true or NAME=false, got "A"'],
    ['serve --tls-cert-file a', '--tls-cert-file and --tls-private-key-file must be given together'],
    ['serve --allow-privileged=x', '--allow-privileged takes true or false, got "x"'],
    ['serve --oidc-client-id x', '--oidc-issuer-url and --oidc-client-id must be given together'],
    ['serve --oidc-issuer-url https://a --oidc-client-id b --oidc-signing-algs HS256', 'got "HS256"'],
    ['serve --oidc-issuer-url https://a --oidc-client-id b --oidc-required-claim c', 'takes CLAIM=VALUE, got "c"'],
    ['serve --requestheader-group-headers a,,b', '--requestheader-group-headers contains an empty value'],
    ['serve --requestheader-uid-headers X-Uid', 'must contain X-Remote-Uid'],
    ['serve --authentication-token-webhook-version v2', 'takes v1 or v1beta1, got "v2"'],
    ['serve --authentication-token-webhook-cache-ttl 5', 'takes a duration such as 2m0s, got "5"'],
    ['serve --authorization-mode RBAC,Nothing', '--authorization-mode takes AlwaysAllow, AlwaysDeny,'],
    ['serve --authorization-mode RBAC --authorization-mode RBAC', '--authorization-mode RBAC is given twice'],
    ['serve --authorization-mode Webhook', '--authorization-mode Webhook is not available here'],
    ['serve --authorization-mode AlwaysAllow --anonymous-auth', 'contradict'],
    ['serve --service-account-issuer=', '--service-account-issuer must not be empty'],
    ['serve --service-account-issuer a --service-account-issuer a', '"a" is given twice'],
    ['serve --service-account-key-file a', 'needs --service-account-signing-key-file'],
    ['serve --audit-log-path a', '--audit-log-path needs --audit-policy-file'],
    [
      'serve --show-hidden-metrics-for-version 1.33',
      "must be omitted or have the value '1.32'. Only the previous minor version is allowed",
    ],
    ['serve --anonymous --token-auth-file a', '--anonymous and --token-auth-file contradict each other'],
    ['serve --anonymous --anonymous-auth=false', 'contradict'],
    ['serve --anonymous --client-ca-file a', '--anonymous and --client-ca-file contradict each other'],
    ['serve --enable-admission-plugins "a', 'takes a list of values separated by commas'],
  ])('rejects "%s" with a one-line message', (line, problem) => {
    const args = line.split(' ').filter((arg) => arg !== '');
    expect(() => parseCommandLine(args)).toThrow(UsageError);
    expect(() => parseCommandLine(args)).toThrow(problem);
    expect(() => parseCommandLine(args)).not.toThrow('\n');
  });

  test('reads flags of the reference server in all their forms', () => {
    expect(
      flagsOf(
        '--enable-admission-plugins=A,B',
        '--enable-admission-plugins',
        '"C,D",E',
        '--service-account-issuer',
        'https://one,two',
        '--service-account-issuer=https://three',
        '--allow-privileged',
        '--anonymous-auth=false',
        '--client-ca-file',
        'first',
        '--client-ca-file=second',
        '--service-cluster-ip-range=10.0.0.0/16,fd00::/112',
      ),
    ).toMatchObject({
      enabledPlugins: ['A', 'B', 'C,D', 'E'],
      serviceAccountIssuers: ['https://one,two', 'https://three'],
      allowPrivileged: true,
      anonymousAuth: false,
      clientCaFile: 'second',
      serviceCidrs: ['10.0.0.0/16', 'fd00::/112'],
    });
  });

  test('reads the flags of other sources of users', () => {
    const line =
      '--oidc-issuer-url https://a --oidc-client-id b --oidc-required-claim c=d=e --oidc-required-claim f=g --oidc-signing-algs RS256,ES256 ' +
      '--requestheader-client-ca-file ca --requestheader-username-headers X-Remote-User ' +
      '--authentication-token-webhook-config-file w --authentication-token-webhook-cache-ttl 1m30s --authentication-token-webhook-version v1';
    const { oidc, requestHeader, tokenWebhook } = flagsOf(...line.split(' '));
    expect(oidc).toMatchObject({ requiredClaims: { c: 'd=e', f: 'g' }, signingAlgs: ['RS256', 'ES256'] });
    expect(requestHeader).toMatchObject({ caFile: 'ca', usernameHeaders: ['X-Remote-User'], groupHeaders: [] });
    expect(tokenWebhook).toEqual({ configFile: 'w', cacheTtlMs: 90_000, version: 'v1' });
    // Without the CA, the other flags have no effect.
    expect(flagsOf('--requestheader-username-headers', 'X-Remote-User').requestHeader).toBeUndefined();
  });
});
