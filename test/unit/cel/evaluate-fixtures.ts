/** The variables of evaluate-cases.jsonl, and the value format used there. */
import { EntryMap, jsonValue } from '../../../src/cel/index.js';
import { BIND } from '../../../src/cel/library/bind.js';
import { storedExpressionsEnvironment } from '../../../src/cel/library/environments.js';
import { formatDouble } from '../../../src/cel/numbers.js';
import { formatTimestamp } from '../../../src/cel/standard/time.js';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  optionalOf,
  STRING,
  TIMESTAMP,
  typeName,
  UINT,
} from '../../../src/cel/types.js';
import {
  CelBytes,
  CelDuration,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../../../src/cel/values.js';

export const environment = storedExpressionsEnvironment().extend({
  libraries: [BIND],
  variables: {
    i: INT,
    j: INT,
    z: INT,
    maxi: INT,
    mini: INT,
    u: UINT,
    d: DOUBLE,
    nan: DOUBLE,
    s: STRING,
    t: STRING,
    e: STRING,
    b: BOOL,
    f: BOOL,
    by: BYTES,
    ts: TIMESTAMP,
    dur: DURATION,
    li: listOf(INT),
    ls: listOf(STRING),
    le: listOf(INT),
    ld: listOf(DYN),
    m: mapOf(STRING, INT),
    ms: mapOf(STRING, STRING),
    mi: mapOf(INT, STRING),
    md: mapOf(STRING, DYN),
    dy: DYN,
    dn: DYN,
    ds: DYN,
    dl: DYN,
    lm: listOf(mapOf(STRING, DYN)),
    op: optionalOf(INT),
    on: optionalOf(INT),
    om: optionalOf(mapOf(STRING, INT)),
    'q.w': INT,
    missing: INT,
  },
});

const nested = jsonValue({ a: 1, s: 'text', l: [1, 'x', 2.5, null, true], m: { k: 'v', n: 7 }, n: null, d: 1.5 });

/** The variable `missing` has no value. */
export const variables: ReadonlyMap<string, CelValue> = new Map<string, CelValue>([
  ['i', 5n],
  ['j', -3n],
  ['z', 0n],
  ['maxi', 2n ** 63n - 1n],
  ['mini', -(2n ** 63n)],
  ['u', new CelUint(7n)],
  ['d', 2.5],
  ['nan', Number.NaN],
  ['s', 'hello wörld'],
  ['t', 'lo'],
  ['e', ''],
  ['b', true],
  ['f', false],
  ['by', new CelBytes(Uint8Array.from([97, 98, 99, 255]))],
  ['ts', new CelTimestamp(BigInt(Date.UTC(2024, 1, 29, 23, 59, 58)) * 1_000_000n + 123_456_789n)],
  ['dur', new CelDuration(5_401_500_000_000n)],
  ['li', jsonValue([3, 1, 2])],
  ['ls', jsonValue(['a', 'bb', 'ccc'])],
  ['le', jsonValue([])],
  ['ld', jsonValue([1, 'x', 2.5, null, true])],
  ['m', jsonValue({ a: 1, b: 2 })],
  ['ms', jsonValue({ x: 'y' })],
  [
    'mi',
    new EntryMap([
      [1n, 'one'],
      [2n, 'two'],
    ]),
  ],
  ['md', nested],
  ['dy', nested],
  ['dn', 4n],
  ['ds', 'dynamic'],
  ['dl', jsonValue([1, 2, 3])],
  [
    'lm',
    jsonValue([
      { name: 'a', v: 1 },
      { name: 'b', v: 2, x: true },
    ]),
  ],
  ['op', new CelOptional(3n)],
  ['on', CelOptional.NONE],
  ['om', new CelOptional(jsonValue({ a: 1 }))],
  ['q.w', 11n],
]);

/** Formats a value: `int:5`, `string:"a"`, `[int:1]`; map entries are sorted by text. */
export function show(value: CelValue): string {
  if (typeof value === 'bigint') return `int:${value}`;
  if (typeof value === 'number') return `double:${formatDouble(value)}`;
  if (typeof value === 'boolean') return `bool:${value}`;
  if (typeof value === 'string') return `string:${JSON.stringify(value)}`;
  if (value === null) return 'null';
  if (value instanceof CelUint) return `uint:${value.value}`;
  if (value instanceof CelBytes) return `bytes:${Buffer.from(value.bytes).toString('base64')}`;
  if (value instanceof CelTimestamp) return `timestamp:${formatTimestamp(value)}`;
  if (value instanceof CelDuration) return `duration:${value.nanos}`;
  if (value instanceof CelTypeValue) return `type:${typeName(value.type)}`;
  if (value instanceof CelOptional) return value.value === undefined ? 'none' : `optional(${show(value.value)})`;
  if (value instanceof CelList) {
    return `[${Array.from({ length: value.size }, (_, index) => show(value.at(index))).join(',')}]`;
  }
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => `${show(key)}=${show(value.get(key) ?? null)}`);
    return `{${entries.sort().join(',')}}`;
  }
  return `other:${value instanceof CelOpaque ? value.type.name : value.typeName}`;
}
