/**
 * Validates the names of a CRD.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid, keyPath, required } from '../../meta/field-error.js';
import { dns1035LabelProblems } from '../../meta/names.js';
import type { CustomResourceDefinitionNames } from './schema.js';

/** Validates that the required names are present (after defaulting). */
export function requiredNameErrors(names: CustomResourceDefinitionNames, path: string): FieldError[] {
  const fields = ['plural', 'singular', 'kind', 'listKind'] as const;
  return fields.filter((field) => (names[field] ?? '') === '').map((field) => required(`${path}.${field}`));
}

/** Validates the syntax of the names that are present. */
export function nameErrors(names: CustomResourceDefinitionNames, path: string): FieldError[] {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  const found = [
    ...labelErrors(plural, `${path}.plural`),
    ...labelErrors(singular, `${path}.singular`),
    ...mixedCaseErrors(kind, `${path}.kind`),
    ...mixedCaseErrors(listKind, `${path}.listKind`),
    ...shortNames.flatMap((name, index) => strictLabelErrors(name, keyPath(`${path}.shortNames`, index))),
  ];
  if (kind !== '' && kind === listKind) {
    found.push(invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  }
  return [
    ...found,
    ...categories.flatMap((name, index) => strictLabelErrors(name, keyPath(`${path}.categories`, index))),
  ];
}

function labelErrors(name: string, path: string): FieldError[] {
  return name === '' ? [] : strictLabelErrors(name, path);
}

/** Validates a version name or a short name as a DNS label. All problems form one message. */
export function strictLabelErrors(name: string, path: string): FieldError[] {
  const problems = dns1035LabelProblems(name);
  return problems.length === 0 ? [] : [invalid(path, name, problems.join(','))];
}

function mixedCaseErrors(name: string, path: string): FieldError[] {
  const problems = name === '' ? [] : dns1035LabelProblems(name.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid(path, name, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}
