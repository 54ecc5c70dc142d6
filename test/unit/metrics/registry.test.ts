/**
 * Printed metrics: compared with the reference library, readable by Prometheus, and with the lifecycle of deprecated
 * metrics.
 */
import { describe, expect, test } from 'vitest';
import { exponentialBuckets, printNumber } from '../../../src/metrics/family.js';
import { MetricsRegistry, type RegistryOptions } from '../../../src/metrics/registry.js';
import { Watermark } from '../../../src/metrics/server-metrics.js';
import fc from '../../property/seeded.js';
import { readPrometheus, valueIn } from './prometheus.js';

/** Without the metric that every registry contains. */
function printed(registry: MetricsRegistry): string {
  return registry.print().replace(/^.*cardinality_enforcement.*\n/gm, '');
}

describe('text format', () => {
  test('prints metrics like the reference library', () => {
    const registry = new MetricsRegistry();
    const total = registry.counter({
      name: 'z_total',
      help: 'counts \\ and\nlines "x"',
      stability: 'STABLE',
      labels: ['verb', 'a', 'code'],
    });
    total.with({ verb: 'GET', a: 'q"\\\n\tä', code: '200' }).add(3);
    total.with({ verb: 'GET', a: '', code: '200' }).add(1_234_567);
    total.with({ verb: 'LIST', a: '', code: '200' }).add(100_000);
    total.with({ verb: 'A', a: 'b', code: '9' }).add(0.1);
    total.with({ verb: 'A', a: 'B', code: '10' }).add(1e21);
    total.with({ verb: 'A', a: 'B', code: '9' }).add(999_999);
    total.with({ verb: '\0', a: '😀', code: '9' }).add();
    const seconds = registry.histogram({
      name: 'h_seconds',
      help: 'h',
      stability: 'ALPHA',
      labels: ['zz', 'verb'],
      buckets: [0.005, 1, 1.25, 1e6, 1e9],
    });
    for (const value of [0.001, 0.005, 0.5, 1, 2, 5e6, 1e12]) seconds.with({ verb: 'GET', zz: 'x' }).observe(value);
    registry.counter({ name: 'empty_total', help: 'e', stability: 'ALPHA', labels: ['x'] });
    registry.counter({ name: 'plain_total', help: 'p', stability: 'BETA' });
    expect(printed(registry)).toBe(
      [
        '# HELP h_seconds [ALPHA] h',
        '# TYPE h_seconds histogram',
        'h_seconds_bucket{verb="GET",zz="x",le="0.005"} 2',
        'h_seconds_bucket{verb="GET",zz="x",le="1"} 4',
        'h_seconds_bucket{verb="GET",zz="x",le="1.25"} 4',
        'h_seconds_bucket{verb="GET",zz="x",le="1e+06"} 5',
        'h_seconds_bucket{verb="GET",zz="x",le="1e+09"} 6',
        'h_seconds_bucket{verb="GET",zz="x",le="+Inf"} 7',
        'h_seconds_sum{verb="GET",zz="x"} 1.000005000003506e+12',
        'h_seconds_count{verb="GET",zz="x"} 7',
        '# HELP plain_total [BETA] p',
        '# TYPE plain_total counter',
        'plain_total 0',
        '# HELP z_total [STABLE] counts \\\\ and\\nlines "x"',
        '# TYPE z_total counter',
        'z_total{a="",code="200",verb="GET"} 1.234567e+06',
        'z_total{a="",code="200",verb="LIST"} 100000',
        'z_total{a="B",code="10",verb="A"} 1e+21',
        'z_total{a="B",code="9",verb="A"} 999999',
        'z_total{a="b",code="9",verb="A"} 0.1',
        'z_total{a="q\\"\\\\\\n\tä",code="200",verb="GET"} 3',
        'z_total{a="😀",code="9",verb="\0"} 1',
        '',
      ].join('\n'),
    );
  });

  test.each([
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [-0, '0'],
    [-5, '-5'],
    [0.00001, '1e-05'],
    [0.0001, '0.0001'],
    [123_456, '123456'],
    [1e6, '1e+06'],
    [1_700_000_000.123, '1.700000000123e+09'],
    [0.1 + 0.2, '0.30000000000000004'],
    [1e100, '1e+100'],
  ])('prints %d as %s', (value, text) => {
    expect(printNumber(value)).toBe(text);
  });

  test('preserves any label value in printed text', () => {
    const special = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '"',
        '\\',
        '\n',
        '\\n',
        '"} 1\nfake_total 7',
        ',x="',
        '\r\n',
        '{',
        '\u2028',
        '',
        '\\"',
        '\ud800',
        '\udc01',
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(special, special), { maxLength: 20 }), fc.string(), (pairs, help) => {
        const registry = new MetricsRegistry();
        const total = registry.counter({ name: 'x_total', help, stability: 'ALPHA', labels: ['b', 'a'] });
        for (const [a, b] of pairs) total.with({ a, b }).add();
        // As it arrives: halves of surrogate pairs do not.
        const arrived = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text));
        const families = readPrometheus(arrived(registry.print()));
        const expected = new Map<string, number>();
        for (const pair of pairs) {
          const key = JSON.stringify(pair.map(arrived));
          expected.set(key, (expected.get(key) ?? 0) + 1);
        }
        const read = families.get('x_total')?.samples ?? [];
        const found = read.map(
          ({ labels, value }) => [JSON.stringify([labels.get('a'), labels.get('b')]), value] as const,
        );
        expect(new Map(found)).toEqual(expected);
        expect(found).toHaveLength(expected.size);
        if (pairs.length > 0) expect(families.get('x_total')?.help).toBe(arrived(`[ALPHA] ${help}`));
      }),
    );
  });

  test('preserves numbers in printed text', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        const registry = new MetricsRegistry();
        registry.gauge({ name: 'g', help: '', stability: 'ALPHA' }).with({}).set(value);
        const read = valueIn(readPrometheus(registry.print()), 'g');
        expect(read).toBe(Object.is(value, -0) ? 0 : value);
      }),
    );
  });
});

