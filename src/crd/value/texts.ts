/**
 * What a schema says about strings: length, pattern, format.
 */
import { quote } from '../../text/go/go-text.js';
import { re2Matches, re2Problem } from '../../text/re2/index.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import type { FormatTest } from './formats.js';
import type { Run } from './run.js';

/** Returns how many rules were kept, as prepare.ts counts them. */
export type TextRule = (value: string, run: Run) => number;

export function textRule(raw: JSONSchemaProps, hasFormat: FormatTest | undefined): TextRule {
  const { maxLength, minLength, pattern = '', format = '' } = raw;
  const isPlain = maxLength === undefined && minLength === undefined && pattern === '';
  return (value, run) => {
    // The first rule that is broken ends it, but for the format.
    if (!isPlain) {
      if (maxLength !== undefined && isLonger(value, Number(maxLength))) {
        const broken = run.worded(`should be at most ${maxLength} chars long`);
        run.add({ rule: 'length', name: run.name, text: broken, max: maxLength });
      } else if (minLength !== undefined && minLength > 0 && !isLonger(value, Number(minLength) - 1)) {
        run.refuse(value, `should be at least ${minLength} chars long`);
      } else if (pattern !== '' && !re2Matches(pattern, value))
        run.refuse(value, `should match '${shownPattern(pattern)}'`);
    }
    if (hasFormat === undefined) return 1;
    if (!hasFormat(value)) {
      const broken = run.worded(`must be of type ${format}: ${quote(value)}`);
      run.add({ rule: 'type', name: run.name, value, text: broken });
    }
    return 2;
  };
}

/** Counted in characters, which are at most as many as there are units, and at least half as many. */
function isLonger(text: string, count: number): boolean {
  if (text.length <= count) return false;
  if (text.length > count * 2) return true;
  let characters = 0;
  for (const _ of text) characters++;
  return characters > count;
}

function shownPattern(pattern: string): string {
  const problem = re2Problem(pattern);
  return problem === undefined ? pattern : `${pattern}, but pattern is invalid: ${problem}`;
}
