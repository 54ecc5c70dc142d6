/**
 * Every YAML body of the recordings: refused with the recorded words, or read, and complained of as recorded.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { yamlBody } from '../../../src/codec/yaml.js';
import { refusal } from './refusal.js';

const RECORDED = new URL('../../../../shared/conformance/recorded/', import.meta.url);

interface Recorded {
  readonly name: string;
  readonly steps: readonly { readonly headers?: Record<string, string>; readonly rawBody?: string }[];
  readonly expect: readonly { readonly status: number; readonly body?: { readonly message?: string } }[];
}

describe.skipIf(!existsSync(RECORDED))(
  'recorded answers to apply (skipped without the recordings beside the repository)',
  () => {
    const cases = existsSync(RECORDED) ? recordedBodies() : [];

    test('there are some', () => {
      expect(cases.length).toBeGreaterThan(15);
    });

    test.each(cases)('$name', ({ text, message }) => {
      const strict = message.startsWith('error strict decoding YAML: ');
      if (message.startsWith('error decoding YAML: ')) {
        expect(`error decoding YAML: ${refusal(text)}`).toBe(message);
      } else {
        expect(refusal(text)).toBe('accepted');
      }
      if (!strict) return;
      const lines = yamlBody(text)
        .repeatedKeys()
        .map((line) => `\n  ${line}`);
      expect(
        `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines.join('')}`,
      ).toBe(message);
    });
  },
);

function recordedBodies(): { readonly name: string; readonly text: string; readonly message: string }[] {
  const files = readdirSync(RECORDED).filter((file) => file.endsWith('.json'));
  return files.flatMap((file) => {
    const scenarios = JSON.parse(readFileSync(new URL(file, RECORDED), 'utf8')) as readonly Recorded[];
    return scenarios.flatMap((scenario) =>
      (scenario.steps ?? []).flatMap(({ headers, rawBody }, at) => {
        const answer = scenario.expect[at];
        if (rawBody === undefined || answer === undefined) return [];
        if (headers?.['content-type'] !== 'application/apply-patch+yaml') return [];
        const message = answer.status === 400 ? (answer.body?.message ?? '') : '';
        return [{ name: `${scenario.name} ${at + 1}`, text: rawBody, message }];
      }),
    );
  });
}
