/**
 * Prints schemas and versions as Go's %#v does, for messages of the reference server that contain its internal structs.
 * Pointers print as addresses, which differ between responses; here all have the same address.
 */

import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
} from '../../kinds/generated/apiextensions-v1.js';
import type { Verbatim } from '../../text/go/go-text.js';
import { quote, stringSlice, verbatim } from '../../text/go/go-text.js';
import { goSyntax } from '../../text/go/go-value.js';
import type { StructuralSchema } from '../structural-schema.js';

const ADDRESS = '(0xc000000000)';
const PACKAGE = 'apiextensions';
const SCHEMA = `${PACKAGE}.JSONSchemaProps`;

/** Prints a schema. */
export function schemaGoSyntax(schema: StructuralSchema): Verbatim {
  return verbatim(printSchema(schema));
}

/** Prints `items` given as a list of schemas. */
export function itemListGoSyntax(items: readonly StructuralSchema[]): Verbatim {
  const list = `[]${SCHEMA}{${items.map(printSchema).join(', ')}}`;
  return verbatim(`${PACKAGE}.JSONSchemaPropsOrArray{Schema:(*${SCHEMA})(nil), JSONSchemas:${list}}`);
}

function printSchema(schema: StructuralSchema): string {
  const { raw } = schema;
  const text = (value: string | undefined) => quote(value ?? '');
  const flag = (value: boolean | undefined) => String(value ?? false);
  const pointer = (type: string, value: unknown) => `(*${type})${value === undefined ? '(nil)' : ADDRESS}`;
  const schemas = (list: readonly StructuralSchema[]) =>
    list.length === 0 ? `[]${SCHEMA}(nil)` : `[]${SCHEMA}{${list.map(printSchema).join(', ')}}`;
  const byName = (type: string, schemasByName: ReadonlyMap<string, StructuralSchema>) => {
    const items = [...schemasByName].map(([name, inner]) => `${quote(name)}:${printSchema(inner)}`);
    return items.length === 0 ? `${type}(nil)` : `${type}{${items.join(', ')}}`;
  };
  const map = `map[string]${SCHEMA}`;
  const fields: [string, string][] = [
    ['ID', text(raw.id)],
    ['Schema', text(raw.$schema)],
    ['Ref', pointer('string', raw.$ref)],
    ['Description', text(raw.description)],
    ['Type', text(raw.type)],
    ['Nullable', flag(raw.nullable)],
    ['Format', text(raw.format)],
    ['Title', text(raw.title)],
    ['Default', pointer('apiextensions.JSON', raw.default)],
    ['Maximum', pointer('float64', raw.maximum)],
    ['ExclusiveMaximum', flag(raw.exclusiveMaximum)],
    ['Minimum', pointer('float64', raw.minimum)],
    ['ExclusiveMinimum', flag(raw.exclusiveMinimum)],
    ['MaxLength', pointer('int64', raw.maxLength)],
    ['MinLength', pointer('int64', raw.minLength)],
    ['Pattern', text(raw.pattern)],
    ['MaxItems', pointer('int64', raw.maxItems)],
    ['MinItems', pointer('int64', raw.minItems)],
    ['UniqueItems', flag(raw.uniqueItems)],
    ['MultipleOf', pointer('float64', raw.multipleOf)],
    [
      'Enum',
      raw.enum === undefined
        ? '[]apiextensions.JSON(nil)'
        : `[]apiextensions.JSON{${raw.enum.map(jsonText).join(', ')}}`,
    ],
    ['MaxProperties', pointer('int64', raw.maxProperties)],
    ['MinProperties', pointer('int64', raw.minProperties)],
    ['Required', stringSlice(raw.required).verbatim],
    ['Items', pointer('apiextensions.JSONSchemaPropsOrArray', raw.items)],
    ['AllOf', schemas(schema.allOf)],
    ['OneOf', schemas(schema.oneOf)],
    ['AnyOf', schemas(schema.anyOf)],
    ['Not', pointer(SCHEMA, raw.not)],
    ['Properties', byName(map, schema.properties)],
    ['AdditionalProperties', pointer('apiextensions.JSONSchemaPropsOrBool', raw.additionalProperties)],
    ['PatternProperties', `${map}(nil)`],
    ['Dependencies', 'apiextensions.JSONSchemaDependencies(nil)'],
    ['AdditionalItems', pointer('apiextensions.JSONSchemaPropsOrBool', raw.additionalItems)],
    ['Definitions', byName('apiextensions.JSONSchemaDefinitions', schema.definitions)],
    ['ExternalDocs', pointer('apiextensions.ExternalDocumentation', raw.externalDocs)],
    ['Example', pointer('apiextensions.JSON', raw.example)],
    ['XPreserveUnknownFields', pointer('bool', schema.preserveUnknownFields)],
    ['XEmbeddedResource', flag(schema.embeddedResource)],
    ['XIntOrString', flag(schema.intOrString)],
    ['XListMapKeys', stringSlice(schema.listMapKeys.length === 0 ? undefined : schema.listMapKeys).verbatim],
    ['XListType', pointer('string', schema.listType)],
    ['XMapType', pointer('string', schema.mapType)],
    [
      'XValidations',
      schema.validations.length === 0 ? 'apiextensions.ValidationRules(nil)' : 'apiextensions.ValidationRules{…}',
    ],
  ];
  return `${SCHEMA}{${fields.map(([name, value]) => `${name}:${value}`).join(', ')}}`;
}

