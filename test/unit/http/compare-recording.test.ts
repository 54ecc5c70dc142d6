/** The comparison of answers with recorded ones. */
import { describe, expect, test } from 'vitest';
import { AnswerComparison } from '../../../src/http/compare-recording.js';
import {
  exchangeKey,
  isResourcePath,
  isWatchPath,
  parseRecording,
  RECORDING_HEADER,
  RecordingError,
} from '../../../src/http/recording.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';

const uid = (digit: number): string => `0000000${digit}-0000-4000-8000-000000000000`;

describe('AnswerComparison', () => {
  test('treats uids, versions, times and generated names as equal, and uses the actual ones in later requests', () => {
    const comparison = new AnswerComparison();
    const recorded = {
      metadata: {
        name: 'a-bcdfg',
        generateName: 'a-',
        uid: uid(1),
        resourceVersion: '12',
        creationTimestamp: '2026-11-18T12:00:00Z',
      },
    };
    const actual = {
      metadata: {
        name: 'a-zzzzz',
        generateName: 'a-',
        uid: uid(2),
        resourceVersion: '7',
        creationTimestamp: '2026-11-18T13:00:00Z',
      },
    };
    expect(comparison.compare(recorded, actual)).toEqual([]);
    expect(comparison.translate('/api/v1/pods/a-bcdfg?resourceVersion=12')).toBe(
      '/api/v1/pods/a-zzzzz?resourceVersion=7',
    );
    expect(comparison.translate(`{"uid":"${uid(1)}","resourceVersion":"12"}`)).toBe(
      `{"uid":"${uid(2)}","resourceVersion":"7"}`,
    );
    // An owner is named by its uid.
    expect(comparison.compare({ owner: uid(1) }, { owner: uid(2) })).toEqual([]);
    expect(comparison.compare({ owner: uid(1) }, { owner: uid(3) })).toEqual([
      { path: '.owner', recorded: uid(1), actual: uid(3) },
    ]);
  });

  test('reports changed, missing and additional fields with their paths', () => {
    const recorded = { spec: { size: 1, list: ['a', 'b'], gone: true } };
    expect(new AnswerComparison().compare(recorded, { spec: { size: 2, list: ['a'], more: 1 } })).toEqual([
      { path: '.spec.size', recorded: 1, actual: 2 },
      { path: '.spec.list[1]', recorded: 'b', actual: undefined },
      { path: '.spec.gone', recorded: true, actual: undefined },
      { path: '.spec.more', recorded: undefined, actual: 1 },
    ]);
    expect(
      new AnswerComparison().compare({ metadata: { resourceVersion: '1' } }, { metadata: { resourceVersion: '' } }),
    ).toEqual([{ path: '.metadata.resourceVersion', recorded: '1', actual: '' }]);
  });

  test('compares field managers in any order, and tables without ages and descriptions', () => {
    const managedFields = [
      { manager: 'a', operation: 'Update' },
      { manager: 'b', operation: 'Update' },
    ];
    const reversed = [...managedFields].reverse();
    expect(
      new AnswerComparison().compare({ metadata: { managedFields } }, { metadata: { managedFields: reversed } }),
    ).toEqual([]);
    const table = (description: string, age: string) => ({
      columnDefinitions: [{ name: 'Age', description }],
      rows: [{ cells: ['a', age] }],
    });
    expect(new AnswerComparison().compare(table('one', '5s'), table('other', '2m10s'))).toEqual([]);
    expect(new AnswerComparison().compare(table('one', '5s'), table('other', 'x'))).toHaveLength(1);
  });

  test('takes time in proportion to the number of keys that only one side has', () => {
    const fields = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 1]));
    const spentMs = cpuTimer();
    expect(new AnswerComparison().compare(fields('a', 10_000), fields('b', 10_000))).toHaveLength(20_000);
    expect(spentMs()).toBeLessThan(2_000);
  });
});

describe('recordings', () => {
  test('are read in the order of their requests; incomplete lines are left out', () => {
    const line = (id: number): string =>
      JSON.stringify({ id, time: '', method: 'GET', path: '/', requestHeaders: {}, status: 200, responseHeaders: {} });
    const text = `${RECORDING_HEADER}${line(2)}\n${line(1)}\n`;
    expect(parseRecording(text).map(({ id }) => id)).toEqual([1, 2]);
    expect(parseRecording(`${text}{"id":3,`).map(({ id }) => id)).toEqual([1, 2]);
    expect(parseRecording(`${text}{"id":3,\n${line(4)}\n`).map(({ id }) => id)).toEqual([1, 2, 4]);
    expect(() => parseRecording(`${RECORDING_HEADER}{}\n`)).toThrow(
      new RecordingError('has a line that is not an exchange: line 2'),
    );
    expect(() => parseRecording('')).toThrow(RecordingError);
  });

  test('find answers by method, path and query', () => {
    const key = (path: string, isLoose = false): string => exchangeKey({ method: 'GET', path }, isLoose);
    expect([key('//'), key('//other/api'), key('*')]).toEqual(['GET //?', 'GET //other/api?', 'GET /*?']);
    expect(key('/api/v1/pods?b=1&a=2&timeoutSeconds=9')).toBe(key('/api/v1/pods?a=2&b=1'));
    expect(key('/api/v1/pods?resourceVersion=1')).not.toBe(key('/api/v1/pods?resourceVersion=2'));
    expect(key('/api/v1/pods?resourceVersion=1', true)).toBe(key('/api/v1/pods', true));
    expect(['/api/v1/pods', '/apis/apps/v1/deployments?x=1', '/apis/apps/v1', '/version'].map(isResourcePath)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['/api/v1/pods?watch=1', '/api/v1/watch/pods', '/api/v1/pods?watch=false'].map(isWatchPath)).toEqual([
      true,
      true,
      false,
    ]);
  });
});
