/**
 * The documentation site.
 *
 *     node docs/tools/site.mjs                   serves it, with the playground, and reloads on each change
 *     node docs/tools/site.mjs build             writes static files to docs/.vitepress/dist
 *     node docs/tools/site.mjs build --out DIR
 *
 * The static files work below any address. They contain the playground and the API reference.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = join(root, 'docs');
const PLAYGROUND = ['--config', 'examples/playground/vite.config.ts'];

const USAGE = 'Usage: node docs/tools/site.mjs [build [--out DIR]]';

try {
  const { command, out } = readArguments();
  await (command === 'build' ? build(out) : serve());
} catch (error) {
  // Bundlers add the file, the position and their own stack to a message.
  const [message] = String(error.message)
    .replace(/^\[[^\]]*\] /, '')
    .split('\n');
  console.error(message);
  process.exit(1);
}

function readArguments() {
  const options = { out: { type: 'string' } };
  let parsed;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new Error(`${error.message.split('. ')[0]}. ${USAGE}`);
  }
  const { values, positionals } = parsed;
  const [command = 'serve', ...rest] = positionals;
  const unknown = ['serve', 'build'].includes(command) ? rest[0] : command;
  if (unknown !== undefined) throw new Error(`Unknown command "${unknown}". ${USAGE}`);
  return { command, out: values.out ?? join(docs, '.vitepress/dist') };
}

async function build(out) {
  const { build: buildPages } = await import('vitepress');
  await buildPages(docs, { outDir: out });
  await Promise.all([
    run('vite', ['build', ...PLAYGROUND, '--outDir', join(out, 'playground'), '--logLevel', 'warn']),
    run('typedoc', ['--out', join(out, 'reference'), '--logLevel', 'Warn']),
  ]);
  console.log(`The site is in ${out}`);
}

/** Pages and playground have servers of their own; the one of the pages forwards. */
async function serve() {
  const { createServer } = await import('vite');
  const playground = await createServer({
    configFile: join(root, 'examples/playground/vite.config.ts'),
    base: '/playground/',
    server: { port: 5174 }, // or the next free one
  });
  await playground.listen();
  const { createServer: createPages } = await import('vitepress');
  const { origin } = new URL(playground.resolvedUrls.local[0]);
  const pages = await createPages(docs, { proxy: { '/playground': origin } });
  await pages.listen();
  pages.printUrls();
}

/** Runs a tool of the project. */
async function run(tool, options) {
  const child = spawn(join(root, 'node_modules/.bin', tool), options, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('exit', resolve));
  if (code !== 0) throw new Error(`${tool} failed; its messages are above.`);
}