function jsonText(value: unknown): string {
  return value === null ? `${PACKAGE}.JSON(nil)` : goSyntax(value);
}

/**
 * Prints the versions of a CRD without the parts that all versions share, which the reference server has moved to the
 * top level.
 */
export function versionsGoSyntax(versions: readonly CustomResourceDefinitionVersion[] | undefined): Verbatim {
  const type = 'apiextensions.CustomResourceDefinitionVersion';
  if (versions === undefined) return verbatim(`[]${type}(nil)`);
  const shown = versions.map((version) => {
    const pointer = (name: string, value: unknown) => `(*${name})${value === undefined ? '(nil)' : ADDRESS}`;
    const slice = <Item>(name: string, items: readonly Item[] | undefined, shown: (item: Item) => string) =>
      `[]${name}${items === undefined ? '(nil)' : `{${items.map((item) => `${name}{${shown(item)}}`).join(', ')}}`}`;
    const fields = [
      `Name:${quote(version.name)}`,
      `Served:${version.served}`,
      `Storage:${version.storage}`,
      `Deprecated:${version.deprecated ?? false}`,
      `DeprecationWarning:${pointer('string', version.deprecationWarning)}`,
      `Schema:${pointer('apiextensions.CustomResourceValidation', version.schema)}`,
      `Subresources:${pointer('apiextensions.CustomResourceSubresources', version.subresources)}`,
      `AdditionalPrinterColumns:${slice(`${PACKAGE}.CustomResourceColumnDefinition`, version.additionalPrinterColumns, columnFields)}`,
      `SelectableFields:${slice(`${PACKAGE}.SelectableField`, version.selectableFields, ({ jsonPath }) => `JSONPath:${quote(jsonPath)}`)}`,
    ];
    return `${type}{${fields.join(', ')}}`;
  });
  return verbatim(`[]${type}{${shown.join(', ')}}`);
}

function columnFields(column: CustomResourceColumnDefinition): string {
  const { name, type, format = '', description = '', priority = 0, jsonPath } = column;
  const texts = Object.entries({ Name: name, Type: type, Format: format, Description: description });
  const shown = texts.map(([field, text]) => `${field}:${quote(text)}`);
  return [...shown, `Priority:${priority}`, `JSONPath:${quote(jsonPath)}`].join(', ');
}
