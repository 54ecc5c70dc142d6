/** A rule as the reference server shows it inside a message: its own struct, field by field. */
import type { Verbatim } from '../../text/go/go-text.js';
import { quote, verbatim } from '../../text/go/go-text.js';
import type { ValidationRule } from '../../schema/json-schema.js';

export function ruleDump(rule: ValidationRule): Verbatim {
  const text = (value: string | undefined) => quote(value ?? '');
  // Pointers print as addresses there, which differ from one answer to the next; they all have the same one here.
  const pointer = (type: string, value: unknown) => `(*${type})(${value === undefined ? 'nil' : '0xc000000000'})`;
  const fields = [
    `Rule:${text(rule.rule)}`,
    `Message:${text(rule.message)}`,
    `MessageExpression:${text(rule.messageExpression)}`,
    `Reason:${pointer('apiextensions.FieldValueErrorReason', rule.reason)}`,
    `FieldPath:${text(rule.fieldPath)}`,
    `OptionalOldSelf:${pointer('bool', rule.optionalOldSelf)}`,
  ];
  return verbatim(`apiextensions.ValidationRule{${fields.join(', ')}}`);
}
