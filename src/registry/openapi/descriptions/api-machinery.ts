/**
 * OpenAPI descriptions of the groups for admission, API extension and coordination, by package. `../definitions.ts`
 * explains the notation and parses it.
 */
export const apiMachineryDescriptions: Readonly<Record<string, string>> = {
  admissionregistration: `
ValidatingAdmissionPolicy Rules in CEL that requests must keep.
ValidatingAdmissionPolicySpec The rules and what they are about.
 validations The rules.
 auditAnnotations Audit annotations for each request.
ValidatingAdmissionPolicyStatus The state of the policy.
 typeChecking The results of type checking its expressions.
ValidatingAdmissionPolicyBinding Puts a policy into force.
MutatingAdmissionPolicy Changes to objects, written in CEL.
MutatingAdmissionPolicySpec The changes and what they are about.
 mutations The changes.
MutatingAdmissionPolicyBinding Puts a policy of changes into force.
ValidatingAdmissionPolicyBindingSpec,MutatingAdmissionPolicyBindingSpec Which policy, for what and how.
 policyName The policy.
 paramRef Its parameters.
 matchResources Narrows what the policy is about.
 validationActions What happens when a rule is broken: Deny, Warn or Audit.
Validation A rule.
 expression An expression that must be true.
 message The message when it is not, in one line.
 messageExpression An expression for the message; it takes precedence over message.
 reason The reason of the refusal: Unauthorized, Forbidden, Invalid or RequestEntityTooLarge.
AuditAnnotation An annotation for the audit log.
 key The name of the annotation.
 valueExpression An expression for its text; null adds no annotation.
Variable A value with a name, for other expressions to use.
 name The name; variables.name in expressions.
 expression The expression; it may use earlier variables.
MatchCondition A condition on requests.
 name The name.
 expression An expression that must be true.
TypeChecking Findings about expressions.
 expressionWarnings The findings.
ExpressionWarning A finding about an expression.
 fieldRef The field with the expression.
 warning The finding.
ParamKind The kind of parameters.
 apiVersion The group and version of the kind.
 kind The kind.
ParamRef Which objects are the parameters.
 name The object by its name.
 namespace Its namespace; that of the request unless said otherwise.
 selector Selects objects, in place of a name.
 parameterNotFoundAction What happens if there are none: Allow or Deny.
MatchResources Requests by what they are about.
 resourceRules Resources that match.
 excludeResourceRules Resources that do not match; they take precedence.
RuleWithOperations,NamedRuleWithOperations Operations on resources.
 operations CREATE, UPDATE, DELETE, CONNECT or *.
 apiGroups The groups; * is all.
 apiVersions The versions; * is all.
 resources The resources; * is all, pods/* all subresources of pods.
 scope Cluster, Namespaced or *.
 resourceNames The names of the objects; empty is all.
Mutation A change.
 patchType ApplyConfiguration or JSONPatch.
 applyConfiguration The change as an apply configuration.
 jsonPatch The change as a JSON patch.
ApplyConfiguration,JSONPatch A change, as an expression makes it.
 expression The expression.
ValidatingWebhookConfiguration Webhooks that may refuse requests.
MutatingWebhookConfiguration Webhooks that may change objects.
ValidatingWebhookConfiguration,MutatingWebhookConfiguration
 webhooks The webhooks.
ValidatingWebhook,MutatingWebhook A webhook and the requests it is called for.
 name The name, with dots.
 clientConfig How it is reached.
 rules The requests it is called for.
 sideEffects Whether a call has side effects: None or NoneOnDryRun.
 timeoutSeconds How long it may take, from 1 to 30.
 admissionReviewVersions Versions of AdmissionReview that it supports, the preferred first.
WebhookClientConfig How a webhook is reached: by address or by service.
 url The address.
 service The service.
 caBundle Authorities in PEM that its certificate is checked against.
ServiceReference A service.
 namespace Its namespace.
 name Its name.
 path The path of the request.
 port Its port; 443 unless said otherwise.
*
 paramKind The kind of its parameters.
 matchConstraints What it is about.
 matchConditions Further conditions on requests.
 variables Values with names, for the expressions.
 failurePolicy What happens if it cannot be evaluated: Fail or Ignore.
 matchPolicy Whether other versions of a resource match too: Exact or Equivalent.
 namespaceSelector Selects namespaces by their labels.
 objectSelector Selects objects by their labels.
 reinvocationPolicy Whether it is called again after others: Never or IfNeeded.
`,
  apiextensions: `
CustomResourceDefinition A custom resource kind; its name is <plural>.<group>.
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
 name The version, as in paths.
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
 strategy None changes only apiVersion; Webhook calls a webhook.
 webhook The webhook to call.
WebhookConversion A webhook that converts objects.
 clientConfig How it is reached.
 conversionReviewVersions Versions of ConversionReview that it supports, the preferred first.
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
 x-list-map-keys Fields that identify items, for lists of type map.
 x-list-type How a list is merged: atomic, set or map.
 x-map-type How an object is merged: granular or atomic.
 x-validations Rules in CEL.
ExternalDocumentation Where more is written.
 description What is there.
 url The address.
ValidationRule A rule in CEL.
 rule The expression; self is the value.
 message The message when it does not hold.
 messageExpression An expression for the message.
 reason What kind of problem it is.
 fieldPath The field that the error refers to.
 optionalOldSelf The rule runs on new values too.
JSON Any JSON value.
JSONSchemaPropsOrArray A schema, or a list of schemas.
JSONSchemaPropsOrBool A schema, or true or false.
JSONSchemaPropsOrStringArray A schema, or a list of names.
`,
  apiregistration: `
APIService A server of one group and version; its name is <version>.<group>.
APIServiceSpec Where the server is and how it ranks.
 service The service in front of the server; absent: this server itself.
 group The group that it serves.
 version The version that it serves.
 insecureSkipTLSVerify The certificate of the server is not checked. Discouraged.
 caBundle Authorities in PEM that the server's certificate is checked against.
 groupPriorityMinimum How the group ranks among groups; higher comes first.
 versionPriority How the version ranks in its group; higher comes first, and it is more than 0.
APIServiceStatus Whether the server can be reached.
APIServiceCondition A statement about the server.
ServiceReference A service.
 namespace Its namespace.
 name Its name.
 port Its port; 443 unless said otherwise.
`,
  apiserverinternal: `
StorageVersion In which versions servers store a resource.
StorageVersionSpec Empty.
StorageVersionStatus The storage versions of the servers.
 storageVersions The storage version of each server.
 commonEncodingVersion The version in which all of them store, if there is one.
StorageVersionCondition A statement about the servers.
ServerStorageVersion The storage version of one server.
 apiServerID The server.
 encodingVersion The version in which it stores.
 decodableVersions Versions that it can read.
 servedVersions Versions that it serves.
`,
  coordination: `
Lease A time-limited lock.
LeaseSpec The holder and the duration of the lease.
 holderIdentity The identity of the holder.
 leaseDurationSeconds How long others wait after the last renewal.
 acquireTime When it was acquired.
 renewTime When it was last renewed.
 leaseTransitions How often the holder changed.
 strategy How the holder is chosen.
 preferredHolder The identity that should hold it next.
LeaseCandidate A candidate for a lease.
LeaseCandidateSpec What the candidate can do.
 leaseName The lease.
 pingTime When the candidate was last pinged.
 renewTime When it last answered.
 binaryVersion Its version.
 emulationVersion The version that it behaves as.
 strategy How the holder is chosen.
`,
  events: `
Event Something that happened, kept for a while. Informational only.
 eventTime When it was first seen.
 series How often it was seen; absent for a single event.
 reportingController The controller that reports it.
 reportingInstance Which instance of it.
 action What was done, or failed, for programs.
 reason Why it was done.
 regarding What it is about.
 related Another object that is involved.
 note What happened, for people; at most 1 kB.
 type Normal or Warning.
 deprecatedSource,deprecatedFirstTimestamp,deprecatedLastTimestamp,deprecatedCount Kept for the older kind of events.
EventSeries A number of equal events.
 count How many there were, up to the last one seen.
 lastObservedTime When the last one was seen.
`,
  storagemigration: `
StorageVersionMigration Rewrites all objects of a resource in the current storage version.
StorageVersionMigrationSpec The resource to rewrite.
 resource The resource. It cannot be changed.
 continueToken Where the next part begins.
StorageVersionMigrationStatus The progress of the migration.
 resourceVersion The version at which the migration was first seen.
MigrationCondition A statement about the migration.
GroupVersionResource A resource.
 group Its group.
 version Its version.
 resource Its name.
`,
};
