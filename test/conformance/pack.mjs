/**
 * Stores recordings in the repository: `node test/conformance/pack.mjs FILE|FOLDER…` rewrites `recordings/` from files of
 * plain JSON, one compressed file per area.
 *
 * Responses are stored without descriptions of the reference server, which are prose and are not compared, and without
 * tokens and certificates that no step compares. Requests stay as they were sent.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { compressRecording, RECORDINGS, readRecordings, withoutDescriptions, withoutKeys } from './recordings.mjs';

const CREDENTIALS = ['token', 'ca.crt'];

const all = readRecordings(...process.argv.slice(2)).map(storedForm);
if (all.length === 0) throw new Error('name files or folders of recordings');
rmSync(RECORDINGS, { recursive: true, force: true });
mkdirSync(RECORDINGS);
for (const area of new Set(all.map((scenario) => scenario.area))) {
  const scenarios = all.filter((scenario) => scenario.area === area);
  const bytes = compressRecording(scenarios);
  writeFileSync(join(RECORDINGS, `${area}.json.gz`), bytes);
  console.log(`${area}: ${scenarios.length} scenarios, ${bytes.length} bytes`);
}

function storedForm({ steps, expect, ...scenario }) {
  const responses = expect.map((response, index) => {
    const ignored = steps[index].ignore ?? [];
    const secrets = CREDENTIALS.filter((key) => ignored.some((path) => path.endsWith(`.${key}`)));
    return withoutKeys(withoutDescriptions(response), secrets);
  });
  return { ...scenario, steps, expect: responses };
}
