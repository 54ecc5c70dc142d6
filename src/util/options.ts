/**
 * Rejects unknown option names. A misspelt option would otherwise be ignored silently in JavaScript programs, which have
 * no type checker.
 */

/** Throws TypeError for an unknown option name. `where` is the function that takes the options: `serve`. */
export function refuseUnknownOptions(where: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new TypeError(`orchplane: ${where} has no option "${name}"; it has ${known.join(', ')}`);
  }
}
