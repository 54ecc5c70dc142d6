/**
 * Counts the results in the log of a test program: Go (`-test.v`; specs of Ginkgo and plain tests), cargo or Maven's
 * Surefire. Prints "PASSED FAILED", or nothing for a log without results, and then a line for each failure.
 */
import { readFileSync } from 'node:fs';

// Colours are terminal escapes.
const lines = readFileSync(process.argv[2], 'utf8')
  .replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '')
  .split('\n');
let passed = 0;
let failed = 0;
const failures = [];
/** Plain tests: the result by name. A test with subtests counts as these. */
const results = new Map();
/** Tests that only run a Ginkgo suite. */
const runners = new Set();
let current = '';
let isSummary = false;
for (const line of lines) {
  current = /^=== RUN +(\S+)/.exec(line)?.[1] ?? current;
  if (line.startsWith('Running Suite: ')) runners.add(current);
  if (line.startsWith('Summarizing ')) isSummary = true;
  if (line.startsWith('Ran ')) isSummary = false;
  if (isSummary && /^ *\[(FAIL|PANIC|TIMEDOUT|INTERRUPTED)/.test(line)) failures.push(line.trim());
  const specs = /(\d+) Passed \| (\d+) Failed/.exec(line);
  if (specs !== null) {
    passed += Number(specs[1]);
    failed += Number(specs[2]);
  }
  const [, result, name] = /^ *--- (PASS|FAIL): (\S+)/.exec(line) ?? [];
  if (name !== undefined) results.set(name, result);
  // cargo
  const [, test, outcome] = /^test (.+) \.\.\. (ok|FAILED)$/.exec(line) ?? [];
  if (outcome === 'ok') passed++;
  if (outcome === 'FAILED') {
    failed++;
    failures.push(`[FAIL] ${test}`);
  }
  // Surefire: the sum of a class, and the names of its failures.
  const sum = /Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+), Time elapsed: .* in \S+$/.exec(line);
  if (sum !== null) {
    const [run, failing, erring, skipped] = sum.slice(1).map(Number);
    passed += run - failing - erring - skipped;
    failed += failing + erring;
  }
  const [, method] = /^\[ERROR\] (\S+) -- Time elapsed: .* <<< (?:FAILURE|ERROR)!$/.exec(line) ?? [];
  if (method !== undefined) failures.push(`[FAIL] ${method}`);
}
// Without -test.v the name of the running test is unknown, and there are only specs.
if (runners.has('')) results.clear();
const names = [...results.keys()];
for (const [name, result] of results) {
  if (runners.has(name) || names.some((other) => other.startsWith(`${name}/`))) continue;
  if (result === 'PASS') passed++;
  else {
    failed++;
    failures.push(`[FAIL] ${name}`);
  }
}
if (passed + failed > 0) console.log([`${passed} ${failed}`, ...failures.map((each) => `  ${each}`)].join('\n'));
