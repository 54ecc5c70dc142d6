/**
 * Generates TypeScript types, schema declarations and protobuf message types from the tables in this folder.
 *
 *     node src/kinds/types/generate.mjs           writes the generated files
 *     node src/kinds/types/generate.mjs --check   fails when a generated file is not current
 *
 * The notation is described in `README.md`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseTables } from './parse.mjs';
import { goStructs } from './to-go.mjs';
import { messageTable } from './to-protobuf.mjs';
import { draftEntries, publicTypes, sectionModule } from './to-typescript.mjs';

const tables = fileURLToPath(new URL('.', import.meta.url));
const source = join(tables, '../..');
const KINDS = 'kinds/generated';
const MESSAGES = 'codec/protobuf/message-types.ts';

/** The generated files: text by path below `src`. */
function generate() {
  const names = readdirSync(tables).filter((name) => name.endsWith('.txt'));
  const model = parseTables(
    names.sort().map((name) => [basename(name, '.txt'), readFileSync(join(tables, name), 'utf8')]),
  );
  const files = new Map();
  const drafts = draftEntries(model);
  for (const section of model.sections.values()) {
    if (section.types.length > 0) files.set(`${KINDS}/${section.file}.ts`, sectionModule(section, drafts));
  }
  files.set(`${KINDS}/public-types.ts`, publicTypes(model, drafts));
  files.set(`${KINDS}/go-structs.ts`, goStructs(model));
  files.set(MESSAGES, messageTable(model));
  return files;
}

const files = generate();
const folder = join(source, KINDS);
const known = existsSync(folder) ? readdirSync(folder).map((name) => `${KINDS}/${name}`) : [];
const left = known.filter((path) => !files.has(path));
const isCurrent = (path) =>
  existsSync(join(source, path)) && readFileSync(join(source, path), 'utf8') === files.get(path);
const stale = [...files.keys()].filter((path) => !isCurrent(path));

if (process.argv.includes('--check')) {
  const problems = [
    ...stale.map((path) => `src/${path} is not current`),
    ...left.map((path) => `src/${path} is not generated any more`),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) {
    console.error('Run `npm run generate`.');
    process.exitCode = 1;
  }
} else {
  mkdirSync(folder, { recursive: true });
  for (const path of left) rmSync(join(source, path));
  for (const path of stale) writeFileSync(join(source, path), files.get(path));
  console.log(`${files.size} generated files, ${stale.length} written, ${left.length} removed`);
}
