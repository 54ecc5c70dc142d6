/**
 * Rules on kinds that are defined in TypeScript. They are the rules of custom kinds, on the same types: what zod says
 * about a body is turned into the schema that a definition would have, with the rules at its root.
 */
import { storedEnvironment } from '../../../cel/library/environments.js';
import { type FieldError, printFieldError } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import type { ObjectNode, ScalarType, Structural } from '../../../schema/structural.js';
import { findField } from '../../apiextensions/v1/rules/field-path.js';
import type {
  JSONSchemaProps,
  ValidationRule,
  ValidationRuleInput,
} from '../../apiextensions/v1/schema/json-schema.js';
import type { SchemaView } from '../../apiextensions/v1/schema/schema-view.js';
import { Before } from './before.js';
import { compileRules } from './compile.js';
import { definedRuleErrors } from './definition.js';
import { ruleErrors } from './evaluate.js';

/** Judges an object beside what it was before; undefined on create. */
export type KindRules = (
  next: ApiObject,
  live: ApiObject | undefined,
) => { readonly errors: readonly FieldError[]; readonly warnings: readonly string[] };

/**
 * Compiles the rules of a kind. `schema` is the form of its whole objects. Throws a TypeError that names what is wrong
 * with a rule, so that it shows where the kind is defined. What rules might cost is not held against them, because zod
 * schemas rarely say how long things may get; while they run they are limited as everywhere.
 *
 * @example
 * const judge = compileKindRules(schema, [{ rule: 'self.spec.min <= self.spec.max', message: 'min is at most max' }]);
 * const { errors } = judge(widget, undefined);
 */
export function compileKindRules(schema: ObjectNode, rules: readonly ValidationRuleInput[]): KindRules {
  const root = { ...viewOf(withoutMetadata(schema)), validations: rules as readonly ValidationRule[] };
  const environments = { rule: storedEnvironment, message: storedEnvironment };
  const problems = [
    ...rules.flatMap((rule) => textProblems(root, rule)),
    ...definedRuleErrors(root, '', {
      environments,
      spell: () => 'rules',
      isSound: () => true,
      limitsCost: false,
      limitsTotal: false,
    }).map((error) => printFieldError(error).replace(/^\./, '')),
  ];
  if (problems.length > 0) throw new TypeError(`orchplane: ${schema.goName}: ${problems.join('; ')}`);
  const compiled = compileRules(root, true, environments);
  if (compiled === undefined) return () => ({ errors: [], warnings: [] });
  return (next, live) =>
    ruleErrors(compiled, next, live === undefined ? Before.NOTHING : Before.ofUpdate(root, next, live));
}

function textProblems(root: SchemaView, { rule, fieldPath = '' }: ValidationRuleInput): string[] {
  if (rule.trim() === '') return ['a rule without text'];
  if (fieldPath === '' || typeof findField(root, fieldPath, { brackets: true }) !== 'string') return [];
  return [`fieldPath ${fieldPath} of rule ${rule} leads nowhere`];
}

/** Rules see of them what they see of those of any resource. */
function withoutMetadata(schema: ObjectNode): ObjectNode {
  const fields = [...schema.fields].filter(([name]) => !['apiVersion', 'kind', 'metadata'].includes(name));
  return { ...schema, fields: new Map(fields) };
}

const NOTHING: Omit<SchemaView, 'raw' | 'type'> = {
  itemList: [],
  properties: new Map(),
  allOf: [],
  anyOf: [],
  oneOf: [],
  definitions: new Map(),
  preserveUnknownFields: undefined,
  embeddedResource: false,
  intOrString: false,
  listMapKeys: [],
  listType: undefined,
  mapType: undefined,
  validations: [],
};

/** A structural form as a definition would write it. */
function viewOf(node: Structural): SchemaView {
  const raw: JSONSchemaProps = {
    ...(node.nullable === true ? { nullable: true } : {}),
    ...(node.default === undefined ? {} : { default: node.default }),
  };
  switch (node.type) {
    case 'object': {
      const fields = [...node.fields.values()];
      const properties = new Map(fields.map((field) => [field.name, viewOf(field.node)]));
      const required = fields.filter((field) => field.required).map(({ name }) => name);
      const preserveUnknownFields = node.preserveUnknown ? true : undefined;
      return { ...NOTHING, raw: { ...raw, required }, type: 'object', properties, preserveUnknownFields };
    }
    case 'map':
      return { ...NOTHING, raw, type: 'object', additionalProperties: viewOf(node.values) };
    case 'list': {
      const { listType, mapKeys } = node;
      return { ...NOTHING, raw, type: 'array', items: viewOf(node.items), listType, listMapKeys: mapKeys };
    }
    case 'scalar': {
      const { type, format, intOrString } = SCALARS[node.scalar];
      return {
        ...NOTHING,
        raw: { ...raw, ...(format === undefined ? {} : { format }) },
        type,
        intOrString: intOrString === true,
      };
    }
    case 'any':
      return { ...NOTHING, raw, type: '', preserveUnknownFields: true };
  }
}

/** As definitions that are generated from Go types write them. */
const SCALARS: Readonly<Record<ScalarType, { type: string; format?: string; intOrString?: boolean }>> = {
  string: { type: 'string' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  quantity: { type: '', intOrString: true },
  intOrString: { type: '', intOrString: true },
  duration: { type: 'string' },
};
