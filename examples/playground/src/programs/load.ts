/**
 * A load generator: sends a request per second to the URL in its arguments.
 */
import type { Program } from 'orchplane/runtime';

const PAUSE_MS = 1_000;
const REPORT_AFTER = 10;

export const load: Program = async ({ command, args, fetch, log, sleep, stderr }) => {
  const [url] = [...command, ...args];
  if (url === undefined) {
    stderr.write('usage: load URL\n');
    return 2;
  }
  log(`sending a request per second to ${url}`);
  let results: string[] = [];
  for (;;) {
    results.push(await resultOf(fetch(url)));
    if (results.length === REPORT_AFTER) {
      log(`${REPORT_AFTER} requests: ${summary(results)}`);
      results = [];
    }
    await sleep(PAUSE_MS);
  }
};

/** The status of a response, or why there is none. */
async function resultOf(answer: Promise<Response>): Promise<string> {
  try {
    return String((await answer).status);
  } catch (error) {
    return failureOf(error);
  }
}

/** The error code of a request that was not answered: `ECONNREFUSED`, `ENOTFOUND`. */
export function failureOf(error: unknown): string {
  const { cause, message } = error as Error & { readonly cause?: { readonly code?: string } };
  return cause?.code ?? message;
}

function summary(results: readonly string[]): string {
  const kinds = [...new Set(results)].sort();
  return kinds.map((kind) => `${results.filter((each) => each === kind).length} × ${kind}`).join(', ');
}
