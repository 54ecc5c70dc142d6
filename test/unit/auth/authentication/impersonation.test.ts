/** Impersonation headers: the impersonated user and the required access checks. */
import { describe, expect, test } from 'vitest';
import { type ImpersonationHeaders, readImpersonation } from '../../../../src/auth/impersonation.js';
import { kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import type { ResourceAttributes } from '../../../../src/protocol/access.js';

/** Headers with separate values, as a Node server has them. */
function separate(...lines: [string, string][]): ImpersonationHeaders {
  const getAll = (name: string) => lines.filter(([each]) => each === name).map(([, value]) => value);
  return { [Symbol.iterator]: () => lines.values(), get: (name) => getAll(name).join(', ') || null, getAll };
}

const question = (parts: Partial<ResourceAttributes>) => ({
  type: 'resource',
  verb: 'impersonate',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  ...parts,
});

const authentication = { group: 'authentication.k8s.io', version: 'v1' };

describe('requests without impersonation', () => {
  test('returns undefined for a request without impersonation headers', () => {
    expect(readImpersonation(new Headers({ accept: '*/*' }), kubernetesDialect)).toBeUndefined();
    expect(readImpersonation(separate(['accept', '*/*']), kubernetesDialect)).toBeUndefined();
  });

  test('treats an empty impersonated user as no impersonation', () => {
    expect(readImpersonation(separate(['impersonate-user', '']), kubernetesDialect)).toBeUndefined();
  });
});

describe('impersonation', () => {
  test('authorizes user, groups, extra and uid in the order of the reference server', () => {
    const headers = separate(
      ['impersonate-uid', 'u-1'],
      ['impersonate-extra-scopes', 'view'],
      ['impersonate-extra-scopes', 'edit'],
      ['impersonate-group', 'g1'],
      ['impersonate-group', 'g, 2'],
      ['impersonate-extra-a%2fb', 'v'],
      ['impersonate-user', 'jane'],
    );
    expect(readImpersonation(headers, kubernetesDialect)).toEqual({
      type: 'requested',
      checks: [
        question({ resource: 'users', name: 'jane' }),
        question({ resource: 'groups', name: 'g1' }),
        question({ resource: 'groups', name: 'g, 2' }),
        question({ ...authentication, resource: 'userextras', subresource: 'scopes', name: 'view' }),
        question({ ...authentication, resource: 'userextras', subresource: 'scopes', name: 'edit' }),
        question({ ...authentication, resource: 'userextras', subresource: 'a/b', name: 'v' }),
        question({ ...authentication, resource: 'uids', name: 'u-1' }),
      ],
      user: {
        user: 'jane',
        uid: 'u-1',
        groups: ['g1', 'g, 2', 'system:authenticated'],
        extra: { scopes: ['view', 'edit'], 'a/b': ['v'] },
      },
    });
  });

  test('splits impersonation headers that fetch has joined, except user names', () => {
    const headers = new Headers();
    for (const group of ['a', 'b', 'a']) headers.append('Impersonate-Group', group);
    headers.append('Impersonate-User', 'Doe, John');
    headers.append('Impersonate-Extra-UPPER', 'x');
    headers.append('Impersonate-Extra-UPPER', 'y');
    const read = readImpersonation(headers, orchDialect);
    expect(read).toMatchObject({
      user: { user: 'Doe, John', groups: ['a', 'b', 'a', 'system:authenticated'], extra: { upper: ['x', 'y'] } },
    });
    expect(read).toMatchObject({
      checks: [
        {},
        {},
        {},
        {},
        { group: 'authentication.orch.io', resource: 'userextras', subresource: 'upper' },
        { name: 'y' },
      ],
    });
  });

  test('uses the first of two impersonated users', () => {
    const headers = separate(['impersonate-user', 'jane'], ['impersonate-user', 'joe']);
    expect(readImpersonation(headers, kubernetesDialect)).toMatchObject({ user: { user: 'jane' } });
  });

  test('authorizes an impersonated service account as a service account', () => {
    const headers = separate(['impersonate-user', 'system:serviceaccount:prod:robot']);
    expect(readImpersonation(headers, kubernetesDialect)).toEqual({
      type: 'requested',
      checks: [question({ resource: 'serviceaccounts', namespace: 'prod', name: 'robot' })],
      user: {
        user: 'system:serviceaccount:prod:robot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:prod', 'system:authenticated'],
      },
    });
  });

  test.each([
    ['impersonate-extra-%zz', '%zz'],
    ['impersonate-extra-100%', '100%'],
    ['impersonate-extra-', ''],
    ['impersonate-extra-__proto__', '__proto__'],
    ['impersonate-extra-%c3%a9', 'é'],
    ['impersonate-extra-%ff', '\ufffd'],
  ])('decodes the extra key of %s', (name, key) => {
    const read = readImpersonation(separate(['impersonate-user', 'x'], [name, 'v']), kubernetesDialect);
    const extra = read?.type === 'requested' ? read.user.extra : undefined;
    expect(Object.entries(extra ?? {})).toEqual([[key, ['v']]]);
  });

  test('decodes impersonated names as UTF-8', () => {
    const headers = separate(['impersonate-user', 'J\xc3\xb6rg'], ['impersonate-group', '\xe6\xbc\xa2']);
    expect(readImpersonation(headers, kubernetesDialect)).toMatchObject({
      user: { user: 'Jörg', groups: ['漢', 'system:authenticated'] },
    });
  });
});

describe('impersonation headers without a user', () => {
  test.each([
    [[['impersonate-group', 'crew']], '{Group  crew    }'],
    [
      [
        ['impersonate-group', 'a'],
        ['impersonate-group', 'b'],
      ],
      '{Group  a    } {Group  b    }',
    ],
    [[['impersonate-uid', 'u']], '{UID  u  authentication.k8s.io/v1  }'],
    [[['impersonate-extra-k', 'v']], '{UserExtra  v  authentication.k8s.io/v1  k}'],
  ])('rejects impersonation headers without a user: %j', (lines, printed) => {
    expect(readImpersonation(separate(...(lines as [string, string][])), kubernetesDialect)).toEqual({
      type: 'invalid',
      error: `requested [${printed}] without impersonating a user`,
    });
  });

  test('are printed up to a limit, because a joined header repeats its long name for each value', () => {
    const headers = new Headers({ [`impersonate-extra-${'k'.repeat(20_000)}`]: 'x, '.repeat(20_000) });
    const found = readImpersonation(headers, kubernetesDialect);
    expect(found?.type === 'invalid' && found.error.length).toBeLessThan(100_000);
  });
});
