/**
 * Benchmarks of the built library, each compared with a baseline loop over a Map in the same run.
 *
 *   node --expose-gc test/bench/run.mjs [--quick] [--only SECTION[,SECTION]] [--json FILE]
 *
 * Goals are printed and not enforced: the exit code shows only whether all runs had correct results.
 */
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runNode } from './processes.mjs';
import { figures, table } from './report.mjs';

const SECTIONS = [
  'start',
  'heap',
  'operations',
  'apply',
  'watch',
  'fork',
  'http',
  'wire',
  'custom',
  'access',
  'controllers',
  'journal',
];

const FULL = { rounds: 15, warmups: 3, scale: 1, starts: 15, repeats: 3, largeCount: 100_000 };
const QUICK = { rounds: 3, warmups: 1, scale: 0.25, starts: 3, repeats: 1, largeCount: 20_000 };

const { values: given } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, json: { type: 'string' } },
});
const settings = given.quick === true ? QUICK : FULL;
const names = given.only?.split(',') ?? SECTIONS;
const unknown = names.find((name) => !SECTIONS.includes(name));
if (unknown !== undefined) throw new Error(`no section "${unknown}"; there are ${SECTIONS.join(', ')}`);

const rows = [];
for (const name of names) {
  process.stderr.write(`measuring: ${name}\n`);
  rows.push(...runNode('section.mjs', [name, JSON.stringify(settings)], ['--expose-gc']).result);
}

const { rounds, starts, repeats } = settings;
console.log(`Node ${process.version}; ${rounds} rounds each, ${starts} process starts, ${repeats} heaps\n`);
console.log(table(rows));
if (given.json !== undefined) {
  const report = { node: process.version, settings, rows: rows.map(figures) };
  writeFileSync(given.json, `${JSON.stringify(report, null, 2)}\n`);
}
