/**
 * The state of one validation: the current path and the findings. Paths are printed only for findings, which are rare.
 */
import type { Finding } from './finding.js';
import type { Twin } from './twin.js';

/**
 * Validates a value. Findings are added to the run. The result is the number of satisfied rules, which selects the
 * alternative whose findings are reported when no alternative of a junctor is valid. `correlated` is given while
 * unchanged parts of an update are ratcheted.
 */
export type Check = (value: unknown, run: Run, twin: Twin | undefined) => number;

export class Run {
  readonly findings: Finding[] = [];
  readonly #path: (string | number)[] = [];

  /** Enters a property of the schema, or a list item. */
  enter(step: string | number): void {
    this.#path.push(step);
  }

  /** Enters an additional property. At the top its name keeps a leading dot, as in the reference server. */
  enterAdditional(key: string): void {
    this.#path.push(this.#path.length === 0 ? `.${key}` : key);
  }

  leave(): void {
    this.#path.pop();
  }

  /** `spec.list[0].name`; empty at the top. */
  get name(): string {
    let name = '';
    for (const step of this.#path) {
      if (typeof step === 'number') name += `[${step}]`;
      else name = name === '' ? step : `${name}.${step}`;
    }
    return name;
  }

  get isAtTop(): boolean {
    return this.#path.length === 0;
  }

  /** The message of a violation at the current path. */
  worded(text: string, name = this.name): string {
    return `${name} in body ${text}`;
  }

  add(finding: Finding): void {
    this.findings.push(finding);
  }

  /** `subject` is the path that the text names, if it is not the current path. */
  refuse(value: unknown, text: string, about = this.name): void {
    this.add({ rule: 'other', name: this.name, value, text: this.worded(text, about) });
  }

  /** Removes and returns the findings after the first `count`. */
  takeSince(count: number): Finding[] {
    return this.findings.splice(count);
  }
}

/** Validates a part of a value, and drops its findings if the part is unchanged (ratcheting). */
export function checkTwin(check: Check, value: unknown, run: Run, twin: Twin | undefined): number {
  const before = run.findings.length;
  const kept = check(value, run, twin);
  if (twin !== undefined && run.findings.length > before && twin.isUnchanged) run.takeSince(before);
  return kept;
}
