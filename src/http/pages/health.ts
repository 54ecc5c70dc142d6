/**
 * `/healthz`, `/livez`, `/readyz`: whether the server works, in one word or check by check.
 */
import type { Answer } from '../answer.js';
import { respondText } from '../respond.js';
import type { Page, PageRequest } from './page.js';

/** What is looked at; a check answers what is wrong, if anything. */
type Check = () => string | undefined;

const well: Check = () => undefined;

/** A control plane in memory is there as soon as it can be asked. */
const ALWAYS: Readonly<Record<string, Check>> = { ping: well, log: well, etcd: well };

/** The checks of each page, in the order in which they are shown. */
function checksOf(page: string, isClosing: () => boolean): Readonly<Record<string, Check>> | undefined {
  switch (page) {
    case 'healthz':
    case 'livez':
      return ALWAYS;
    case 'readyz':
      return {
        ...ALWAYS,
        'informer-sync': well,
        shutdown: () => (isClosing() ? 'process is shutting down' : undefined),
      };
    default:
      return undefined;
  }
}

export function healthPage(isClosing: () => boolean): Page {
  return (request) => {
    const [, page = '', ...rest] = request.path.split('/');
    const checks = checksOf(page, isClosing);
    if (checks === undefined) return undefined;
    const name = rest.join('/');
    return name === '' ? allChecks(request, page, checks) : oneCheck(request, checks, name);
  };
}

function oneCheck({ envelope }: PageRequest, checks: Readonly<Record<string, Check>>, name: string) {
  if (!Object.hasOwn(checks, name)) return undefined;
  const problem = checks[name]?.();
  return problem === undefined
    ? respondText(envelope, 200, 'ok')
    : respondText(envelope, 500, `internal server error: ${problem}\n`);
}

function allChecks({ envelope, query }: PageRequest, page: string, checks: Readonly<Record<string, Check>>): Answer {
  const excluded = new Set(query.get('exclude')?.flatMap((names) => names.split(',')) ?? []);
  let lines = '';
  let isWell = true;
  for (const [name, check] of Object.entries(checks)) {
    if (excluded.delete(name)) lines += `[+]${name} excluded: ok\n`;
    else if (check() === undefined) lines += `[+]${name} ok\n`;
    else {
      isWell = false;
      lines += `[-]${name} failed: reason withheld\n`;
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(',');
    lines += `warn: some health checks cannot be excluded: no matches for ${names}\n`;
  }
  // A failure is always told in full.
  if (!isWell) return respondText(envelope, 500, `${lines}${page} check failed\n`);
  return respondText(envelope, 200, query.has('verbose') ? `${lines}${page} check passed\n` : 'ok');
}
