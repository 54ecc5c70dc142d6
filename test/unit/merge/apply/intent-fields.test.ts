/**
 * The field set and the errors of an applied configuration: tables of schema, document and result. The expected results
 * come from the library that the reference server uses.
 */
import { describe, expect, it } from 'vitest';
import { fieldsOfIntent, fieldsOfObject, IntentError } from '../../../../src/merge/apply/intent-fields.js';
import type { SchemaNode } from '../../../../src/schema/schema-node.js';
import { deepFreeze } from '../../../../src/util/json.js';
import {
  any,
  atomicAny,
  atomicMap,
  atomicStruct,
  boolean,
  keyed,
  list,
  map,
  number,
  open,
  orElse,
  scalar,
  set,
  string,
  struct,
} from './nodes.js';

type Case = readonly [name: string, schema: SchemaNode, document: string, expected: string];

const json = (text: string): unknown => deepFreeze(JSON.parse(text));

describe('the field set of a configuration', () => {
  const cases: readonly Case[] = [
    [
      'the members of a struct without the struct itself',
      struct({ a: struct({ b: string, c: number }) }),
      '{"a":{"b":"x","c":1}}',
      '{"f:a":{"f:b":{},"f:c":{}}}',
    ],
    [
      'the keys of a map and their members',
      struct({ a: map(map(string)) }),
      '{"a":{"x":{"y":"1"}}}',
      '{"f:a":{"f:x":{".":{},"f:y":{}}}}',
    ],
    [
      'an empty struct or map itself',
      struct({ a: struct({ b: string }), c: map(string) }),
      '{"a":{},"c":{}}',
      '{"f:a":{},"f:c":{}}',
    ],
    ['nothing for an empty list', struct({ a: set(string), b: keyed(['k'], { k: string }) }), '{"a":[],"b":[]}', '{}'],
    [
      'explicit nulls',
      struct({ a: string, b: map(string), c: set(string), d: struct({}) }),
      '{"a":null,"b":null,"c":null,"d":null}',
      '{"f:a":{},"f:b":{},"f:c":{},"f:d":{}}',
    ],
    [
      'atomic values without their members',
      struct({ a: list(string), b: atomicMap(string), c: atomicStruct({ d: string }) }),
      '{"a":["x"],"b":{"y":"1"},"c":{}}',
      '{"f:a":{},"f:b":{},"f:c":{}}',
    ],
    [
      'members of untyped maps',
      struct({ a: any, b: atomicAny }),
      '{"a":{"x":{"y":[{"z":1}]},"w":{}},"b":{"x":1}}',
      '{"f:a":{"f:w":{},"f:x":{".":{},"f:y":{}}},"f:b":{}}',
    ],
    [
      'fields that the schema does not name',
      open({ a: string }),
      '{"a":"x","z":{"y":1}}',
      '{"f:a":{},"f:z":{".":{},"f:y":{}}}',
    ],
    [
      'items by key, with the keys in the order of their names',
      struct({ a: keyed(['k', 'b'], { k: string, b: number, c: string }) }),
      '{"a":[{"k":"x","b":2,"c":""},{"c":"y","b":1,"k":"x"}]}',
      '{"f:a":{"k:{\\"b\\":1,\\"k\\":\\"x\\"}":{".":{},"f:b":{},"f:c":{},"f:k":{}},"k:{\\"b\\":2,\\"k\\":\\"x\\"}":{".":{},"f:b":{},"f:c":{},"f:k":{}}}}',
    ],
    [
      'items by a key that has a default',
      struct({ a: keyed(['n', 'p'], { n: number, p: orElse(string, 'TCP'), x: string }) }),
      '{"a":[{"n":80},{"n":80,"p":"UDP","x":""}]}',
      '{"f:a":{"k:{\\"n\\":80,\\"p\\":\\"TCP\\"}":{".":{},"f:n":{}},"k:{\\"n\\":80,\\"p\\":\\"UDP\\"}":{".":{},"f:n":{},"f:p":{},"f:x":{}}}}',
    ],
    [
      'an item whose key is null',
      struct({ a: keyed(['k'], { k: scalar }) }),
      '{"a":[{"k":null},{"k":true},{"k":"a"},{"k":1}]}',
      '{"f:a":{"k:{\\"k\\":1}":{".":{},"f:k":{}},"k:{\\"k\\":\\"a\\"}":{".":{},"f:k":{}},"k:{\\"k\\":true}":{".":{},"f:k":{}},"k:{\\"k\\":null}":{".":{},"f:k":{}}}}',
    ],
    [
      'items by value: numbers, strings, booleans',
      struct({ a: set(scalar) }),
      '{"a":[true,"b","",10,false,2,"a",1.5,-1]}',
      '{"f:a":{"v:-1":{},"v:1.5":{},"v:2":{},"v:10":{},"v:\\"\\"":{},"v:\\"a\\"":{},"v:\\"b\\"":{},"v:false":{},"v:true":{}}}',
    ],
    [
      'atomic structs as map values',
      struct({ a: map(atomicStruct({ b: string })) }),
      '{"a":{"x":{"b":"1"}}}',
      '{"f:a":{"f:x":{}}}',
    ],
    [
      'fields in the order of their bytes',
      struct({ a: map(string) }),
      '{"a":{"😀":"","":"","é":"","z":"","10":"","9":"",".":"","":""}}',
      '{"f:a":{"f:":{},"f:.":{},"f:10":{},"f:9":{},"f:z":{},"f:é":{},"f:":{},"f:😀":{}}}',
    ],
    [
      'strings with escapes',
      struct({ a: set(string) }),
      '{"a":["<&>","\\b\\f\\n","\\u2028","\\"\\\\","\\u0001"]}',
      '{"f:a":{"v:\\"\\\\u0001\\"":{},"v:\\"\\\\u0008\\\\u000c\\\\n\\"":{},"v:\\"\\\\\\"\\\\\\\\\\"":{},"v:\\"\\\\u003c\\\\u0026\\\\u003e\\"":{},"v:\\"\\\\u2028\\"":{}}}',
    ],
    [
      'numbers with exponents',
      struct({ a: set(number) }),
      '{"a":[1e-7,2.5e-10,1e21,0.000001,1e20]}',
      '{"f:a":{"v:2.5e-10":{},"v:1e-07":{},"v:0.000001":{},"v:100000000000000000000":{},"v:1e+21":{}}}',
    ],
    [
      'keys named like JavaScript properties',
      struct({ a: map(string) }),
      '{"a":{"__proto__":"1","constructor":"2"}}',
      '{"f:a":{"f:__proto__":{},"f:constructor":{}}}',
    ],
  ];

  it.each(cases)('contains %s', (_name, schema, document, expected) => {
    expect(JSON.stringify(fieldsOfIntent(schema, json(document)))).toBe(expected);
  });

  it('treats undefined members as absent', () => {
    const schema = struct({ a: struct({ b: string }), c: string });
    expect(JSON.stringify(fieldsOfIntent(schema, { a: { b: undefined }, c: undefined }))).toBe('{"f:a":{}}');
  });
});

