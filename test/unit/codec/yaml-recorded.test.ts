/** Decodes every YAML body of the recordings: with the recorded error or warning, or without any. */
import { describe, expect, test } from 'vitest';
import { yamlBody } from '../../../src/codec/yaml.js';
import { RECORDINGS, readRecordings } from '../../conformance/recordings.mjs';
import { rejectionMessage } from './rejection-message.js';

describe('recorded YAML apply requests', () => {
  const cases = recordedBodies();

  test('contains more than 15 YAML bodies', () => {
    expect(cases.length).toBeGreaterThan(15);
  });

  test.each(cases)('decodes the body of $name as recorded', ({ text, message }) => {
    const strict = message.startsWith('error strict decoding YAML: ');
    if (message.startsWith('error decoding YAML: ')) {
      expect(`error decoding YAML: ${rejectionMessage(text)}`).toBe(message);
    } else {
      expect(rejectionMessage(text)).toBe('accepted');
    }
    if (!strict) return;
    const lines = yamlBody(text)
      .repeatedKeys()
      .map((line) => `\n  ${line}`);
    expect(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines.join('')}`).toBe(
      message,
    );
  });
});

function recordedBodies(): { readonly name: string; readonly text: string; readonly message: string }[] {
  return readRecordings(RECORDINGS).flatMap(({ name, steps, expect: responses }) =>
    steps.flatMap(({ headers, rawBody }, at) => {
      const response = responses[at];
      if (rawBody === undefined || response === undefined) return [];
      if (headers?.['content-type'] !== 'application/apply-patch+yaml') return [];
      const message = response.status === 400 ? String(response.body.message) : '';
      return [{ name: `${name} ${at + 1}`, text: rawBody, message }];
    }),
  );
}
