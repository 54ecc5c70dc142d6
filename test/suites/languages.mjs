/**
 * Runs the tests of docs/guide/27-other-languages.md in Python, Go, Java and Rust, in temporary folders with the packages that the page
 * names. It needs these languages, and downloads packages.
 *
 *     npm run build && node test/suites/languages.mjs [python|go|java|rust …]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/guide/27-other-languages.md'), 'utf8');
const orchplane = [process.execPath, join(root, 'dist/node/cli.js'), 'run', '--'];

/** The commands before the tests, and the tests. */
const LANGUAGES = {
  Python: [
    [
      ['python3', '-m', 'venv', '.venv'],
      ['.venv/bin/pip', 'install', '--quiet', 'kubernetes~=37.0', 'pytest'],
    ],
    ['.venv/bin/pytest', '-q'],
  ],
  Go: [[['go', 'mod', 'tidy']], ['go', 'test', './...']],
  Java: [[], ['mvn', '-q', '-B', 'test']],
  Rust: [[], ['cargo', 'test', '--quiet']],
};

const wanted = process.argv.slice(2);
const failed = [];
for (const [name, [before, test]] of Object.entries(LANGUAGES)) {
  if (wanted.length > 0 && !wanted.includes(name.toLowerCase())) continue;
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-language-'));
  const run = ([program, ...args]) => execFileSync(program, args, { cwd: folder, stdio: 'inherit' });
  try {
    writeFiles(name, folder);
    for (const command of before) run(command);
    run([...orchplane, ...test]);
    console.log(`${name}: passed`);
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    failed.push(name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed.length === 0 ? 0 : 1;

/** Writes the blocks of a section that a line with a file name precedes. */
function writeFiles(name, folder) {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${name}\n`)) ?? '';
  const blocks = [...section.matchAll(/^`([^`\n]+)`[^\n]*:\n\n```[\w-]+\n([\s\S]*?)^```$/gm)];
  if (blocks.length === 0) throw new Error(`the page has no files for ${name}`);
  for (const [, file, text] of blocks) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}
