/** The options of `orchplane serve`. */
import { getHeapStatistics } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/node/commands/command.js';
import { settingsWithFlags } from './serve-settings.js';

const settingsOf = (...args: string[]) => {
  const { flags: _flags, maxHeap: _maxHeap, ...others } = settingsWithFlags(...args);
  return others;
};

const flagsOf = (...args: string[]) => settingsWithFlags(...args).flags;

describe('the options of serve', () => {
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
    ['--etcd-cafile f', '--etcd-cafile needs --etcd-servers'],
    ['--etcd-password-file f', '--etcd-password-file needs --etcd-servers'],
    ['--etcd-servers http://a:1 --etcd-keyfile f', '--etcd-certfile and --etcd-keyfile need each other'],
    ['--etcd-servers http://a:1 --etcd-username u', '--etcd-username and --etcd-password-file need each other'],
  ])('rejects serve %s', (args, message) => {
    expect(() => settingsWithFlags(...args.split(' '))).toThrow(new UsageError(message));
  });

  test.each([
    ['--port x', '--port takes a number from 0 to 65535, got "x"'],
    ['--port 65536', 'got "65536"'],
    ['--port=-1', 'got "-1"'],
    ['--log=yes', '--log'],
    ['--data', '--data'],
    ['a.yaml', 'manifests are given with --apply'],
    ['--data d a.yaml', 'manifests are given with --apply'],
    ['--data d --data e', '--data takes one folder'],
    ['--data -', '--data takes a folder'],
    ['--tls --no-tls', 'contradict'],
    ['--token t --anonymous', 'contradict'],
    ['--token=', '--token takes printable characters'],
    ['--feature-gates A', '--feature-gates takes NAME=true or NAME=false, got "A"'],
    ['--tls-cert-file a', '--tls-cert-file and --tls-private-key-file must be given together'],
    ['--allow-privileged=x', '--allow-privileged takes true or false, got "x"'],
    ['--oidc-client-id x', '--oidc-issuer-url and --oidc-client-id must be given together'],
    ['--oidc-issuer-url https://a --oidc-client-id b --oidc-signing-algs HS256', 'got "HS256"'],
    ['--oidc-issuer-url https://a --oidc-client-id b --oidc-required-claim c', 'takes CLAIM=VALUE, got "c"'],
    ['--requestheader-group-headers a,,b', '--requestheader-group-headers contains an empty value'],
    ['--requestheader-uid-headers X-Uid', 'must contain X-Remote-Uid'],
    ['--authentication-token-webhook-version v2', 'takes v1 or v1beta1, got "v2"'],
    ['--authentication-token-webhook-cache-ttl 5', 'takes a duration such as 2m0s, got "5"'],
    ['--authorization-mode RBAC,Nothing', '--authorization-mode takes AlwaysAllow, AlwaysDeny,'],
    ['--authorization-mode RBAC --authorization-mode RBAC', '--authorization-mode RBAC is given twice'],
    ['--authorization-mode Webhook', '--authorization-mode Webhook is not available here'],
    ['--authorization-mode AlwaysAllow --anonymous-auth', 'contradict'],
    ['--service-account-issuer=', '--service-account-issuer must not be empty'],
    ['--service-account-issuer a --service-account-issuer a', '"a" is given twice'],
    ['--service-account-key-file a', 'needs --service-account-signing-key-file'],
    ['--audit-log-path a', '--audit-log-path needs --audit-policy-file'],
    [
      '--show-hidden-metrics-for-version 1.33',
      "must be omitted or have the value '1.32'. Only the previous minor version is allowed",
    ],
    ['--anonymous --token-auth-file a', '--anonymous and --token-auth-file contradict each other'],
    ['--anonymous --anonymous-auth=false', 'contradict'],
    ['--anonymous --client-ca-file a', '--anonymous and --client-ca-file contradict each other'],
    ['--enable-admission-plugins "a', 'takes a list of values separated by commas'],
  ])('rejects "serve %s" with a one-line message', (line, problem) => {
    const args = line.split(' ').filter((arg) => arg !== '');
    expect(() => settingsWithFlags(...args)).toThrow(UsageError);
    expect(() => settingsWithFlags(...args)).toThrow(problem);
    expect(() => settingsWithFlags(...args)).not.toThrow('\n');
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
