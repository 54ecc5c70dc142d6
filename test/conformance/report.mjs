/**
 * Replays all recordings in both dialects, over the built files, and compares the figures with those of figures.json.
 *
 *     node test/conformance/report.mjs           raises figures.json and writes the table of docs/fidelity.md
 *     node test/conformance/report.mjs --check   fails if the run does not give the figures of figures.json
 *     node test/conformance/report.mjs --table   writes the table from figures.json, without a replay
 */
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { withSection } from './fidelity-table.mjs';
import { RECORDINGS, readRecordings } from './recordings.mjs';

const FIGURES = new URL('figures.json', import.meta.url);
const FIDELITY = new URL('../../docs/fidelity.md', import.meta.url);

const DIALECTS = ['kubernetes', 'orch'];
/**
 * By how many steps an area may differ from its figure. On a busy machine the signature of a ServiceAccount token may be
 * late, which changes three responses.
 */
const TOLERANCE = { lifecycle: 3 };

/**
 * The figures of a replay by area: `{ steps, kubernetes, orch }`, with `{ identical, specified, codes }` for each dialect.
 * Prints the steps that differ because of the specification, by statement.
 */
async function measure() {
  // The replayer imports the built files, which --table does not need.
  const { replay } = await import('./replay.mjs');
  const scenarios = readRecordings(RECORDINGS);
  const areas = {};
  const statements = {};
  const onSpecified = ({ scenario: { group, name }, number, statement }) => {
    statements[statement] ??= [];
    statements[statement].push(`${group}/${name} ${number}`);
  };
  for (const dialect of DIALECTS) {
    const replayed = await replay(scenarios, { dialect, onSpecified });
    for (const [area, { steps, identical, specified, codes }] of Object.entries(replayed)) {
      areas[area] = { ...areas[area], steps, [dialect]: { identical, specified, codes } };
    }
  }
  for (const [statement, steps] of Object.entries(statements).sort()) {
    console.log(`${statement} of the specification changes ${steps.length} responses: ${steps.join(', ')}`);
  }
  return areas;
}

/** Where a run differs from the figures. A better run differs too, so that the figures rise with it. */
function differences(figures, measured) {
  return Object.keys({ ...figures, ...measured }).flatMap((area) => {
    const [before, now] = [figures[area], measured[area]];
    if (before?.steps !== now?.steps) {
      return [{ isLower: false, text: `${area}: ${now?.steps ?? 0} steps instead of ${before?.steps ?? 0}` }];
    }
    return DIALECTS.flatMap((dialect) =>
      Object.entries(before[dialect]).flatMap(([figure, floor]) => {
        const count = now[dialect][figure];
        const tolerance = TOLERANCE[area] ?? 0;
        if (Math.abs(count - floor) <= tolerance) return [];
        const isLower = figure === 'codes' ? count < floor : asExpected(now[dialect]) < asExpected(before[dialect]);
        return [{ isLower, text: `${area}, ${dialect}: ${figure} ${count} instead of ${floor}` }];
      }),
    );
  });
}

function asExpected({ identical, specified }) {
  return identical + specified;
}

/** The higher figures of both, where the number of steps is the same. */
function raised(figures, measured) {
  return Object.fromEntries(
    Object.entries(measured).map(([area, now]) => {
      const before = figures[area];
      if (before?.steps !== now.steps) return [area, now];
      const higher = (dialect) => {
        const [last, next] = [before[dialect], now[dialect]];
        return {
          ...(asExpected(next) < asExpected(last) ? last : next),
          codes: Math.max(next.codes, last.codes),
        };
      };
      return [area, { steps: now.steps, kubernetes: higher('kubernetes'), orch: higher('orch') }];
    }),
  );
}

function printFigures(areas) {
  const text = (steps, { identical, specified, codes }) => {
    const differing = specified === 0 ? '' : ` and ${specified} specified`;
    return `${identical}/${steps} identical${differing}, ${codes}/${steps} status codes`;
  };
  for (const [area, { steps, ...dialects }] of Object.entries(areas)) {
    const columns = DIALECTS.map((dialect) => `${dialect} ${text(steps, dialects[dialect])}`);
    console.log(`${area.padEnd(10)} ${columns.join('; ')}`);
  }
}

function writeTable(figures) {
  writeFileSync(FIDELITY, withSection(readFileSync(FIDELITY, 'utf8'), figures));
  console.log('docs/fidelity.md has the table of these figures');
}

const figures = JSON.parse(readFileSync(FIGURES, 'utf8'));
if (process.argv.includes('--table')) {
  writeTable(figures);
} else {
  const measured = await measure();
  printFigures(measured);
  const found = differences(figures, measured);
  for (const { text } of found) console.log(`not the figure of figures.json: ${text}`);
  const isLower = found.some((difference) => difference.isLower);
  if (process.argv.includes('--check')) {
    if (found.length > 0 && !isLower) console.log('run `npm run fidelity` to raise the figures');
    process.exitCode = found.length > 0 ? 1 : 0;
  } else if (isLower) {
    console.log('figures never go down: nothing is written');
    process.exitCode = 1;
  } else {
    const result = raised(figures, measured);
    writeFileSync(FIGURES, `${JSON.stringify(result, undefined, 2)}\n`);
    writeTable(result);
  }
}
