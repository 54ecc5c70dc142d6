/** What the types of this package are for; see `meta.ts` for the notation. */
export const admissionregistrationDescriptions = `
ValidatingAdmissionPolicy Rules in CEL that requests must keep.
ValidatingAdmissionPolicySpec The rules and what they are about.
 validations The rules.
 auditAnnotations What to note for each request.
ValidatingAdmissionPolicyStatus What is known of the policy.
 typeChecking Findings about its expressions.
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
 message What to say when it is not, in one line.
 messageExpression An expression for what to say; it wins over message.
 reason The reason of the refusal: Unauthorized, Forbidden, Invalid or RequestEntityTooLarge.
AuditAnnotation A note for the audit log.
 key The name of the note.
 valueExpression An expression for its text; null leaves no note.
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
 resourceRules Resources that are meant.
 excludeResourceRules Resources that are not meant; they win.
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
ValidatingWebhook,MutatingWebhook A webhook and what it is asked about.
 name The name, with dots.
 clientConfig How it is reached.
 rules What it is asked about.
 sideEffects Whether a question changes something elsewhere: None or NoneOnDryRun.
 timeoutSeconds How long it may take, from 1 to 30.
 admissionReviewVersions Versions of the question that it understands, the best first.
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
 failurePolicy What happens if it cannot be asked: Fail or Ignore.
 matchPolicy Whether other versions of a resource are meant too: Exact or Equivalent.
 namespaceSelector Selects namespaces by their labels.
 objectSelector Selects objects by their labels.
 reinvocationPolicy Whether it is asked again after others: Never or IfNeeded.
`;
