/** Name validation: the vectors of the reference implementation, special cases, and hostile input. */
import { describe, expect, test } from 'vitest';
import type { NameProblems } from '../../../src/meta/names.js';
import {
  byteLength,
  configMapKeyProblems,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  envVarNameProblems,
  httpHeaderNameProblems,
  labelValueProblems,
  maskTrailingDash,
  pathSegmentPrefixProblems,
  pathSegmentProblems,
  patternMessage,
  portNameProblems,
  qualifiedNameProblems,
  relaxedEnvVarNameProblems,
  wildcardSubdomainProblems,
} from '../../../src/meta/names.js';
import { readVectors } from '../../vectors/read.js';

const BY_VECTOR_NAME: Readonly<Record<string, NameProblems>> = {
  Subdomain: dnsSubdomainProblems,
  Label: dnsLabelProblems,
  Label1035: dns1035LabelProblems,
  Qualified: qualifiedNameProblems,
  LabelValue: labelValueProblems,
  PortName: portNameProblems,
  ConfigMapKey: configMapKeyProblems,
  WildcardSubdomain: wildcardSubdomainProblems,
  EnvVar: envVarNameProblems,
  HTTPHeader: httpHeaderNameProblems,
};

describe('name vectors in names.json', () => {
  const vectors = readVectors('names') as ({ in: string } & Record<string, string[] | string | null>)[];

  test('has a validator for every column of names.json', () => {
    const known = ['in', ...Object.keys(BY_VECTOR_NAME)].sort();
    for (const vector of vectors) expect(Object.keys(vector).sort()).toEqual(known);
  });

  describe.each(Object.entries(BY_VECTOR_NAME))('name validator %s', (name, validate) => {
    test.each(vectors)('validates the name $in', (vector) => {
      expect(validate(vector.in)).toEqual(vector[name] ?? []);
    });
  });
});

describe('name validation messages', () => {
  test('describes a valid subdomain', () => {
    expect(dnsSubdomainProblems('A')).toEqual([
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ]);
  });

  test('reports dots in a label', () => {
    expect(dnsLabelProblems('a.b')).toEqual(['must not contain dots']);
    expect(dnsLabelProblems(`${'a'.repeat(63)}.b`)).toEqual([
      'must be no more than 63 characters',
      'must not contain dots',
    ]);
  });

  test('reports both length and format problems', () => {
    expect(labelValueProblems(`-${'a'.repeat(63)}`)).toHaveLength(2);
    expect(dns1035LabelProblems(`1${'a'.repeat(63)}`)[0]).toBe('must be no more than 63 characters');
  });

  test('counts bytes for length limits of names', () => {
    expect(labelValueProblems('é'.repeat(32))[0]).toBe('must be no more than 63 characters');
    expect(labelValueProblems('é'.repeat(31))).toHaveLength(1);
  });

  test('reports which part of a qualified name is invalid', () => {
    expect(qualifiedNameProblems('example.com/MyName')).toEqual([]);
    expect(qualifiedNameProblems('/a')).toEqual(['prefix part must be non-empty']);
    expect(qualifiedNameProblems('a/')).toEqual([
      'name part must be non-empty',
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ]);
    expect(qualifiedNameProblems(`${'a'.repeat(254)}/b`)).toEqual(['prefix part must be no more than 253 characters']);
    expect(qualifiedNameProblems('a//')[0]).toMatch(/^a qualified name must consist/);
  });

  test('reports every invalid character of a path segment', () => {
    expect(pathSegmentProblems('.')).toEqual(["may not be '.'"]);
    expect(pathSegmentProblems('..')).toEqual(["may not be '..'"]);
    expect(pathSegmentProblems('%a/b')).toEqual(["may not contain '/'", "may not contain '%'"]);
    expect(pathSegmentPrefixProblems('..')).toEqual([]);
    expect(pathSegmentProblems('system:node')).toEqual([]);
  });

  test('reports path-like and invalid ConfigMap keys', () => {
    expect(configMapKeyProblems('.')).toEqual(["must not be '.'"]);
    expect(configMapKeyProblems('..')).toEqual(["must not be '..'"]);
    expect(configMapKeyProblems('..data')).toEqual(["must not start with '..'"]);
    expect(configMapKeyProblems('a'.repeat(254))).toEqual(['must be no more than 253 characters']);
    expect(configMapKeyProblems('')).toEqual([
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ]);
  });

  test('validates relaxed environment variable names', () => {
    expect(relaxedEnvVarNameProblems('1 odd:name')).toEqual([]);
    expect(relaxedEnvVarNameProblems('a=b')).toEqual([
      "a valid environment variable name must consist only of printable ASCII characters other than '='",
    ]);
    expect(relaxedEnvVarNameProblems('é')).toHaveLength(1);
  });

  test('prints the pattern of a name without examples', () => {
    expect(patternMessage('must be x', 'x+', [])).toBe("must be x (regex used for validation is 'x+')");
  });
});

test('accepts a trailing dash of a generateName but no other problems', () => {
  expect(maskTrailingDash('web-')).toBe('wea');
  expect(maskTrailingDash('web')).toBe('web');
  expect(maskTrailingDash('-')).toBe('-');
  expect(maskTrailingDash('--')).toBe('a');
  expect(dnsSubdomainProblems(maskTrailingDash('é-'))).toHaveLength(1);
});

test('counts UTF-8 bytes in byteLength', () => {
  for (const text of ['', 'abc', 'é', '€', '😀', 'a😀é€', '\ud800', '\udc00x', '\ud800\ud800\udc00']) {
    expect(byteLength(text), JSON.stringify(text)).toBe(new TextEncoder().encode(text).length);
  }
});

test('returns one frozen empty list for valid names', () => {
  expect(dnsSubdomainProblems('a')).toBe(labelValueProblems('b'));
  expect(Object.isFrozen(dnsSubdomainProblems('a'))).toBe(true);
});

// More than one pass over the names would exceed the test timeout.
test('validates megabytes of hostile names in one pass', () => {
  const names = [
    `${'a'.repeat(2_000_000)}-`,
    `${'a.'.repeat(1_000_000)}!`,
    '-'.repeat(2_000_000),
    'a/'.repeat(500_000),
  ];
  for (const name of names) {
    for (const validate of Object.values(BY_VECTOR_NAME)) validate(name);
    expect(dnsSubdomainProblems(name)).toHaveLength(2);
  }
});
