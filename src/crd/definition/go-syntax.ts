/**
 * Prints schemas, rules and versions as Go's %#v does, for messages of the reference server that contain its internal
 * structs. Pointers print as addresses, which differ between responses; here all have the same address.
 */

import type { CustomResourceDefinitionVersion } from '../../kinds/generated/apiextensions-v1.js';
import { asSent, wasSentEmpty } from '../../schema/empty-values.js';
import type { ValidationRule } from '../../schema/json-schema.js';
import type { Verbatim } from '../../text/go/go-text.js';
import { quote, stringSlice, verbatim } from '../../text/go/go-text.js';
import { goSyntax } from '../../text/go/go-value.js';
import type { StructuralSchema } from '../structural-schema.js';

const PACKAGE = 'apiextensions';
const SCHEMA = `${PACKAGE}.JSONSchemaProps`;

/** Prints a schema. */
export function schemaGoSyntax(schema: StructuralSchema): Verbatim {
  return verbatim(printSchema(schema));
}

/** Prints `items` given as a list of schemas. */
export function itemListGoSyntax(items: readonly StructuralSchema[]): Verbatim {
  const list = printItems(`[]${SCHEMA}`, items.length === 0 ? undefined : items.map(printSchema));
  return verbatim(`${PACKAGE}.JSONSchemaPropsOrArray{Schema:(*${SCHEMA})(nil), JSONSchemas:${list}}`);
}

/** Prints a validation rule. */
export function ruleGoSyntax(rule: ValidationRule): Verbatim {
  return verbatim(printStruct('ValidationRule', RULE_FIELDS, { ...rule }));
}

/**
 * Prints the versions of a CRD without the parts that all versions share, which the reference server has moved to the
 * top level.
 */
export function versionsGoSyntax(versions: readonly CustomResourceDefinitionVersion[] | undefined): Verbatim {
  const structs = (type: string, notation: string, items: readonly object[] | undefined) =>
    printItems(
      `[]${PACKAGE}.${type}`,
      items?.map((item) => printStruct(type, notation, { ...item })),
    );
  const shown = versions?.map((version) =>
    printStruct(
      'CustomResourceDefinitionVersion',
      VERSION_FIELDS,
      { ...version },
      {
        AdditionalPrinterColumns: structs(
          'CustomResourceColumnDefinition',
          COLUMN_FIELDS,
          version.additionalPrinterColumns,
        ),
        SelectableFields: structs('SelectableField', 'JSONPath=jsonPath:string', version.selectableFields),
      },
    ),
  );
  return verbatim(printItems(`[]${PACKAGE}.CustomResourceDefinitionVersion`, shown));
}

/**
 * The fields of each struct in order, `NAME=KEY:TYPE`. The key defaults to the name with a small first letter. Fields
 * without a type are printed by the functions.
 */
const RULE_FIELDS =
  'Rule:string Message:string MessageExpression:string Reason:*FieldValueErrorReason FieldPath:string ' +
  'OptionalOldSelf:*bool';
const COLUMN_FIELDS = 'Name:string Type:string Format:string Description:string Priority:int JSONPath=jsonPath:string';
const VERSION_FIELDS =
  'Name:string Served:bool Storage:bool Deprecated:bool DeprecationWarning:*string Schema:*CustomResourceValidation ' +
  'Subresources:*CustomResourceSubresources AdditionalPrinterColumns SelectableFields';
const SCHEMA_FIELDS =
  'ID=id:string Schema=$schema:string Ref=$ref:*string Description:string Type:string Nullable:bool Format:string ' +
  'Title:string Default:*JSON Maximum:*float64 ExclusiveMaximum:bool Minimum:*float64 ExclusiveMinimum:bool ' +
  'MaxLength:*int64 MinLength:*int64 Pattern:string MaxItems:*int64 MinItems:*int64 UniqueItems:bool ' +
  'MultipleOf:*float64 Enum MaxProperties:*int64 MinProperties:*int64 Required Items:*JSONSchemaPropsOrArray AllOf ' +
  'OneOf AnyOf Not:*JSONSchemaProps Properties AdditionalProperties:*JSONSchemaPropsOrBool PatternProperties ' +
  'Dependencies AdditionalItems:*JSONSchemaPropsOrBool Definitions ExternalDocs:*ExternalDocumentation ' +
  'Example:*JSON XPreserveUnknownFields=preserveUnknownFields:*bool XEmbeddedResource=embeddedResource:bool ' +
  'XIntOrString=intOrString:bool XListMapKeys XListType=listType:*string XMapType=mapType:*string XValidations';

