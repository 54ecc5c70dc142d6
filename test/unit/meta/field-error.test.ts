/** The limits of field errors. */
import { expect, test } from 'vitest';
import { errors } from '../../../src/meta/errors.js';
import { countingFieldErrors, invalid, required, TooManyFieldErrors } from '../../../src/meta/field-error.js';

test('ends a validation that finds more than 100,000 errors, and keeps the first 10,000', () => {
  const validate = (count: number) => () =>
    Array.from({ length: count }, (_, index) => required(`spec.list[${index}]`));
  expect(countingFieldErrors(validate(100_000))).toHaveLength(100_000);
  const found = endedBy(() => countingFieldErrors(validate(100_001)));
  expect(found.first).toHaveLength(10_000);
  expect(found.first.at(-1)?.field).toBe('spec.list[9999]');
});

test('ends a validation whose errors print too much text', () => {
  const value = 'x'.repeat(1_000_000);
  const found = endedBy(() => countingFieldErrors(() => Array.from({ length: 40 }, () => invalid('a', value, ''))));
  expect(found.first.length).toBeLessThan(40);
});

test('counts the errors of each validation on its own', () => {
  const many = () => Array.from({ length: 60_000 }, () => required('a'));
  countingFieldErrors(() => {
    many();
    countingFieldErrors(many);
    expect(endedBy(many)).toBeInstanceOf(TooManyFieldErrors);
  });
  // Outside of a validation there is no limit.
  expect([...many(), ...many()]).toHaveLength(120_000);
});

test('prints at most four million characters of a value', () => {
  const { message } = invalid('a', 'x'.repeat(5_000_000), 'too bad');
  expect(message.length).toBeLessThan(4_200_000);
  expect(message.endsWith('x...: too bad')).toBe(true);
});

test('a Status lists at most 10,000 errors and the number of the others', () => {
  const found = Array.from({ length: 10_005 }, (_, index) => required(`a[${index}]`));
  const { status } = errors.invalid({ group: '', kind: 'Pod' }, 'a', found);
  expect(status.details?.causes).toHaveLength(10_000);
  expect(status.message).toMatch(/a\[9999\]: Required value, and 5 more\]$/);
});

function endedBy(run: () => unknown): TooManyFieldErrors {
  try {
    run();
  } catch (error) {
    if (error instanceof TooManyFieldErrors) return error;
    throw error;
  }
  throw new Error('the validation was not ended');
}