describe('the field set of an existing object', () => {
  const cases: readonly Case[] = [
    [
      'items with equal keys once',
      struct({ a: keyed(['k'], { k: string, b: string }) }),
      '{"a":[{"k":"x","b":"1"},{"k":"y"},{"k":"x"}]}',
      '{"f:a":{"k:{\\"k\\":\\"x\\"}":{},"k:{\\"k\\":\\"y\\"}":{".":{},"f:k":{}}}}',
    ],
    [
      'repeated values once',
      struct({ a: set(string) }),
      '{"a":["x","x","y"]}',
      '{"f:a":{"v:\\"x\\"":{},"v:\\"y\\"":{}}}',
    ],
  ];

  it.each(cases)('contains %s of an existing object', (_name, schema, document, expected) => {
    expect(JSON.stringify(fieldsOfObject(schema, json(document)))).toBe(expected);
  });
});

describe('an invalid configuration', () => {
  const cases: readonly Case[] = [
    ['an unknown field', struct({ a: struct({ b: string }) }), '{"a":{"x":1}}', '.a.x: field not declared in schema'],
    ['a string for a map', struct({ a: map(string) }), '{"a":"x"}', '.a: expected map, got &{x}'],
    [
      'a map for a list',
      struct({ a: set(string) }),
      '{"a":{"x":[1,null]}}',
      '.a: expected list, got &{map[x:[1 <nil>]]}',
    ],
    [
      'a number for a string',
      struct({ a: string }),
      '{"a":1}',
      '.a: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'a map for a string',
      struct({ a: string }),
      '{"a":{"x":[1,"y",null]}}',
      '.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"x":[]interface {}{1, "y", interface {}(nil)}}}',
    ],
    ['a string for a number', struct({ a: number }), '{"a":"1"}', '.a: expected numeric (int or float), got string'],
    [
      'a list for a number',
      struct({ a: number }),
      '{"a":[]}',
      '.a: expected numeric (int or float), got []interface {}',
    ],
    ['a string for a boolean', struct({ a: boolean }), '{"a":"true"}', '.a: expected boolean, got &{true}'],
    ['a list for a scalar', struct({ a: scalar }), '{"a":[1]}', '.a: expected any scalar, got &{[1]}'],
    [
      'a wrong type inside an atomic list',
      struct({ a: list(string) }),
      '{"a":["x",1]}',
      '.a[1]: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'a wrong type inside an atomic map',
      struct({ a: atomicMap(boolean) }),
      '{"a":{"x":1}}',
      '.a.x: expected boolean, got &{1}',
    ],
    [
      'a repeated value',
      struct({ a: set(string) }),
      '{"a":["x","y","x","x"]}',
      'errors:\n  .a: duplicate entries for key [="x"]\n  .a: duplicate entries for key [="x"]',
    ],
    [
      'a repeated key, and with the errors of the second item',
      struct({ a: keyed(['k'], { k: number, b: string }) }),
      '{"a":[{"k":1000000},{"k":1000000,"b":1}]}',
      'errors:\n  .a: duplicate entries for key [k=1000000]\n  .a[k=1000000].b: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [
      'an item without its key, and stops at that item',
      struct({ a: keyed(['k'], { k: string, b: string }) }),
      '{"a":[{"k":"x","b":1},{},{"k":"x"},{}]}',
      `errors:
  .a[k="x"].b: expected string, got &value.valueUnstructured{Value:1}
  .a: element 1: associative list with keys has an element that omits key field "k" (and doesn't have default value)`,
    ],
    [
      'a missing key, and names the first one of the schema',
      struct({ a: keyed(['k', 'b'], { k: string, b: string }) }),
      '{"a":[{}]}',
      `.a: element 0: associative list with keys has an element that omits key field "k" (and doesn't have default value)`,
    ],
    [
      'a null item',
      struct({ a: keyed(['k'], { k: string }) }),
      '{"a":[null]}',
      '.a: element 0: associative list with keys may not have a null element',
    ],
    [
      'an item that is not a map',
      struct({ a: keyed(['k'], { k: string }) }),
      '{"a":["x"]}',
      '.a: element 0: associative list with keys may not have non-map elements',
    ],
    [
      'a map as a value',
      struct({ a: set(string) }),
      '{"a":[{}]}',
      `.a: element 0: associative list without keys has an element that's a map type`,
    ],
    [
      'a list as a value',
      struct({ a: set(string) }),
      '{"a":[[]]}',
      '.a: element 0: not supported: associative list with lists as elements',
    ],
    [
      'null as a value',
      struct({ a: set(string) }),
      '{"a":[null]}',
      `.a: element 0: associative list without keys has an element that's an explicit null`,
    ],
    [
      'an unknown field in an item',
      struct({ a: keyed(['k'], { k: string, b: map(set(number)) }) }),
      '{"a":[{"k":"\\"<","b":{"x":["1"]}}]}',
      '.a[k="\\"<"].b.x[="1"]: expected numeric (int or float), got string',
    ],
  ];

  it.each(cases)('rejects a configuration with %s', (_name, schema, document, expected) => {
    expect(() => fieldsOfIntent(schema, json(document))).toThrow(new IntentError([expected]));
  });
});
