/** Parsing of queries and their errors. */
import { describe, expect, test } from 'vitest';
import {
  isPrettyRequested,
  isWatchRequested,
  parseQuery,
  readDeleteOptions,
  readOptions,
  readTimeout,
} from '../../../src/http/query.js';
import { KUBERNETES_RULES, ORCH_RULES } from '../../../src/meta/dialect-rules.js';

const list = (search: string) => readOptions('list', parseQuery(search));

describe('parseQuery', () => {
  test.each([
    ['', []],
    [
      'a=1&b=2&a=3',
      [
        ['a', ['1', '3']],
        ['b', ['2']],
      ],
    ],
    [
      'a&b=&=c',
      [
        ['a', ['']],
        ['b', ['']],
        ['', ['c']],
      ],
    ],
    [
      'a=1=2&&c=x+y%2B%20z',
      [
        ['a', ['1=2']],
        ['c', ['x y+ z']],
      ],
    ],
    ['a=%zz&b=1;c=2&d=3', [['d', ['3']]]],
  ])('reads the pairs of %s', (search, pairs) => {
    expect([...parseQuery(search)]).toEqual(pairs);
  });
});

describe('readOptions', () => {
  test('uses the first value, treats empty texts as absent and ignores unknown names', () => {
    expect(list('labelSelector=a%3Db&labelSelector=c&fieldSelector=&resourceVersion=&bogus=1&dryRun=All')).toEqual({
      labelSelector: 'a=b',
    });
  });

  test('reads every option of a list or a watch', () => {
    const search =
      'labelSelector=l&fieldSelector=f&limit=5&continue=c&resourceVersion=7&resourceVersionMatch=Exact&timeoutSeconds=0' +
      '&sendInitialEvents=true&allowWatchBookmarks=1';
    expect(readOptions('watch', parseQuery(search))).toEqual({
      labelSelector: 'l',
      fieldSelector: 'f',
      limit: 5,
      continue: 'c',
      resourceVersion: '7',
      resourceVersionMatch: 'Exact',
      timeoutSeconds: 0,
      sendInitialEvents: true,
      allowWatchBookmarks: true,
    });
  });

  test('keeps every value of dryRun', () => {
    const query = parseQuery('dryRun=All&dryRun=&fieldManager=m&fieldValidation=Strict&force=1');
    expect(readOptions('create', query)).toEqual({ dryRun: ['All', ''], fieldManager: 'm', fieldValidation: 'Strict' });
    expect(readOptions('patch', query)).toMatchObject({ force: true });
  });

  test.each([
    ['force=true', true],
    ['force=', true],
    ['force=yes', true],
    ['force', true],
    ['force=0', false],
    ['force=FALSE', false],
    ['force=00', true],
  ])('reads the boolean of %s', (search, force) => {
    expect(readOptions('patch', parseQuery(search))).toEqual({ force });
  });

  test.each([
    ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['limit=1_000', 'strconv.ParseInt: parsing "1_000": invalid syntax'],
    ['timeoutSeconds=%0A', 'strconv.ParseInt: parsing "\\n": invalid syntax'],
    ['limit=9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    ['limit=y&timeoutSeconds=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
  ])('rejects the query %s', (search, message) => {
    expect(() => list(search)).toThrow(expect.objectContaining({ message, reason: 'BadRequest', code: 400 }));
  });

  test.each([
    ['limit=-1', -1],
    ['limit=%2B5', 5],
    ['limit=-9223372036854775808', -(2 ** 63)],
  ])('reads the integer of %s', (search, limit) => {
    expect(list(search)).toEqual({ limit });
  });

  test('reads the version of a get and rejects export', () => {
    expect(readOptions('get', parseQuery('resourceVersion=4&limit=x'))).toEqual({ resourceVersion: '4' });
    expect(() => readOptions('get', parseQuery('export='))).toThrow(
      'the export parameter, deprecated since v1.14, is no longer supported',
    );
    expect(readOptions('get', parseQuery('export=false'))).toEqual({});
  });
});

describe('readDeleteOptions', () => {
  const search =
    'gracePeriodSeconds=3&orphanDependents=false&propagationPolicy=&dryRun=All&uid=u&resourceVersion=7&limit=5&labelSelector=a';

  test('reads the options of a delete', () => {
    expect(readDeleteOptions('delete', parseQuery(search), { hasBody: false, rules: KUBERNETES_RULES })).toEqual({
      gracePeriodSeconds: 3,
      orphanDependents: false,
      propagationPolicy: '',
      dryRun: ['All'],
      preconditions: { uid: 'u', resourceVersion: '7' },
    });
  });

  test('ignores the options of the query when there is a body', () => {
    expect(
      readDeleteOptions('delete', parseQuery('gracePeriodSeconds=x&dryRun=All'), {
        hasBody: true,
        rules: KUBERNETES_RULES,
      }),
    ).toEqual({});
  });

  test('reads the options of the query in spite of a body by the rules of the specification', () => {
    const read = { hasBody: true, rules: ORCH_RULES };
    expect(readDeleteOptions('delete', parseQuery('gracePeriodSeconds=3&resourceVersion=7'), read)).toEqual({
      gracePeriodSeconds: 3,
      preconditions: { resourceVersion: '7' },
    });
    expect(readDeleteOptions('deletecollection', parseQuery('dryRun=All&resourceVersion=7'), read)).toEqual({
      dryRun: ['All'],
      resourceVersion: '7',
    });
  });

  test('reads the selectors of a deletecollection even when there is a body', () => {
    expect(
      readDeleteOptions('deletecollection', parseQuery(search), { hasBody: true, rules: KUBERNETES_RULES }),
    ).toEqual({
      labelSelector: 'a',
      limit: 5,
      resourceVersion: '7',
    });
    expect(() =>
      readDeleteOptions('deletecollection', parseQuery('limit=x'), { hasBody: true, rules: KUBERNETES_RULES }),
    ).toThrow('invalid syntax');
  });
});

describe('watch, pretty and timeout', () => {
  test.each([
    ['watch=true', true],
    ['watch=1', true],
    ['watch=', true],
    ['watch=nope', true],
    ['watch=0', false],
    ['watch=False', false],
    ['', false],
  ])('isWatchRequested reads %s', (search, watch) => {
    expect(isWatchRequested(parseQuery(search))).toBe(watch);
  });

  test.each([
    ['pretty=true', 'oracle', true],
    ['pretty=1', '', true],
    ['pretty=0', 'curl/8', false],
    ['pretty=yes', 'curl/8', false],
    ['pretty=', 'curl/8', true],
    ['', 'curl/8.1', true],
    ['', 'Wget/1', true],
    ['', 'Mozilla/5.0 (X11)', true],
    ['', 'kubectl/v1', false],
  ])('isPrettyRequested reads %s from %s', (search, userAgent, pretty) => {
    expect(isPrettyRequested(parseQuery(search), userAgent)).toBe(pretty);
  });

  test.each([
    ['timeout=1m0.5s', 60_500],
    ['timeout=0', 0],
    ['timeout=', undefined],
    ['', undefined],
  ])('readTimeout reads %s', (search, milliseconds) => {
    expect(readTimeout(parseQuery(search))).toBe(milliseconds);
  });

  test.each([
    ['x', 'invalid timeout specified in the request URL - time: invalid duration "x"'],
    ['5', 'invalid timeout specified in the request URL - time: missing unit in duration "5"'],
    ['5y', 'invalid timeout specified in the request URL - time: unknown unit "y" in duration "5y"'],
  ])('readTimeout rejects timeout=%s', (timeout, message) => {
    expect(() => readTimeout(parseQuery(`timeout=${timeout}`))).toThrow(
      expect.objectContaining({ message, code: 400 }),
    );
  });
});
