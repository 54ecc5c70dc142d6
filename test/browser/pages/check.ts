/**
 * What scripts in a page need of a test runner: to compare, and to tell the test outside how each scenario went.
 */

/** Steps by name, run in this order; a later one may build on an earlier one. */
export type Scenarios = Readonly<Record<string, () => Promise<void>>>;

/** Throws unless both print as the same JSON. */
export function equal(actual: unknown, expected: unknown): void {
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== shouldBe) throw new Error(`expected ${shouldBe}, got ${is}`);
}

export function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('expected something, got nothing');
  return value;
}

/** How one scenario went, as the test outside is told. */
export interface Outcome {
  readonly name: string;
  /** `passed`, or what went wrong. */
  readonly result: string;
}

declare global {
  interface Window {
    /** The way out of the page; the test puts it there. */
    readonly report?: (outcomes: readonly Outcome[], violations: readonly string[]) => Promise<void>;
  }
}

/** Runs them one after another, also after a failure, and reports once. */
export async function run(scenarios: Scenarios): Promise<void> {
  const violations = policyViolations();
  const outcomes: Outcome[] = [];
  for (const [name, scenario] of Object.entries(scenarios)) {
    const result = await scenario().then(
      () => 'passed',
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
    outcomes.push({ name, result });
  }
  // Violations are told in a turn of their own.
  await new Promise((resolve) => setTimeout(resolve, 0));
  await present(window.report)(outcomes, violations);
}

/**
 * What the policy of the site has forbidden in this page or worker; the list grows. An eval that is tried and caught is in
 * it, and nowhere else. What happened while the script was loading is told only afterwards, so it is in it too.
 */
export function policyViolations(): readonly string[] {
  const violations: string[] = [];
  const scope = globalThis as unknown as Document;
  scope.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
    violations.push(`${violatedDirective} forbids ${blockedURI} (${sourceFile}:${lineNumber})`);
  });
  return violations;
}

/** The events of a watch as they come: one JSON document on each line. Read with a reader, as every browser can. */
export function eventReader(body: ReadableStream<Uint8Array>): {
  next(): Promise<{ type: string; object: { metadata: { name?: string } } }>;
  cancel(): Promise<void>;
} {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    async next() {
      for (;;) {
        const end = text.indexOf('\n');
        if (end !== -1) {
          const line = text.slice(0, end);
          text = text.slice(end + 1);
          return JSON.parse(line);
        }
        const { done, value } = await reader.read();
        if (done) throw new Error(`the watch has ended after ${JSON.stringify(text)}`);
        text += decoder.decode(value, { stream: true });
      }
    },
    cancel: () => reader.cancel(),
  };
}
