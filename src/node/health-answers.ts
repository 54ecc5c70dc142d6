/**
 * Answers health checks while the thread of the cluster processes a long request. It repeats what the cluster has answered
 * before: to the same credentials, or to a client without credentials. It never answers for a cluster that has refused the
 * client, or that has been silent for too long.
 */
import type { Answer } from '../protocol/http.js';
import { systemClock } from '../util/clock.js';
import type { IncomingRequest } from './incoming-request.js';

/** How long the cluster has to answer a health check itself. */
const PATIENCE_MS = 50;
/** A cluster that has been silent for longer than this is not healthy. */
const MAX_SILENCE_SECONDS = 30;
const MAX_ANSWERS = 64;
const ASK_AGAIN_MS = 1_000;
const MAX_ANSWER_LENGTH = 4096;

const HEALTH_PAGES = ['/healthz', '/livez', '/readyz'];
const HEALTH_PATH = /^\w+:\/\/[^/]*(\/(?:healthz|livez|readyz)(?:[/?].*)?)$/;

/** Headers that neither name a user nor change the answer. */
const NEUTRAL_HEADERS = new Set(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);

export function isHealthCheck({ method, url }: Pick<IncomingRequest, 'method' | 'url'>): boolean {
  return (method === 'GET' || method === 'HEAD') && HEALTH_PATH.test(url);
}

type HealthRequest = Pick<IncomingRequest, 'method' | 'url' | 'peer' | 'headers'>;

export class HealthAnswers {
  readonly #answers = new Map<string, Answer>();
  /** To clients without credentials, by path. */
  readonly #anonymous = new Map<string, Answer>();
  /** When the oldest unanswered check with a key was forwarded, in seconds. */
  readonly #unanswered = new Map<string, number>();
  /** When the oldest health check was forwarded that was not followed by any message of the cluster, in seconds. */
  #silentSince: number | undefined;
  #ask: ((path: string) => Promise<Answer>) | undefined;
  #stopAsking: (() => void) | undefined;

  /** Learns what a client without credentials may see. */
  async prime(ask: (path: string) => Promise<Answer>): Promise<void> {
    this.#ask = ask;
    await Promise.all(HEALTH_PAGES.map(async (path) => this.#keep(keyOf(path), path, await ask(path))));
  }

  /** Forgets all answers, because a write may have changed who may see what, and asks again a little later. */
  forget(): void {
    this.#answers.clear();
    this.#anonymous.clear();
    this.#stopAsking?.();
    const ask = this.#ask;
    if (ask === undefined) return;
    // A failure has no answer to keep; the server reports it.
    const again = (): void => void this.prime(ask).catch(() => undefined);
    this.#stopAsking = systemClock.after(ASK_AGAIN_MS, again, { background: true });
  }

  /** Called with every message of the cluster. */
  heard(): void {
    this.#silentSince = undefined;
  }

  /**
   * The answer of the cluster, or one in its place if the cluster is late. `forward` gets a function to call when the cluster
   * is not busy, but waits for its storage: only the cluster knows how that ends.
   */
  answer(request: HealthRequest, forward: (onWaiting: () => void) => Promise<Answer>): Promise<Answer> {
    const path = HEALTH_PATH.exec(request.url)?.[1];
    if (path === undefined || !isHealthCheck(request)) return forward(() => undefined);
    const key = keyOf(path, credentialsOf(request));
    if (!this.#unanswered.has(key) && this.#unanswered.size < MAX_ANSWERS) this.#unanswered.set(key, process.uptime());
    this.#silentSince ??= process.uptime();
    // A check that follows an unanswered one does not wait again.
    const patienceMs = Math.max(PATIENCE_MS - (process.uptime() - this.#silentSince) * 1000, 0);
    return new Promise((resolve, reject) => {
      const undo = systemClock.after(patienceMs, () => {
        const known = this.#answers.get(key) ?? this.#anonymous.get(path);
        if (known !== undefined) resolve(this.#inTime(key, known));
      });
      forward(undo)
        .finally(() => {
          undo();
          this.#unanswered.delete(key);
        })
        .then((answer) => {
          this.#keep(key, path, answer);
          resolve(answer);
        }, reject);
    });
  }

  #inTime(key: string, known: Answer): Answer {
    const now = process.uptime();
    const since = Math.min(this.#silentSince ?? now, this.#unanswered.get(key) ?? now);
    const seconds = Math.floor(now - since);
    if (seconds < MAX_SILENCE_SECONDS) return known;
    const body = `internal server error: the cluster has not responded for ${seconds} seconds\n`;
    return { code: 500, headers: known.headers, body };
  }

  #keep(key: string, path: string, answer: Answer): void {
    // Says nothing about the client either.
    if (answer.code === 429) return;
    const isPrimed = key === keyOf(path) && HEALTH_PAGES.includes(path);
    const answers = isPrimed ? this.#anonymous : this.#answers;
    answers.delete(isPrimed ? path : key);
    const { code, headers, body } = answer;
    // Other codes say nothing about health: the client waits for the cluster.
    if ((code !== 200 && code !== 500) || (body !== null && typeof body !== 'string')) return;
    if (key.length + (body?.length ?? 0) > MAX_ANSWER_LENGTH) return;
    answers.set(isPrimed ? path : key, { code, headers: headers.filter(([name]) => name !== 'Audit-Id'), body });
    // Map keys are in insertion order: the first is the oldest.
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS) break;
      this.#answers.delete(oldest);
    }
  }
}

/** Without credentials: of a client that sends none. */
function keyOf(path: string, credentials: readonly unknown[] = []): string {
  return JSON.stringify([path, ...credentials]);
}

/** The client certificate, and all headers that may name a user. */
function credentialsOf({ peer, headers }: HealthRequest): readonly unknown[] {
  const named = [...headers]
    .filter(([name]) => !NEUTRAL_HEADERS.has(name))
    .map(([name]) => [name, headers.getAll(name)]);
  return peer === undefined && named.length === 0 ? [] : [peer ?? null, ...named];
}
