/**
 * Runs the modules named on the command line one after another, in one process, and prints one line of JSON for each:
 * `{ "file", "error"? }`. What the samples themselves print is dropped.
 */
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const PATIENCE_MS = 10_000;

console.log = () => undefined;

for (const file of process.argv.slice(2)) {
  const result = { file };
  try {
    await Promise.race([import(pathToFileURL(file).href), tooLong()]);
  } catch (error) {
    result.error = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
// A sample that leaves a timer behind is no failure of the sample.
process.exit();

function tooLong() {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`took longer than ${PATIENCE_MS} ms`)), PATIENCE_MS).unref();
  });
}
