/**
 * `format.named('dns1123Label')`, `format.dns1123Label()` and `.validate(text)`, which returns the validation messages.
 */
import { expressionType } from '../../meta/dialect.js';
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  maskTrailingDash,
  type NameProblems,
  qualifiedNameProblems,
} from '../../meta/names.js';
import { requestUrlProblem } from '../../text/go/go-url.js';
import { isDate, isDateTime } from '../../text/time/time.js';
import { ArrayList } from '../evaluate/views.js';
import type { Library } from '../library.js';
import { listOf, objectType, optionalOf, STRING } from '../types.js';
import { CelOpaque, CelOptional, type CelValue } from '../values.js';
import { asInstance, globalFunction, memberFunction } from './declare.js';

export const FORMAT_TYPE = objectType<CelFormat>(expressionType('NamedFormat'));

export class CelFormat extends CelOpaque {
  readonly type = FORMAT_TYPE;
  override readonly goTypeName = 'cel.Format';
  override readonly hashable = false;
  constructor(
    readonly name: string,
    readonly problems: NameProblems,
    /** The length of the regular expression that validation is charged for, even if the format does not use one. */
    readonly regexSize: number,
  ) {
    super();
  }
  equals(other: CelValue): boolean {
    return asInstance(CelFormat, other).name === this.name;
  }
}

const FORMATS: ReadonlyMap<string, CelFormat> = new Map([
  ['dns1123Label', new CelFormat('DNS1123Label', dnsLabelProblems, 30)],
  ['dns1123Subdomain', new CelFormat('DNS1123Subdomain', dnsSubdomainProblems, 60)],
  ['dns1035Label', new CelFormat('DNS1035Label', dns1035LabelProblems, 30)],
  ['qualifiedName', new CelFormat('QualifiedName', qualifiedNameProblems, 60)],
  ['dns1123LabelPrefix', new CelFormat('DNS1123LabelPrefix', ofPrefix(dnsLabelProblems), 30)],
  ['dns1123SubdomainPrefix', new CelFormat('DNS1123SubdomainPrefix', ofPrefix(dnsSubdomainProblems), 60)],
  ['dns1035LabelPrefix', new CelFormat('DNS1035LabelPrefix', ofPrefix(dns1035LabelProblems), 30)],
  ['labelValue', new CelFormat('LabelValue', labelValueProblems, 40)],
  ['uri', new CelFormat('URI', (text) => [requestUrlProblem(text)].filter((problem) => problem !== undefined), 1103)],
  ['uuid', new CelFormat('uuid', unless(isUuid, 'does not match the UUID format'), 70)],
  ['byte', new CelFormat('byte', unless(isBase64, 'invalid base64'), 84)],
  ['date', new CelFormat('date', unless(isDate, 'invalid date'), 71)],
  ['datetime', new CelFormat('datetime', unless(isDateTime, 'invalid datetime'), 71)],
]);

export const NAMED_FORMATS: Library = {
  name: 'format',
  functions: [
    memberFunction('validate', 'format-validate', [FORMAT_TYPE, STRING], optionalOf(listOf(STRING)), (format, text) => {
      const problems = format.problems(text);
      return problems.length === 0 ? CelOptional.NONE : new CelOptional(new ArrayList(problems));
    }),
    globalFunction('format.named', 'format-named', [STRING], optionalOf(FORMAT_TYPE), (name) => {
      const format = FORMATS.get(name);
      return format === undefined ? CelOptional.NONE : new CelOptional(format);
    }),
    ...[...FORMATS].map(([name, format]) =>
      globalFunction(`format.${name}`, `format.${name}`, [], FORMAT_TYPE, () => format),
    ),
  ],
};

function ofPrefix(problems: NameProblems): NameProblems {
  return (name) => problems(maskTrailingDash(name));
}

function unless(isValid: (text: string) => boolean, problem: string): NameProblems {
  return (text) => (isValid(text) ? [] : [problem]);
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text);
}

/** The empty string is not valid. */
function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