describe('values', () => {
  test('counts histogram values up to each bound', () => {
    const bounds = [0, 0.5, 1, 10];
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1, max: 20, noNaN: true })), (values) => {
        const registry = new MetricsRegistry();
        const family = registry.histogram({ name: 'h', help: '', stability: 'ALPHA', buckets: bounds });
        for (const value of values) family.with({}).observe(value);
        const read = readPrometheus(registry.print());
        for (const bound of bounds) {
          const upTo = values.filter((value) => value <= bound).length;
          expect(valueIn(read, 'h_bucket', { le: String(bound) })).toBe(upTo);
        }
        expect(valueIn(read, 'h_bucket', { le: '+Inf' })).toBe(values.length);
        expect(valueIn(read, 'h_count')).toBe(values.length);
        expect(valueIn(read, 'h_sum')).toBeCloseTo(values.reduce((sum, value) => sum + value, 0));
      }),
    );
  });

  test('counts NaN in the last bucket', () => {
    const registry = new MetricsRegistry();
    registry
      .histogram({ name: 'h', help: '', stability: 'ALPHA', buckets: [1] })
      .with({})
      .observe(Number.NaN);
    const read = readPrometheus(registry.print());
    expect([valueIn(read, 'h_bucket', { le: '1' }), valueIn(read, 'h_count')]).toEqual([0, 1]);
  });

  test.each([-1, Number.NaN])('rejects an increase of a counter by %d', (by) => {
    const counter = new MetricsRegistry().counter({ name: 'c', help: '', stability: 'ALPHA' }).with({});
    expect(() => counter.add(by)).toThrow(RangeError);
  });

  test('allows callers to keep a reference to a series', () => {
    const registry = new MetricsRegistry();
    const gauge = registry.gauge({ name: 'g', help: '', stability: 'ALPHA', labels: ['a'] });
    const kept = gauge.with({ a: 'x' });
    expect(gauge.with({ a: 'x' })).toBe(kept);
    kept.set(5);
    kept.add(-2);
    expect(valueIn(readPrometheus(registry.print()), 'g', { a: 'x' })).toBe(3);
  });

  test('reads collected values when the page is printed', () => {
    const registry = new MetricsRegistry();
    let count = 1;
    registry.collect({ name: 'g', help: '', stability: 'ALPHA', labels: ['a'], type: 'gauge' }, () => [
      [{ a: 'x' }, count],
    ]);
    expect(valueIn(readPrometheus(registry.print()), 'g', { a: 'x' })).toBe(1);
    count = 2;
    expect(valueIn(readPrometheus(registry.print()), 'g', { a: 'x' })).toBe(2);
  });

  test('grows exponential buckets by their factor', () => {
    expect(exponentialBuckets(1000, 10, 7)).toEqual([1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]);
  });

  test.each([
    ['a name with a space', { name: 'a b' }],
    ['a label with a dash', { name: 'a', labels: ['x-y'] }],
    ['a label that histograms need', { name: 'a', labels: ['le'] }],
  ])('rejects a metric with %s', (_, about) => {
    expect(() => new MetricsRegistry().counter({ help: '', stability: 'ALPHA', ...about })).toThrow('broken invariant');
  });

  test('rejects two metrics with one name', () => {
    const registry = new MetricsRegistry();
    registry.counter({ name: 'a', help: '', stability: 'ALPHA' });
    expect(() => registry.gauge({ name: 'a', help: '', stability: 'ALPHA' })).toThrow('broken invariant');
  });
});

