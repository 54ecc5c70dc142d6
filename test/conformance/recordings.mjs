/**
 * Reads and writes recordings of a real API server. A recording is a list of scenarios; recordings.d.mts describes their
 * fields. `recordings/` holds one compressed file per area with one scenario per line. Files of further recordings may be
 * plain JSON.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

/** The folder of the repository's own recordings. */
export const RECORDINGS = fileURLToPath(new URL('recordings', import.meta.url));

/** The scenarios of these files and folders. A folder stands for its `.json` and `.json.gz` files in order of name. */
export function readRecordings(...paths) {
  return paths.flatMap((path) => {
    if (statSync(path).isDirectory()) {
      const files = readdirSync(path).filter((file) => /\.json(\.gz)?$/.test(file));
      return readRecordings(...files.sort().map((file) => join(path, file)));
    }
    const content = readFileSync(path);
    const scenarios = JSON.parse(path.endsWith('.gz') ? gunzipSync(content) : content);
    const group = basename(path).replace(/\.json(\.gz)?$/, '');
    return scenarios.map((scenario) => ({ group, ...scenario }));
  });
}

/** The scenarios of one group of the repository's own recordings, such as `patch-json`. */
export function readGroup(group) {
  const [area] = group.split('-');
  return readRecordings(join(RECORDINGS, `${area}.json.gz`)).filter((scenario) => scenario.group === group);
}

/** The same bytes for the same scenarios, on every platform. */
export function compressRecording(scenarios) {
  const lines = scenarios.map((scenario) => JSON.stringify(scenario));
  const bytes = gzipSync(`[\n${lines.join(',\n')}\n]\n`, { level: 9, memLevel: 9 });
  // The header of a gzip file names the operating system; 255 means unknown.
  bytes[9] = 255;
  return bytes;
}

/**
 * A response without the descriptions of table columns and of OpenAPI documents, which are prose of the reference server.
 * Descriptions that clients sent stay.
 */
export function withoutDescriptions({ body, ...response }) {
  const isOpenApi = body !== null && typeof body === 'object' && ('openapi' in body || 'swagger' in body);
  return { ...response, body: isOpenApi ? withoutKeys(body, ['description']) : withoutColumnDescriptions(body) };
}

function withoutColumnDescriptions(value) {
  if (Array.isArray(value)) return value.map(withoutColumnDescriptions);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === 'columnDefinitions' ? withoutKeys(inner, ['description']) : withoutColumnDescriptions(inner),
    ]),
  );
}

/** The value without the named keys, at any depth. */
export function withoutKeys(value, keys) {
  if (Array.isArray(value)) return value.map((item) => withoutKeys(item, keys));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (keys.includes(key) ? [] : [[key, withoutKeys(inner, keys)]])),
  );
}
