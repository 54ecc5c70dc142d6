/** The command lines that envtest writes. */
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/node/command-line.js';
import { parseFlags, readApiServerFlags, readTokenFile } from '../../../../src/node/envtest/flags.js';

describe('parseFlags', () => {
  test('reads values after = or as the next argument, repeated flags, and flags without a value', () => {
    const flags = parseFlags(['--a=1', '--b', '2', '-v=4', '--a', '3', '--c', '--d=x=y', '--e=']);
    expect(Object.fromEntries(flags)).toEqual({ a: ['1', '3'], b: ['2'], v: ['4'], c: ['true'], d: ['x=y'], e: [''] });
  });
});

describe('readApiServerFlags', () => {
  test('reads the flags of controller-runtime', () => {
    const args = [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      '--cert-dir=/certs',
      '--client-ca-file=/certs/client-cert-auth-ca.crt',
      '--disable-admission-plugins=ServiceAccount',
      '--etcd-servers=http://127.0.0.1:2379',
      '--secure-port=41234',
      '--service-account-issuer=https://127.0.0.1:41234/',
      '--service-account-key-file=/certs/sa-signer.crt',
      '--service-account-signing-key-file=/certs/sa-signer.key',
      '--service-cluster-ip-range=10.0.0.0/24',
    ];
    expect(readApiServerFlags(args)).toEqual({
      host: '127.0.0.1',
      port: 41234,
      certFile: '/certs/apiserver.crt',
      keyFile: '/certs/apiserver.key',
      clientCaFile: '/certs/client-cert-auth-ca.crt',
      tokenFile: undefined,
      allowsAll: false,
      signingKeyFile: '/certs/sa-signer.key',
      issuer: 'https://127.0.0.1:41234/',
      audiences: [],
      enabledPlugins: [],
      disabledPlugins: ['ServiceAccount'],
      featureGates: {},
      runtimeConfig: undefined,
      logsRequests: false,
      ignored: [],
    });
  });

  test('names the flags that it ignores, and allows everything without a mode', () => {
    const settings = readApiServerFlags(['--max-requests-inflight=5', '-v', '4', '--feature-gates=A=true,B=False']);
    expect(settings).toMatchObject({ ignored: ['max-requests-inflight'], allowsAll: true, logsRequests: true });
    expect(settings.featureGates).toEqual({ A: true, B: false });
  });

  test.each([
    ['--secure-port=x', '--secure-port takes a number from 1 to 65535, got "x"'],
    ['--feature-gates=A', 'got "A"'],
  ])('rejects %s', (flag, problem) => {
    expect(() => readApiServerFlags([flag])).toThrow(UsageError);
    expect(() => readApiServerFlags([flag])).toThrow(problem);
  });
});

describe('readTokenFile', () => {
  test('reads users with and without groups', () => {
    expect(readTokenFile('t1,alice,1,"a,b"\n\nt2,bob,2\n')).toEqual({
      t1: { user: 'alice', uid: '1', groups: ['a', 'b'] },
      t2: { user: 'bob', uid: '2', groups: [] },
    });
  });

  test('names the line that it cannot read', () => {
    expect(() => readTokenFile('t1,alice,1\nt2\n')).toThrow('line 2 is not token,user,uid');
  });
});