describe('series limit', () => {
  test('collects and counts everything beyond the series limit in one series', () => {
    const registry = new MetricsRegistry({ seriesLimit: 3 });
    const total = registry.counter({ name: 'x_total', help: '', stability: 'ALPHA', labels: ['a', 'b'] });
    for (let i = 0; i < 10; i++) total.with({ a: String(i), b: 'same' }).add();
    total.with({ a: '1', b: 'same' }).add();
    const read = readPrometheus(registry.print());
    expect(read.get('x_total')?.samples.map(({ labels, value }) => [labels.get('a'), labels.get('b'), value])).toEqual([
      ['0', 'same', 1],
      ['1', 'same', 2],
      ['2', 'same', 1],
      ['unexpected', 'unexpected', 7],
    ]);
    expect(valueIn(read, 'cardinality_enforcement_unexpected_categorizations_total')).toBe(7);
  });

  test('does not duplicate the overflow series for a client that sends "unexpected"', () => {
    const registry = new MetricsRegistry({ seriesLimit: 1 });
    const total = registry.counter({ name: 'x_total', help: '', stability: 'ALPHA', labels: ['a'] });
    for (const a of ['unexpected', 'b', 'c']) total.with({ a }).add();
    expect(
      readPrometheus(registry.print())
        .get('x_total')
        ?.samples.map(({ value }) => value),
    ).toEqual([3]);
  });
});

describe('deprecated metrics', () => {
  const since = '1.31' as const;
  const of = (options: RegistryOptions) => {
    const registry = new MetricsRegistry(options);
    const old = registry.counter({ name: 'old_total', help: 'old', stability: 'STABLE', deprecatedVersion: since });
    old.with({}).add();
    return readPrometheus(registry.print()).get('old_total')?.help;
  };

  test.each([
    ['1.30', '[STABLE] old'],
    ['1.31', '[STABLE] (Deprecated from 1.31) old'],
    ['1.32', '[STABLE] (Deprecated from 1.31) old'],
    ['1.33', '[STABLE] (Deprecated from 1.31) old'],
    ['1.34', undefined],
    ['1.35', undefined],
    ['2.0', undefined],
  ] as const)('prints a metric deprecated since 1.31 in release %s with the help text %s', (release, help) => {
    expect(of({ release })).toBe(help);
  });

  test('prints a hidden metric for one more release on request', () => {
    expect(of({ release: '1.34', showHiddenMetricsForVersion: '1.33' })).toBe('[STABLE] (Deprecated from 1.31) old');
    expect(of({ release: '1.35', showHiddenMetricsForVersion: '1.34' })).toBeUndefined();
  });

  test.each(['1.34', '1.31', '1.33', ''])('rejects showHiddenMetricsForVersion %j', (version) => {
    expect(() => new MetricsRegistry({ release: '1.33', showHiddenMetricsForVersion: version })).toThrow(
      new TypeError(
        "orchplane: showHiddenMetricsForVersion must be omitted or have the value '1.32'. Only the previous minor version is allowed",
      ),
    );
  });

  test('reports the first recording of a printed deprecated metric once', () => {
    const messages: string[] = [];
    const registry = new MetricsRegistry({ onDeprecated: (message) => messages.push(message) });
    const about = { help: '', stability: 'ALPHA', labels: ['a'] } as const;
    const old = registry.counter({ ...about, name: 'old', deprecatedVersion: '1.33' });
    const hidden = registry.counter({ ...about, name: 'hidden', deprecatedVersion: '1.30' });
    registry.collect({ ...about, name: 'read', deprecatedVersion: '1.32', type: 'gauge' }, () => [[{ a: 'x' }, 1]]);
    expect(messages).toEqual([]);
    for (const a of ['x', 'y']) for (const family of [old, hidden]) family.with({ a }).add();
    registry.print();
    registry.print();
    expect(messages).toEqual([
      'metric old is deprecated from 1.33 on and will be hidden, then removed',
      'metric read is deprecated from 1.32 on and will be hidden, then removed',
    ]);
  });
});

test('keeps the maximum of the last second in a watermark', () => {
  let nowMs = 10_000;
  const mark = new Watermark(() => nowMs);
  const ends = [mark.add(), mark.add(), mark.add()];
  ends[0]?.();
  ends[0]?.();
  expect(mark.value).toBe(3);
  nowMs += 1000;
  expect(mark.value).toBe(3);
  nowMs += 1000;
  expect(mark.value).toBe(2);
  for (const end of ends) end();
  nowMs += 5000;
  expect(mark.value).toBe(0);
});
