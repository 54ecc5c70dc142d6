/** Runs scripts of package.json at the same time, and fails if one of them fails: node test/checks.mjs lint typecheck build */
import { spawn } from 'node:child_process';
import process from 'node:process';

const codes = process.argv.slice(2).map((script) => {
  const child = spawn('npm', ['run', '--silent', script], { stdio: 'inherit', shell: process.platform === 'win32' });
  return new Promise((resolve, reject) => child.on('error', reject).on('exit', resolve));
});
process.exitCode = (await Promise.all(codes)).every((code) => code === 0) ? 0 : 1;
