/** Validation of taints, with the reference server's messages. */
import { expect, test } from 'vitest';
import type { Taint } from '../../../../src/kinds/shared/taints.js';
import { validateNodeTaints } from '../../../../src/kinds/shared/taints.js';
import { printFieldError } from '../../../../src/meta/field-error.js';

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

test.each<[string, Taint[], string[]]>([
  [
    'one key with two effects',
    [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', effect: 'NoExecute' },
    ],
    [],
  ],
  ['no effect', [{ key: 'a' }], ['t[0].effect: Required value']],
  [
    'an unknown effect',
    [{ key: 'a', effect: 'Maybe' }],
    ['t[0].effect: Unsupported value: "Maybe": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
  ],
  [
    'no key',
    [{ effect: 'NoSchedule' }],
    ['t[0].key: Invalid value: "": name part must be non-empty', `t[0].key: Invalid value: "": ${NAME_PART}`],
  ],
  ['an invalid key', [{ key: 'a b', effect: 'NoSchedule' }], [`t[0].key: Invalid value: "a b": ${NAME_PART}`]],
  [
    'two errors of a value in one message',
    [{ key: 'a', value: `${'b'.repeat(63)} c`, effect: 'NoSchedule' }],
    [`t[0].value: Invalid value: "${'b'.repeat(63)} c": must be no more than 63 characters;${VALUE}`],
  ],
  [
    'a repeated key and effect',
    [
      { key: 'a', effect: 'NoSchedule' },
      { key: 'a', value: 'x', effect: 'NoSchedule' },
    ],
    [
      't[1]: Duplicate value: core.Taint{Key:"a", Value:"x", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
    ],
  ],
  [
    'a repeated key and effect with a time',
    [
      { key: 'a', effect: 'NoExecute' },
      { key: 'a', effect: 'NoExecute', timeAdded: '2024-02-03T04:05:06Z' },
    ],
    [
      't[1]: Duplicate value: core.Taint{Key:"a", Value:"", Effect:"NoExecute", TimeAdded:time.Date(2024, time.February, 3, 4, 5, 6, 0, time.Local)}: taints must be unique by key and effect pair',
    ],
  ],
])('validates taints with %s', (_, taints, errors) => {
  expect(validateNodeTaints('t', taints).map(printFieldError)).toEqual(errors);
});
