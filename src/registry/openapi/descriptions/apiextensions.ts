/** What the types of this package are for; see `meta.ts` for the notation. */
export const apiextensionsDescriptions = `
CustomResourceDefinition A kind of the user's own; its name is plural and group with a dot between.
CustomResourceDefinitionSpec The names, the versions and the scope of the kind.
 group The group under which it is served.
 names Its names.
 scope Cluster or Namespaced.
 versions Its versions.
 conversion How objects get from one version to another.
 preserveUnknownFields Deprecated; mark the schema instead.
CustomResourceDefinitionNames Names of a kind.
 plural The name in paths, in lower case.
 singular The name for one object; the kind in lower case unless said otherwise.
 shortNames Names to type, in lower case.
 kind The kind, in CamelCase.
 listKind The kind of lists; the kind with List unless said otherwise.
 categories Groups of resources that it belongs to, such as all.
CustomResourceDefinitionVersion A version of a kind.
 name The version, as it stands in paths.
 served Whether it can be asked for.
 storage Whether objects are stored in it; true of exactly one version.
 deprecated Requests in this version are answered with a warning.
 deprecationWarning The text of the warning.
 schema The schema of its objects.
 subresources Its subresources.
 additionalPrinterColumns What tables show of its objects.
 selectableFields Fields that lists can be narrowed by.
CustomResourceDefinitionStatus The state of the definition.
 acceptedNames The names under which it is served.
 storedVersions Versions in which objects were ever stored.
CustomResourceDefinitionCondition A statement about the definition.
CustomResourceConversion How objects get from one version to another.
 strategy None changes only apiVersion; Webhook asks somebody.
 webhook Whom to ask.
WebhookConversion A webhook that converts objects.
 clientConfig How it is reached.
 conversionReviewVersions Versions of the question that it understands, the best first.
WebhookClientConfig How a webhook is reached: by address or by service.
 url The address.
 service The service.
 caBundle Authorities in PEM that its certificate is checked against.
ServiceReference A service.
 namespace Its namespace.
 name Its name.
 path The path of the request.
 port Its port; 443 unless said otherwise.
CustomResourceValidation The schema of a version.
 openAPIV3Schema The schema.
CustomResourceSubresources Subresources of a kind.
 status A status that is written apart from the rest.
 scale A number of replicas, as autoscalers ask for it.
CustomResourceSubresourceStatus The status subresource; it has no settings.
CustomResourceSubresourceScale Where the parts of a scale are, as paths.
 specReplicasPath How many replicas are wanted.
 statusReplicasPath How many replicas there are.
 labelSelectorPath What selects them, as text.
CustomResourceColumnDefinition A column of tables.
 name The title.
 type integer, number, string, boolean or date.
 format How the value is formatted.
 description What the column shows.
 priority 0 always shows it; higher ones in wide tables.
 jsonPath Where the value is.
SelectableField A field that lists can be narrowed by.
 jsonPath Where the field is.
JSONSchemaProps A JSON schema with extensions.
 id,$schema,$ref Has no effect here.
 description What the value is for.
 type The type: object, array, string, integer, number or boolean.
 format A format of texts or numbers that is checked.
 title A title.
 default The value of what is left out.
 maximum The largest number.
 exclusiveMaximum The maximum itself is too large.
 minimum The smallest number.
 exclusiveMinimum The minimum itself is too small.
 maxLength The longest text.
 minLength The shortest text.
 pattern A regular expression for texts.
 maxItems The most items.
 minItems The fewest items.
 uniqueItems No item twice.
 multipleOf Numbers are multiples of this.
 enum The values that are allowed.
 maxProperties The most fields.
 minProperties The fewest fields.
 required Fields that must be there.
 items The schema of items.
 allOf All of these must hold.
 oneOf Exactly one of these must hold.
 anyOf One of these must hold.
 not This must not hold.
 properties Fields and their schemas.
 additionalProperties The schema of all other fields, or whether there may be any.
 patternProperties Schemas of fields by patterns of their names.
 dependencies What must hold if a field is there.
 additionalItems The schema of further items, or whether there may be any.
 definitions Schemas for reference.
 externalDocs Where more is written.
 example An example.
 nullable The value may be null.
 x-preserve-unknown-fields Fields without a schema are kept.
 x-embedded-resource The value is a whole object.
 x-int-or-string The value is an integer or a text.
 x-list-map-keys Fields that tell items apart, for lists of type map.
 x-list-type How a list is merged: atomic, set or map.
 x-map-type How an object is merged: granular or atomic.
 x-validations Rules in CEL.
ExternalDocumentation Where more is written.
 description What is there.
 url The address.
ValidationRule A rule in CEL.
 rule The expression; self is the value.
 message What to say when it does not hold.
 messageExpression An expression for what to say.
 reason What kind of problem it is.
 fieldPath The field to name.
 optionalOldSelf The rule runs on new values too.
JSON Any JSON value.
JSONSchemaPropsOrArray A schema, or a list of schemas.
JSONSchemaPropsOrBool A schema, or true or false.
JSONSchemaPropsOrStringArray A schema, or a list of names.
`;
