/**
 * How much of the recordings of a real server is answered alike, by area: runs the replayer (which lies beside the
 * repository, with the recordings) in both dialects, with and without controllers, over the built files.
 *
 *     node test/conformance/report.mjs           writes figures.json and the table in docs/fidelity.md
 *     node test/conformance/report.mjs --check   fails where the figures that are written down are not those of this run
 *     node test/conformance/report.mjs --table   writes the table from figures.json, without a run
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { withSection } from './fidelity-table.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const recordings = join(root, '../shared/conformance');
const figuresFile = join(root, 'test/conformance/figures.json');
const fidelityFile = join(root, 'docs/fidelity.md');

const DIALECTS = ['kubernetes', 'orch'];
/**
 * By how many steps an area may differ from one run to the next. With controllers some steps depend on the order of
 * random names.
 */
const GIVE_OR_TAKE = { lifecycle: 6 };
/** By how much the share may be lower with other recordings. */
const SHARE_TO_LOSE = 0.01;

/** The areas with what came of them: `{ area: { steps, kubernetes: { alike, butDescriptions, codes }, orch: … } }`. */
function measure() {
  const areas = {};
  for (const dialect of DIALECTS) {
    for (const [folder, environment] of [
      ['recorded', {}],
      ['recorded-controllers', { CONTROLLERS: '1' }],
    ]) {
      const exact = replay(folder, environment, dialect, []);
      // Descriptions of columns are our own; see docs/decisions/0010-column-descriptions.md.
      const butDescriptions = replay(folder, environment, dialect, ['--strip', 'description']);
      for (const [area, { steps, alike, codes }] of exact) {
        areas[area] ??= { steps };
        areas[area][dialect] = {
          alike,
          butDescriptions: Math.max(alike, butDescriptions.get(area)?.alike ?? 0),
          codes,
        };
      }
    }
  }
  return areas;
}

/** One run of the replayer: its lines `area  1/2 steps alike, 2/2 codes alike, …`. */
function replay(folder, environment, dialect, options) {
  const files = readdirSync(join(recordings, folder)).map((file) => join(recordings, folder, file));
  const text = execFileSync(
    process.execPath,
    [
      join(recordings, 'replay.mjs'),
      '--module',
      join(root, 'test/conformance/target.mjs'),
      ...(dialect === 'orch' ? ['--dialect', 'orch'] : []),
      ...options,
      ...files.filter((file) => file.endsWith('.json')).sort(),
    ],
    { cwd: root, env: { ...process.env, ...environment }, encoding: 'utf8', maxBuffer: 1e9 },
  );
  const lines = text.matchAll(/^(\w+) +(\d+)\/(\d+) steps alike, (\d+)\/\d+ codes alike/gm);
  return new Map(
    [...lines].map(([, area, alike, steps, codes]) => [
      area,
      { steps: Number(steps), alike: Number(alike), codes: Number(codes) },
    ]),
  );
}

/**
 * Where a run is not what is written down, in words. A better run is a difference too: the figures are to follow. Areas
 * whose recordings are others than those that were written down are held to the same share.
 */
function differences(written, measured) {
  return Object.keys({ ...written, ...measured }).flatMap((area) => {
    const [was, is] = [written[area], measured[area]];
    if (is === undefined) return [`${area}: was not replayed`];
    if (was === undefined) return [`${area}: is new`];
    return DIALECTS.flatMap((dialect) =>
      Object.keys(was[dialect]).flatMap((figure) => {
        const [before, now] = [was[dialect][figure], is[dialect][figure]];
        const holds =
          was.steps === is.steps
            ? Math.abs(before - now) <= (GIVE_OR_TAKE[area] ?? 0)
            : now / is.steps >= before / was.steps - SHARE_TO_LOSE;
        return holds ? [] : [`${area} (${dialect}): ${figure} ${now} of ${is.steps}, not ${before} of ${was.steps}`];
      }),
    );
  });
}

function print(areas) {
  for (const [area, { steps, kubernetes, orch }] of Object.entries(areas)) {
    const each = ({ alike, butDescriptions, codes }) =>
      `${alike} (${butDescriptions} but descriptions; codes ${codes})`;
    console.log(`${area.padEnd(10)} of ${String(steps).padStart(5)}: ${each(kubernetes)}, orch ${each(orch)}`);
  }
}

function writeTable() {
  const figures = JSON.parse(readFileSync(figuresFile, 'utf8'));
  writeFileSync(fidelityFile, withSection(readFileSync(fidelityFile, 'utf8'), figures));
  console.log(`the table of ${relative(root, fidelityFile)} is written`);
}

if (process.argv.includes('--table')) {
  writeTable();
} else if (!existsSync(join(recordings, 'replay.mjs'))) {
  console.log('no report: there are no recordings beside the repository');
} else {
  const measured = measure();
  print(measured);
  if (process.argv.includes('--check')) {
    const found = differences(JSON.parse(readFileSync(figuresFile, 'utf8')), measured);
    for (const line of found) console.log(`not as written down: ${line}`);
    if (found.length > 0) console.log('better? then npm run fidelity writes it down');
    process.exitCode = found.length > 0 ? 1 : 0;
  } else {
    writeFileSync(figuresFile, `${JSON.stringify(measured, undefined, 2)}\n`);
    writeTable();
  }
}
