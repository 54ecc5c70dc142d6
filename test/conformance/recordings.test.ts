/** The stored recordings, and the rules by which a replay compares responses with them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';
import { differences, normalize, renumber } from './compare.mjs';
import { RECORDINGS, readRecordings, withoutDescriptions } from './recordings.mjs';
import { listedSteps, specified } from './specified.mjs';

describe('stored recordings', () => {
  const scenarios = readRecordings(RECORDINGS);

  test('has a recorded response for every step', () => {
    expect(scenarios.length).toBeGreaterThan(600);
    for (const { group, name, steps, expect: responses } of scenarios) {
      expect(responses.length, `${group}/${name}`).toBe(steps.length);
    }
  });

  test('stores neither descriptions of the reference server nor signed tokens', () => {
    for (const { group, name, expect: responses } of scenarios) {
      const text = JSON.stringify(responses);
      expect(text, `${group}/${name}`).toBe(JSON.stringify(responses.map(withoutDescriptions)));
      expect(text, `${group}/${name}`).not.toMatch(/eyJhbGci|PRIVATE KEY/);
    }
  });

  test('stores no time and no operating system in gzip headers', () => {
    for (const file of readdirSync(RECORDINGS)) {
      expect([...readFileSync(join(RECORDINGS, file)).subarray(4, 10)], file).toEqual([0, 0, 0, 0, 2, 255]);
    }
  });
});

describe('steps that differ in the dialect orch', () => {
  const scenarios = readRecordings(RECORDINGS);
  const page = readFileSync(join(root, 'docs/specification.md'), 'utf8');

  test('lists existing steps once, with a row of the specification', () => {
    const lengths = new Map(scenarios.map(({ group, name, steps }) => [`${group}/${name}`, steps.length]));
    const seen = new Set(listedSteps().map(({ recording, step }) => `${recording} ${step}`));
    expect(seen.size).toBe(listedSteps().length);
    for (const { recording, step, statement } of listedSteps()) {
      expect(lengths.get(recording), recording).toBeGreaterThanOrEqual(step);
      expect(page).toContain(`| ${statement} |`);
    }
  });

  test('derives responses only for statements of the specification, and few of them', () => {
    const found = scenarios.flatMap((scenario) =>
      scenario.steps.flatMap((_step, index) => specified(scenario, index)?.statement ?? []),
    );
    for (const statement of new Set(found)) expect(page).toContain(`| ${statement} |`);
    expect(found.length).toBeLessThan(scenarios.flatMap(({ steps }) => steps).length / 20);
  });
});

describe('normalization', () => {
  const uid = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const body = (metadata: object) => ({ status: 200, body: { metadata } });
  const normalized = (...all: object[]) => normalize(all.map(body), 'ns1').map((response) => response.body);

  test('replaces uids, times, the namespace and continue tokens in texts and keys', () => {
    const metadata = { uid, creationTimestamp: '2024-01-02T03:04:05Z', namespace: 'ns1', continue: 'x', 'ns1-b': uid };
    expect(normalized(metadata)).toEqual([
      {
        metadata: {
          uid: '<uid:1>',
          creationTimestamp: '<time>',
          namespace: '{ns}',
          continue: '<continue>',
          '{ns}-b': '<uid:1>',
        },
      },
    ]);
  });

  test('numbers resource versions of objects across the responses of a scenario', () => {
    const versions = normalized(
      { uid, resourceVersion: '7' },
      { resourceVersion: '8' },
      { uid, resourceVersion: '9' },
      { uid, resourceVersion: '7' },
      { uid, resourceVersion: '0' },
    ).map((each) => (each as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
    expect(versions).toEqual(['<rv:1>', '<rv>', '<rv:2>', '<rv:1>', '0']);
  });

  test('replaces the generated part of a name wherever the name occurs', () => {
    expect(normalized({ generateName: 'a-', name: 'a-bcdfg' }, { ref: 'pod a-bcdfg' })).toEqual([
      { metadata: { generateName: 'a-', name: 'a-<gen>' } },
      { metadata: { ref: 'pod a-<gen>' } },
    ]);
  });
});

describe('renumbering', () => {
  test('numbers marks by first occurrence in the responses that count', () => {
    const body = (uid: string) => ({ status: 200, body: { uid } });
    const all = [body('<uid:1>'), body('<uid:3>'), body('<uid:2>'), body('<uid:3>')];
    expect(renumber(all, (index) => index > 0).map((response) => response.body)).toEqual([
      { uid: '<uid:1>' },
      { uid: '<uid:1>' },
      { uid: '<uid:2>' },
      { uid: '<uid:1>' },
    ]);
  });
});

describe('comparison', () => {
  test('lists every path that differs', () => {
    expect(differences({ a: 1, b: [1, 2], c: {} }, { a: 2, b: [1], c: [] })).toEqual([
      { path: '.a', expected: 1, actual: 2 },
      { path: '.b.1', expected: 2, actual: undefined },
      { path: '.c', expected: {}, actual: [] },
    ]);
  });

  test('leaves out ignored paths and prefixes', () => {
    const [expected, actual] = [{ a: 1, b: { c: 1 }, bc: 1 }, { a: 2 }];
    expect(differences(expected, actual, ['.a', '.b*'])).toEqual([]);
    expect(differences(expected, actual, ['.a', '.b']).map(({ path }) => path)).toEqual(['.bc']);
  });
});
