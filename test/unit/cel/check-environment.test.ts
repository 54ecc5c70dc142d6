import { describe, expect, test } from 'vitest';
import { Substitutions } from '../../../src/cel/check/unify.js';
import { createEnvironment } from '../../../src/cel/environment.js';
import type { FunctionDeclaration } from '../../../src/cel/library.js';
import type { CelType } from '../../../src/cel/types.js';
import {
  ANY,
  BOOL,
  DYN,
  formatType,
  INT,
  listOf,
  mapOf,
  NULL,
  objectType,
  opaqueType,
  optionalOf,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOf,
  typeParam,
  wrapperOf,
} from '../../../src/cel/types.js';
import { compile } from './check-fixtures.js';

const length = (id: string, param: CelType, result: CelType = INT): FunctionDeclaration => ({
  name: 'length',
  overloads: [{ id, member: true, params: [param], result }],
});

describe('createEnvironment', () => {
  test('adds variables, functions and types without changing the base environment', () => {
    const base = createEnvironment({ variables: { a: INT } });
    const more = base.extend({
      variables: { b: objectType('B') },
      libraries: [{ name: 'more', functions: [length('string_length', STRING)] }],
      provider: {
        hasType: (name) => name === 'B',
        fieldType: (_name, field) => (field === 'x' ? STRING : undefined),
        fieldNames: () => ['x'],
      },
    });
    expect(compile('a + b.x.length()', more)).toMatchObject({ resultType: INT });
    expect(compile('a + b.x.length()', base)).toContain("undeclared reference to 'b'");
    expect([...more.variables.keys()]).toEqual(expect.arrayContaining(['a', 'b', 'int']));
    expect(more.functions.size).toBe(base.functions.size + 1);
    expect(more.overloads.get('string_length')).toEqual({ function: 'length' });
  });

  test('merges the overloads of one function from two libraries', () => {
    const environment = createEnvironment({
      libraries: [
        { name: 'one', functions: [length('string_length', STRING)] },
        { name: 'two', functions: [length('list_length', listOf(DYN))] },
      ],
    });
    expect(environment.functions.get('length')?.overloads.map(({ id }) => id)).toEqual([
      'string_length',
      'list_length',
    ]);
  });

  test('adds a library only once', () => {
    const library = { name: 'one', functions: [length('string_length', STRING)] };
    const environment = createEnvironment({ libraries: [library] });
    expect(environment.extend({ libraries: [library] }).libraries).toBe(environment.libraries);
  });

  test.each([
    ['overlap', [length('list_length', listOf(DYN)), length('strings_length', listOf(STRING))]],
    ['declared in two ways', [length('string_length', STRING), length('string_length', STRING, STRING)]],
  ])('rejects libraries with conflicting declarations: %s', (message, functions) => {
    const libraries = functions.map((declaration, index) => ({ name: `${index}`, functions: [declaration] }));
    expect(() => createEnvironment({ libraries })).toThrow(message);
  });

  test('rejects a variable that is declared with two types', () => {
    const environment = createEnvironment({ variables: { a: INT } });
    expect(environment.extend({ variables: { a: INT } }).variables.get('a')).toBe(INT);
    expect(() => environment.extend({ variables: { a: STRING } })).toThrow('variable a is declared with two types');
  });

  test('creates one environment per schema node cheaply', () => {
    const base = createEnvironment();
    let last = base;
    for (let index = 0; index < 2000; index++) last = base.extend({ variables: { self: listOf(INT) } });
    expect(last.functions).toBe(base.functions);
    expect(last.overloads).toBe(base.overloads);
    expect(last.macros).toBe(base.macros);
  });
});

describe('CEL types', () => {
  test.each([
    [listOf(mapOf(STRING, DYN)), 'list(map(string, dyn))'],
    [optionalOf(wrapperOf(INT)), 'optional_type(wrapper(int))'],
    [typeOf(TIMESTAMP), 'type(timestamp)'],
    [TYPE, 'type'],
    [NULL, 'null'],
    [opaqueType('net.IP'), 'net.IP'],
    [typeParam('T'), 'T'],
  ])('formats %j as %s', (type, text) => {
    expect(formatType(type)).toBe(text);
  });

  test.each<readonly [CelType, CelType, boolean]>([
    [INT, INT, true],
    [INT, STRING, false],
    [DYN, INT, true],
    [INT, ANY, true],
    [wrapperOf(INT), NULL, true],
    [wrapperOf(INT), INT, true],
    [wrapperOf(INT), wrapperOf(INT), true],
    [wrapperOf(INT), STRING, false],
    [INT, NULL, false],
    [objectType('a'), NULL, true],
    [objectType('a'), objectType('b'), false],
    [listOf(INT), listOf(DYN), true],
    [listOf(INT), listOf(STRING), false],
    [mapOf(STRING, typeParam('T')), mapOf(STRING, INT), true],
    [listOf(typeParam('T')), listOf(listOf(typeParam('T'))), false],
    [optionalOf(INT), optionalOf(STRING), false],
    [typeOf(INT), typeOf(STRING), true],
    [BOOL, objectType('a'), false],
  ])('unifies %j and %j: %s', (expected, given, fits) => {
    expect(new Substitutions().fit(expected, given)).toBe(fits);
  });
});
