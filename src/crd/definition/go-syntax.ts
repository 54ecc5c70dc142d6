/**
 * Prints schemas, rules and versions as Go's %#v does, for messages of the reference server that contain its internal
 * structs. Pointers print as addresses, which differ between responses; here all have the same address.
 */

import type { CustomResourceDefinitionVersion } from '../../kinds/generated/apiextensions-v1.js';
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
  const list = printItems(`[]${SCHEMA}`, items.map(printSchema));
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
  const { raw } = schema;
  const orNil = <Item>(items: readonly Item[]) => (items.length === 0 ? undefined : items);
  const schemas = (list: readonly StructuralSchema[]) => printItems(`[]${SCHEMA}`, orNil(list.map(printSchema)));
  const byName = (type: string, named: ReadonlyMap<string, StructuralSchema>) =>
    printItems(type, orNil([...named].map(([name, inner]) => `${quote(name)}:${printSchema(inner)}`)));
  return printStruct(
    'JSONSchemaProps',
    SCHEMA_FIELDS,
    { ...schema, ...raw },
    {
      Enum: printItems(`[]${PACKAGE}.JSON`, raw.enum?.map(jsonText)),
      Required: stringSlice(raw.required).verbatim,
      AllOf: schemas(schema.allOf),
      OneOf: schemas(schema.oneOf),
      AnyOf: schemas(schema.anyOf),
      Properties: byName(`map[string]${SCHEMA}`, schema.properties),
      PatternProperties: `map[string]${SCHEMA}(nil)`,
      Dependencies: `${PACKAGE}.JSONSchemaDependencies(nil)`,
      Definitions: byName(`${PACKAGE}.JSONSchemaDefinitions`, schema.definitions),
      XListMapKeys: stringSlice(orNil(schema.listMapKeys)).verbatim,
      XValidations: `${PACKAGE}.ValidationRules${schema.validations.length === 0 ? '(nil)' : '{…}'}`,
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