function printSchema(schema: StructuralSchema): string {
  const { raw, validations } = schema;
  const orNil = <Item>(items: readonly Item[], key: keyof typeof raw & string) =>
    items.length === 0 && !wasSentEmpty(raw, key) ? undefined : items;
  const schemas = (key: 'allOf' | 'oneOf' | 'anyOf') =>
    printItems(`[]${SCHEMA}`, orNil(schema[key].map(printSchema), key));
  const byName = (type: string, key: 'properties' | 'patternProperties' | 'definitions') =>
    printItems(
      type,
      orNil(
        [...schema[key]].map(([name, inner]) => `${quote(name)}:${printSchema(inner)}`),
        key,
      ),
    );
  const dependencies = Object.entries(raw.dependencies ?? {}).map(([name, given]) => {
    const isList = Array.isArray(given);
    const inner = printScalar('*JSONSchemaProps', isList ? undefined : (given ?? undefined));
    const property = stringSlice(isList ? given : undefined).verbatim;
    return `${quote(name)}:${PACKAGE}.JSONSchemaPropsOrStringArray{Schema:${inner}, Property:${property}}`;
  });
  return printStruct(
    'JSONSchemaProps',
    SCHEMA_FIELDS,
    { ...schema, ...raw, items: asSent(raw, 'items') },
    {
      Enum: printItems(`[]${PACKAGE}.JSON`, asSent(raw, 'enum')?.map(jsonText)),
      Required: stringSlice(asSent(raw, 'required')).verbatim,
      AllOf: schemas('allOf'),
      OneOf: schemas('oneOf'),
      AnyOf: schemas('anyOf'),
      Properties: byName(`map[string]${SCHEMA}`, 'properties'),
      PatternProperties: byName(`map[string]${SCHEMA}`, 'patternProperties'),
      Dependencies: printItems(`${PACKAGE}.JSONSchemaDependencies`, raw.dependencies && dependencies),
      Definitions: byName(`${PACKAGE}.JSONSchemaDefinitions`, 'definitions'),
      XListMapKeys: stringSlice(schema.listMapKeys.length === 0 ? undefined : schema.listMapKeys).verbatim,
      XValidations: printItems(
        `${PACKAGE}.ValidationRules`,
        validations.length === 0 ? undefined : validations.map((rule) => ruleGoSyntax(rule).verbatim),
      ),
    },
  );
}

function printStruct(
  type: string,
  notation: string,
  values: Readonly<Record<string, unknown>>,
  printed: Readonly<Record<string, string>> = {},
): string {
  const fields = notation.split(' ').map((field) => {
    const [, name = '', key = name.charAt(0).toLowerCase() + name.slice(1), fieldType = ''] =
      /^(\w+)(?:=([^:]+))?(?::(.+))?$/.exec(field) ?? [];
    return `${name}:${printed[name] ?? printScalar(fieldType, values[key])}`;
  });
  return `${PACKAGE}.${type}{${fields.join(', ')}}`;
}

function printScalar(type: string, value: unknown): string {
  if (type === 'string') return quote(String(value ?? ''));
  if (!type.startsWith('*')) return String(value ?? (type === 'bool' ? false : 0));
  const target = type.slice(1).replace(/^(?=[A-Z])/, `${PACKAGE}.`);
  return `(*${target})(${value === undefined ? 'nil' : '0xc000000000'})`;
}

function printItems(type: string, items: readonly string[] | undefined): string {
  return `${type}${items === undefined ? '(nil)' : `{${items.join(', ')}}`}`;
}

function jsonText(value: unknown): string {
  return value === null ? `${PACKAGE}.JSON(nil)` : goSyntax(value);
}
