/** The command lines that envtest writes. */
import { describe, expect, test } from 'vitest';
import { parseFlags, serveArguments } from '../../../../src/node/envtest/flags.js';
import { settingsWithFlags } from '../commands/serve-settings.js';

describe('parseFlags', () => {
  test('reads values after = or as the next argument, repeated flags, and flags without a value', () => {
    const flags = parseFlags(['--a=1', '--b', '2', '-v=4', '--a', '3', '--c', '--d=x=y', '--e=']);
    expect(Object.fromEntries(flags)).toEqual({ a: ['1', '3'], b: ['2'], v: ['4'], c: ['true'], d: ['x=y'], e: [''] });
  });
});

/** The settings of `serve` for arguments of kube-apiserver. */
function settingsFor(...args: string[]) {
  const [command, ...rest] = serveArguments(args).args;
  expect(command).toBe('serve');
  return settingsWithFlags(...rest);
}

describe('serveArguments', () => {
  test('passes on the flags of controller-runtime', () => {
    const settings = settingsFor(
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      '--bind-address=127.0.0.1',
      '--cert-dir=/certs',
      '--client-ca-file=/certs/client-cert-auth-ca.crt',
      '--disable-admission-plugins=ServiceAccount',
      '--etcd-servers=http://127.0.0.1:2379',
      '--feature-gates=A=true,B=false',
      '--secure-port=41234',
      '--service-account-issuer=https://127.0.0.1:41234/',
      '--service-account-key-file=/certs/sa-signer.crt',
      '--service-account-signing-key-file=/certs/sa-signer.key',
      '--service-cluster-ip-range=10.0.0.0/24',
    );
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      port: 41234,
      controllers: 'none',
      featureGates: { A: true, B: false },
      log: false,
      flags: {
        allowPrivileged: true,
        authorizationModes: ['RBAC'],
        certDir: '/certs',
        clientCaFile: '/certs/client-cert-auth-ca.crt',
        disabledPlugins: ['ServiceAccount'],
        enabledPlugins: [],
        serviceAccountIssuers: ['https://127.0.0.1:41234/'],
        serviceAccountKeyFiles: ['/certs/sa-signer.crt'],
        serviceAccountSigningKeyFile: '/certs/sa-signer.key',
        serviceCidrs: ['10.0.0.0/24'],
      },
    });
  });

  test('has the defaults of kube-apiserver', () => {
    expect(settingsFor()).toMatchObject({
      host: '0.0.0.0',
      port: 6443,
      flags: { authorizationModes: ['AlwaysAllow'], enabledPlugins: ['ServiceAccount'] },
    });
  });

  test('names the flags that it ignores, and logs requests from verbosity 3 on', () => {
    const args = ['--max-requests-inflight=5', '--advertise-address=127.0.0.1', '-v', '4'];
    expect(serveArguments(args).ignored).toEqual(['max-requests-inflight']);
    expect(settingsFor(...args)).toMatchObject({ log: true });
  });

  test('takes the authorization modes that serve has', () => {
    expect(serveArguments(['--authorization-mode=Node,RBAC']).ignored).toEqual([]);
    expect(settingsFor('--authorization-mode=Node,RBAC')?.flags.authorizationModes).toEqual(['Node', 'RBAC']);
    expect(() => settingsFor('--authorization-mode=ABAC')).toThrow('ABAC is not available here');
  });

  test('ignores the flags of kube-controller-manager, which a kube-apiserver does not have', () => {
    const args = ['--cluster-signing-cert-file=ca.crt', '--cluster-signing-duration=1h'];
    expect(serveArguments(args).ignored).toEqual(['cluster-signing-cert-file', 'cluster-signing-duration']);
    expect(settingsFor(...args)?.flags.signing).toBeUndefined();
  });
});
