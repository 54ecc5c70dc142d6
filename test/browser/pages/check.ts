/** Assertions for scripts in a page, and the report of scenario results to the test. */

/** Scenarios by name, run in this order; a later one may depend on an earlier one. */
export type Scenarios = Readonly<Record<string, () => Promise<void>>>;

/** Throws unless both values have the same JSON. */
export function equal(actual: unknown, expected: unknown): void {
  const [is, shouldBe] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== shouldBe) throw new Error(`expected ${shouldBe}, got ${is}`);
}

export function present<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('expected something, got nothing');
  return value;
}

/** The result of one scenario. */
export interface Outcome {
  readonly name: string;
  /** `passed`, or the error. */
  readonly result: string;
}

declare global {
  interface Window {
    /** Reports to the test, which provides this function. */
    readonly report?: (outcomes: readonly Outcome[], violations: readonly string[]) => Promise<void>;
  }
}

/** Runs all scenarios, also after a failure, and reports once. */
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
  // Browsers report policy violations in a separate task.
  await new Promise((resolve) => setTimeout(resolve, 0));
  await present(window.report)(outcomes, violations);
}

/**
 * The policy violations of this page or worker; the list grows. A caught eval attempt appears only here. Violations
 * during the load of the script are reported later and included.
 */
export function policyViolations(): readonly string[] {
  const violations: string[] = [];
  const scope = globalThis as unknown as Document;
  scope.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
    violations.push(`${violatedDirective} forbids ${blockedURI} (${sourceFile}:${lineNumber})`);
  });
  return violations;
}

/** Reads watch events, one JSON document per line, with a stream reader, which every browser has. */
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
