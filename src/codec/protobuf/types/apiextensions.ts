/** Message types of the group `apiextensions`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const apiextensions: GroupTypes = {
  name: 'apiextensions',
  group: serviceGroup('apiextensions'),
  versions: [
    {
      version: 'v1',
      kinds: 'ConversionReview CustomResourceDefinition+',
      types: `
ConversionRequest uid desiredAPIVersion objects[]:RawExtension
ConversionResponse uid convertedObjects[]:RawExtension result:Status
ConversionReview request*:ConversionRequest response*:ConversionResponse
CustomResourceColumnDefinition name type format description priority:int32 jsonPath
CustomResourceConversion strategy webhook*:WebhookConversion
CustomResourceDefinition metadata:ObjectMeta spec:CustomResourceDefinitionSpec status:CustomResourceDefinitionStatus
CustomResourceDefinitionCondition type status lastTransitionTime:Time reason message
CustomResourceDefinitionNames plural singular shortNames[] kind listKind categories[]
CustomResourceDefinitionSpec group names=3:CustomResourceDefinitionNames scope
  versions=7[]:CustomResourceDefinitionVersion conversion=9*:CustomResourceConversion preserveUnknownFields:bool
CustomResourceDefinitionStatus conditions[]:CustomResourceDefinitionCondition
  acceptedNames:CustomResourceDefinitionNames storedVersions[]
CustomResourceDefinitionVersion name served:bool storage:bool schema*:CustomResourceValidation
  subresources*:CustomResourceSubresources additionalPrinterColumns[]:CustomResourceColumnDefinition deprecated:bool
  deprecationWarning* selectableFields[]:SelectableField
CustomResourceSubresourceScale specReplicasPath statusReplicasPath labelSelectorPath*
CustomResourceSubresourceStatus
CustomResourceSubresources status*:CustomResourceSubresourceStatus scale*:CustomResourceSubresourceScale
CustomResourceValidation openAPIV3Schema*:JSONSchemaProps
ExternalDocumentation description url
JSONSchemaProps id $schema $ref* description type format title default*:JSON maximum*:double exclusiveMaximum:bool
  minimum*:double exclusiveMinimum:bool maxLength*:int64 minLength*:int64 pattern maxItems*:int64 minItems*:int64
  uniqueItems:bool multipleOf*:double enum[]:JSON maxProperties*:int64 minProperties*:int64 required[]
  items*:JSONSchemaPropsOrArray allOf[]:JSONSchemaProps oneOf[]:JSONSchemaProps anyOf[]:JSONSchemaProps
  not*:JSONSchemaProps properties{}:JSONSchemaProps additionalProperties*:JSONSchemaPropsOrBool
  patternProperties{}:JSONSchemaProps dependencies{}:JSONSchemaPropsOrStringArray
  additionalItems*:JSONSchemaPropsOrBool definitions{}:JSONSchemaProps externalDocs*:ExternalDocumentation
  example*:JSON nullable:bool x-~-preserve-unknown-fields*:bool x-~-embedded-resource:bool x-~-int-or-string:bool
  x-~-list-map-keys[] x-~-list-type* x-~-map-type* x-~-validations[]:ValidationRule
JSONSchemaPropsOrArray schema*:JSONSchemaProps jSONSchemas[]:JSONSchemaProps
JSONSchemaPropsOrBool allows:bool schema*:JSONSchemaProps
JSONSchemaPropsOrStringArray schema*:JSONSchemaProps property[]
SelectableField jsonPath
ServiceReference namespace name path* port*:int32
ValidationRule rule message messageExpression reason* fieldPath optionalOldSelf*:bool
WebhookClientConfig service*:ServiceReference caBundle:bytes url*
WebhookConversion clientConfig=2*:WebhookClientConfig conversionReviewVersions[]
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'ConversionReview CustomResourceDefinition+',
      types: `
CustomResourceColumnDefinition name type format description priority:int32 JSONPath
CustomResourceConversion strategy webhookClientConfig*:WebhookClientConfig conversionReviewVersions[]
CustomResourceDefinitionSpec group version names:CustomResourceDefinitionNames scope
  validation*:CustomResourceValidation subresources*:CustomResourceSubresources
  versions[]:CustomResourceDefinitionVersion additionalPrinterColumns[]:CustomResourceColumnDefinition
  conversion*:CustomResourceConversion preserveUnknownFields*:bool selectableFields[]:SelectableField
      `,
    },
  ],
};
