/**
 * Makes docs/images/terminal.svg, the picture in the README: runs the commands below against the built command line, with
 * kubectl, and draws what they print. Nothing is made up; long output is cut where the script says so.
 *
 *     npm run build && node docs/tools/terminal.mjs
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const target = join(root, 'docs/images/terminal.svg');

/** Run one after the other in a shell of their own. `lines`: how many of what is printed are shown. */
const COMMANDS = [
  { run: 'kubectl create deployment web --image=nginx --replicas=3' },
  { run: 'kubectl rollout status deployment/web', lines: -1 },
  { run: 'kubectl get deployments,pods' },
  { run: 'kubectl scale deployment/web --replicas=5' },
  { run: 'kubectl apply --server-side --field-manager=ci -f web.yaml', lines: 1 },
  { run: 'kubectl auth can-i delete pods --as=alice' },
  { run: 'kubectl delete namespace default --dry-run=server' },
];

/** What another manager wants, while `kubectl scale` owns the number. */
const WEB = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 3
`;

const folder = mkdtempSync(join(tmpdir(), 'orchplane-terminal-'));
const kubeconfig = join(folder, 'cluster.yaml');
const serveOptions = ['--controllers', 'ready', '--kubeconfig', 'cluster.yaml'];
const server = spawn(process.execPath, [join(root, 'dist/node/cli.js'), 'serve', ...serveOptions], { cwd: folder });
try {
  let greeting = '';
  server.stdout.on('data', (text) => {
    greeting += text;
  });
  while (!existsSync(kubeconfig)) await sleep(50);
  const [, , address, dialect] = greeting.split('\n');
  writeFileSync(join(folder, 'web.yaml'), WEB);
  const screen = [
    prompt(`npx orchplane serve ${serveOptions.join(' ')} &`),
    ...[greeting.split('\n')[0], address, dialect, '  …'].map(plain),
    prompt('export KUBECONFIG=cluster.yaml'),
    ...COMMANDS.flatMap(({ run, lines = 99 }) => [prompt(run), ...shown(printed(run), lines).map(plain)]),
  ];
  mkdirSync(join(root, 'docs/images'), { recursive: true });
  writeFileSync(target, draw(screen));
  console.log(screen.map(({ text, isPrompt }) => (isPrompt ? `$ ${text}` : text)).join('\n'));
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}

/** What a command prints to either stream. Some of them fail, which is the point. */
function printed(command) {
  const text = execFileSync('sh', ['-c', `${command} 2>&1 || true`], {
    cwd: folder,
    env: { ...process.env, KUBECONFIG: kubeconfig },
    encoding: 'utf8',
  });
  return text.trimEnd().split('\n');
}

/** The first so many lines, with a mark where some are left out; or with a negative number the last. */
function shown(lines, count) {
  if (count < 0) return lines.slice(count);
  return lines.length > count ? [...lines.slice(0, count), '…'] : lines;
}

function prompt(text) {
  return { text, isPrompt: true };
}

function plain(text) {
  return { text, isPrompt: false };
}

/** A dark panel, which can be read on a light page and on a dark one. */
function draw(screen) {
  const [columns, character, line, margin, bar] = [96, 8.4, 20, 20, 36];
  const rows = screen.flatMap(({ text, isPrompt }) => wrap(text, isPrompt, columns));
  const [width, height] = [Math.ceil(columns * character) + 2 * margin, rows.length * line + bar + 2 * margin - 8];
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, i) => `<circle cx="${24 + i * 20}" cy="18" r="6" fill="${fill}"/>`,
  );
  const texts = rows.map(({ text, isPrompt, isFirst }, index) => {
    const y = bar + margin + index * line + 4;
    const mark = isPrompt && isFirst ? '<tspan class="mark">$ </tspan>' : '';
    return `<text x="${margin}" y="${y}"${isPrompt ? ' class="typed"' : ''}>${mark}${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal: a cluster is served from memory and used with kubectl">
<style>
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre }
  .typed { fill: #ffffff; font-weight: 600 }
  .mark { fill: #7ee787 }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#161b22" stroke="#30363d"/>
${dots.join('')}
${texts.join('\n')}
</svg>
`;
}

function wrap(text, isPrompt, columns) {
  const room = isPrompt ? columns - 2 : columns;
  const parts = [];
  for (let rest = text; ; ) {
    const cut = rest.length <= room ? rest.length : Math.max(rest.lastIndexOf(' ', room), 1);
    parts.push({ text: rest.slice(0, cut), isPrompt, isFirst: parts.length === 0 });
    rest = rest.slice(cut).replace(/^ /, parts.length > 0 ? '  ' : '');
    if (rest === '') return parts;
  }
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
