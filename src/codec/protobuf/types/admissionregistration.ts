/** Message types of the group `admissionregistration`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const admissionregistration: GroupTypes = {
  name: 'admissionregistration',
  group: serviceGroup('admissionregistration'),
  versions: [
    {
      version: 'v1',
      kinds: `
        MutatingWebhookConfiguration+ ValidatingAdmissionPolicy+ ValidatingAdmissionPolicyBinding+
        ValidatingWebhookConfiguration+
      `,
      types: `
AuditAnnotation key valueExpression
ExpressionWarning fieldRef=2 warning
MatchCondition name expression
MatchResources namespaceSelector*:LabelSelector objectSelector*:LabelSelector
  resourceRules[]:NamedRuleWithOperations excludeResourceRules[]:NamedRuleWithOperations matchPolicy=7*
MutatingWebhook name clientConfig:WebhookClientConfig rules[]:RuleWithOperations failurePolicy*
  namespaceSelector*:LabelSelector sideEffects* timeoutSeconds*:int32 admissionReviewVersions[] matchPolicy*
  reinvocationPolicy* objectSelector*:LabelSelector matchConditions[]:MatchCondition
MutatingWebhookConfiguration metadata:ObjectMeta webhooks[]:MutatingWebhook
NamedRuleWithOperations resourceNames[] :RuleWithOperations
ParamKind apiVersion kind
ParamRef name namespace selector*:LabelSelector parameterNotFoundAction*
Rule apiGroups[] apiVersions[] resources[] scope*
RuleWithOperations operations[] :Rule
ServiceReference namespace name path* port*:int32
TypeChecking expressionWarnings[]:ExpressionWarning
ValidatingAdmissionPolicy metadata:ObjectMeta spec:ValidatingAdmissionPolicySpec
  status:ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding metadata:ObjectMeta spec:ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec policyName paramRef*:ParamRef matchResources*:MatchResources
  validationActions[]
ValidatingAdmissionPolicySpec paramKind*:ParamKind matchConstraints*:MatchResources validations[]:Validation
  failurePolicy* auditAnnotations[]:AuditAnnotation matchConditions[]:MatchCondition variables[]:Variable
ValidatingAdmissionPolicyStatus observedGeneration:int64 typeChecking*:TypeChecking conditions[]:Condition
ValidatingWebhook name clientConfig:WebhookClientConfig rules[]:RuleWithOperations failurePolicy*
  namespaceSelector*:LabelSelector sideEffects* timeoutSeconds*:int32 admissionReviewVersions[] matchPolicy*
  objectSelector*:LabelSelector matchConditions[]:MatchCondition
ValidatingWebhookConfiguration metadata:ObjectMeta webhooks[]:ValidatingWebhook
Validation expression message reason* messageExpression
Variable name expression
WebhookClientConfig service*:ServiceReference caBundle:bytes url*
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: `
        MutatingWebhookConfiguration+ ValidatingAdmissionPolicy+ ValidatingAdmissionPolicyBinding+
        ValidatingWebhookConfiguration+
      `,
      types: ``,
    },
    {
      version: 'v1alpha1',
      like: 'v1',
      kinds: `
        MutatingAdmissionPolicy+ MutatingAdmissionPolicyBinding+ ValidatingAdmissionPolicy+
        ValidatingAdmissionPolicyBinding+
      `,
      types: `
ApplyConfiguration expression
JSONPatch expression
MutatingAdmissionPolicy metadata:ObjectMeta spec:MutatingAdmissionPolicySpec
MutatingAdmissionPolicyBinding metadata:ObjectMeta spec:MutatingAdmissionPolicyBindingSpec
MutatingAdmissionPolicyBindingSpec policyName paramRef*:ParamRef matchResources*:MatchResources
MutatingAdmissionPolicySpec paramKind*:ParamKind matchConstraints*:MatchResources variables[]:Variable
  mutations[]:Mutation failurePolicy* matchConditions[]:MatchCondition reinvocationPolicy
Mutation patchType=2 applyConfiguration*:ApplyConfiguration jsonPatch*:JSONPatch
      `,
    },
  ],
};
