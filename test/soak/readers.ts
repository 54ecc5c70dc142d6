/**
 * The readers of a soak run: watches that rebuild a list from events, and lists in pages.
 */
import type { IncomingMessage } from 'node:http';
import { comparePages, Replica, type StoredEvent, type StoredList } from './checks.js';
import { type Driven, type Driver, unexpected } from './drivers.js';
import { isConnectionError, pause } from './server.js';

export interface WatcherOptions {
  readonly path: string;
  readonly selector?: string;
  /** Compares with a list after so many events. */
  readonly every: number;
  /** Reads slowly: the longest pause after an event, in milliseconds. */
  readonly slow?: number;
  readonly most?: number;
}

/** Follows a collection: lists, watches, resumes, and lists again when the version is expired. */
export function watcher({ path, selector, every, slow = 0, most }: WatcherOptions): Driver {
  return (driven) => {
    const { server, report, random } = driven;
    const query = selector === undefined ? '' : `&labelSelector=${encodeURIComponent(selector)}`;
    const replica = new Replica();
    let isListed = false;
    let untilCheck = every;

    const takeEvent = async (event: StoredEvent): Promise<boolean> => {
      if (event.type === 'ERROR') {
        report.count('expired watches');
        if (event.object.code !== 410) report.violation(`watch of ${path}: ${JSON.stringify(event)}`);
        isListed = false;
        return false;
      }
      report.count('watch events');
      const problem = replica.apply(event);
      if (problem !== undefined) report.violation(`${path}: ${problem}`);
      if (most !== undefined && replica.size > most) report.violation(`${path}: ${replica.size} objects of ${most}`);
      if (--untilCheck <= 0) {
        untilCheck = every;
        await compare(driven, path, query, replica);
      }
      if (slow > 0) await pause(random.below(slow));
      return true;
    };

    return async () => {
      if (!isListed) {
        const list = await server.send<StoredList>('GET', `${path}?${query}`);
        if (list.status !== 200) return;
        replica.reset(list.body);
        isListed = true;
        report.count('lists for watches');
      }
      await server.open;
      const bookmarks = 'watch=true&allowWatchBookmarks=true';
      const url = `${path}?${bookmarks}&resourceVersion=${replica.version}${query}`;
      // Some watches are closed by the client, after a while.
      const closeAfter = random.below(3) === 0 ? 500 + random.below(10_000) : 60_000;
      try {
        const response = await server.request('GET', url, { isWatch: true });
        const close = (): unknown => response.destroy();
        const timer = setTimeout(close, closeAfter);
        report.stopped.addEventListener('abort', close);
        // The test may have ended while the watch was opened.
        if (report.stopped.aborted) close();
        try {
          if (response.statusCode === 200) {
            report.count('watches');
            for await (const event of eventsOf(response)) if (!(await takeEvent(event))) return;
          } else if (response.statusCode === 410) isListed = false;
          else if (response.statusCode !== 429) report.violation(`watch of ${path}: ${response.statusCode}`);
        } finally {
          clearTimeout(timer);
          report.stopped.removeEventListener('abort', close);
          close();
        }
      } catch (error) {
        // The connection ended: the watch continues from the last event.
        if (!isConnectionError(error)) throw error;
      }
    };
  };
}

async function compare({ server, report }: Driven, path: string, query: string, replica: Replica): Promise<void> {
  const exact = `resourceVersion=${replica.version}&resourceVersionMatch=Exact${query}`;
  const list = await server.send<StoredList>('GET', `${path}?${exact}`);
  if (list.status === 200) report.check('watches', replica.compare(list.body));
  else report.check('expired comparisons', unexpected(list, [0, 410]));
}

/** The events of complete lines. */
export async function* eventsOf(response: IncomingMessage): AsyncGenerator<StoredEvent> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as StoredEvent;
  }
}

/** Lists in pages while others write; all pages show the state of the first one. */
export function pager(path: string): Driver {
  return ({ server, report, random }) =>
    async () => {
      const pages: StoredList[] = [];
      let next: string | undefined;
      do {
        const token: string = next === undefined ? '' : `&continue=${encodeURIComponent(next)}`;
        const page = await server.send<StoredList>('GET', `${path}?limit=${1 + random.below(9)}${token}`);
        if (page.status !== 200) {
          report.count('expired pages', page.status === 410 ? 1 : 0);
          return report.check('pages', unexpected(page, [0, 410]));
        }
        pages.push(page.body);
        next = page.body.metadata.continue;
        await pause(random.below(20));
      } while (next !== undefined && next !== '');
      const version = pages[0]?.metadata.resourceVersion ?? '';
      const list = await server.send<StoredList>(
        'GET',
        `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`,
      );
      if (list.status === 200) report.check('pages', comparePages(pages, list.body));
      else report.check('expired comparisons', unexpected(list, [0, 410]));
      await pause(random.below(200));
    };
}
